"""The service: settings, runtime (the composition root), REST, command line and demo.

- `answers/`: the JSON of every answer, as OpenAPI describes it
- `app`: the FastAPI application over one runtime
- `catching_up`: finds sources that have yet to read the records from before their declaration
- `cli/`: the command line `ivm`
- `clock`: feeds the present moment to the pool, for views that filter by now()
- `column_types`: reads the types of declared columns, by the names of SQL or of Arrow
- `demo/`: runs five views over a shop and a follower graph, and verifies them after a kill
- `console/`: the console: pages for people, started once somebody looks
- `deps`: the arguments that handlers are given, and the answers that they share
- `direct`: routes that hand the request to their operation, as look-ups have
- `errors`: errors of callers that the rooms below do not raise
- `exact_json`: reads JSON with its numbers as they are written
- `feed`: reads the change feed of a view from its durable delta topic
- `feed_forms`: the forms of a change feed: server-sent events, and Arrow record batches
- `filters`: column values among the parameters of a request
- `followers`: counts, bounds and drops the followers of change feeds
- `formats`: formats of answers with rows, chosen by the header Accept
- `large`: makes large answers, and keeps them in files while clients take them
- `limits`: refuses bodies that are too large, before they are read into memory
- `logs`: writes all events to the log, one line of JSON each
- `mentions/`: follows components of mentions in a window that moves both ways, and verifies them
- `metrics`: reports the service's state in Prometheus' terms when it is scraped
- `models`: bodies of requests
- `openapi`: describes the answers and problems of every operation
- `operators`: the operators of a view in answers
- `pages`: cuts a snapshot into pages, in the order of a view's key
- `plan_tree`: the tree of a plan that has run, with what each operator has cost
- `posted`: reads the bodies of writes as records
- `problems`: turns errors into RFC 9457 problem documents, `application/problem+json`
- `protocol`: HTTP/1.1 of a connection, with bounds on what it keeps
- `registry`: keeps the declared sources and views, durably
- `requests`: counts requests by operation and outcome, and times their answers
- `routes/`: the REST resources, one router each
- `runtime`: the composition root: one running service, its parts and the services over them
- `security/`: keys and tokens, roles, grants, and the checks of every request
- `serve`: runs the service in this process until it is told to stop
- `services/`: sources, views, repairs, readiness and checkpoints of one running service
- `settings`: settings of the service, from `ivm.toml` and the environment
- `signals`: wakes coroutines when the applying thread has published something
- `status`: tells how a view or a source is, and how far one is that fills
- `snapshots`: cuts snapshots into parts, and keeps them in files while followers take them
- `streams`: the topic that each stream of a source reads
- `terminal`: lets commands talk to the service that the settings point to, and to the terminal
- `traces`: sends the spans of batches to a collector of OpenTelemetry
- `values`: reads values of columns from texts in URLs
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
