"""The contracts of imports see every form of import, in Cython as in Python.

`.ci/imports.py` holds the contracts (see `make check`); it reads the statements by their text.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = spec_from_file_location("imports", ROOT / ".ci" / "imports.py")
assert SPEC is not None
assert SPEC.loader is not None
IMPORTS = module_from_spec(SPEC)
SPEC.loader.exec_module(IMPORTS)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("import numpy, views.catalog as catalog", "import numpy, views.catalog as catalog"),
        ("from views.catalog import Catalog", "from views.catalog import Catalog"),
        ("    from views cimport catalog  # a reason", "from views import catalog"),
        ("cimport views.catalog", "import views.catalog"),
        (
            "from views.catalog import (\n    Catalog,  # a reason\n    View as V,\n)",
            "from views.catalog import Catalog, View as V",
        ),
    ],
)
def test_every_form_of_import_is_seen(text: str, statement: str) -> None:
    assert IMPORTS.statements(text) == [statement]


def test_the_outline_has_a_module_for_each_file_of_the_packages() -> None:
    files = {
        path.relative_to(ROOT).with_suffix(".py")
        for package in IMPORTS.PACKAGES
        for path in (ROOT / package).rglob("*.p*")
        if path.suffix in {".py", ".pyx", ".pxd"}
    }
    assert set(IMPORTS.outline(ROOT)) == files


def test_stubs_import_only_the_packages_below_their_own() -> None:
    below = {
        "ivm": {"ivm"},
        "views": {"views", "ivm"},
        "connectors": {"connectors", "ivm"},
        "api": set(IMPORTS.PACKAGES),
    }
    for package, allowed in below.items():
        for path in (ROOT / package).rglob("*.pyi"):
            words = [statement.split()[1] for statement in IMPORTS.statements(path.read_text())]
            named = {word.split(".")[0].rstrip(",") for word in words}
            assert named & set(IMPORTS.PACKAGES) <= allowed, path
