"""The service: settings, runtime (the composition root), REST, command line and demo.

- `app`: the FastAPI application over one runtime
- `catching_up`: sources that have yet to read what their topics held when they were declared
- `cli/`: the command line `ivm`
- `client`: the command line's view of a running service
- `clock`: the pool's clock: the present moment as an input, for views that filter by now()
- `demo/`: the demo: change data of a shop and a follower graph, five views, a kill, and a …
- `deps`: what handlers are given, and how they answer
- `errors`: what callers of the service can get wrong beyond what the rooms below already refuse
- `feed`: the change feed of a view, read from its durable delta topic
- `limits`: refuses bodies that are too large, before they are read into memory
- `metrics`: the service's state in Prometheus' terms, gathered when it is scraped
- `models`: bodies of requests, and the JSON of sources and views in answers
- `pages`: pages of a snapshot: rows in the order of a view's key, cut at a cursor
- `problems`: errors as RFC 9457 problem documents, `application/problem+json`
- `registry`: the declared sources and views, durable
- `restoring`: restores the views of a start, one after another
- `routes/`: the REST resources, one router each
- `runtime`: the composition root
- `serve`: runs the service in this process until it is told to stop
- `settings`: what can be configured
- `signals`: wakes coroutines when the applying thread has published something
- `terminal`: how commands talk: to the service that the settings point to, and to the terminal
- `values`: values of columns as texts in URLs
- `watch`: writes faults of the service's parts to the log
"""

from importlib.util import find_spec
from pathlib import Path


def refuse_shadows() -> None:
    """Refuse to start where another file is found under the name of one of the packages here.

    Their names are plain, and Python looks into the directory that `python -m` is called in, and
    into PYTHONPATH, first (raises ImportError).
    """
    home = Path(__file__).resolve().parents[1]
    for name in ("connectors", "ivm", "views"):
        found = find_spec(name)
        origin = Path(found.origin).resolve() if found and found.origin else None
        if origin and origin.parent != home / name:
            raise ImportError(
                f"{origin} hides the package {name!r} of ivm; rename it, or start `ivm` in place "
                "of `python -m api`, which looks for packages in the working directory first"
            )


refuse_shadows()
