"""The service: settings, runtime (the composition root), REST, command line and demo."""

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
