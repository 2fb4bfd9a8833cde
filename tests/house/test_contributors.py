"""The pages for contributors name files and rooms that exist, and draw imports that there are."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.house.test_exhaustive import TABLES

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "connectors", "ivm", "ivm_client", "views")
DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
PAGES = sorted(
    page.relative_to(ROOT)
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks/README.md")
)
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()
GLOSSARY = (ROOT / "docs/glossary.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()

FOLDERS = "|".join((*PACKAGES, "benchmarks", "docker", "docs", "tests", r"\.ci"))
NAMED_PATH = re.compile(rf"`((?:{FOLDERS})/[\w./*-]*)`")
DRAWN_PATH = re.compile(r'(\w+)\["([\w./]+)"\]')
ARROW = re.compile(r'^ +(\w+)(?:\["[^"]+"\])? --> (\w+)', re.MULTILINE)
MODULE = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.[a-z]\w*)+)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([\w-]+))?\)")
TERM = re.compile(r"^- \*\*(.+?)\*\*(.*(?:\n  .*)*)", re.MULTILINE)
SUFFIXES = (".py", ".pyx", ".pxd")
# A topic, a file of settings, and attributes of traces.
NO_MODULES = {"ivm.progress", "ivm.toml", "ivm.time", "ivm.connection"}


def is_file(path: Path) -> bool:
    return any(path.with_suffix(suffix).is_file() for suffix in SUFFIXES)


def is_module(name: str) -> bool:
    """Whether it is a package, a module, or a member of a module."""
    path = ROOT / name.replace(".", "/")
    return name in NO_MODULES or path.is_dir() or is_file(path) or is_file(path.parent)


def imports(importer: str, imported: str) -> bool:
    """Whether a file of one room, or the file itself, imports the other."""
    place = ROOT / importer
    files = [place] if place.is_file() else [f for f in place.rglob("*") if f.suffix in SUFFIXES]
    module = re.escape(imported.removesuffix(".py").replace("/", "."))
    statement = re.compile(rf"^\s*(?:from|import|cimport) {module}\b", re.MULTILINE)
    return any(statement.search(file.read_text()) for file in files)


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_names_files_and_rooms_that_exist(page: Path) -> None:
    text = (ROOT / page).read_text()
    assert [path for path in NAMED_PATH.findall(text) if not any(ROOT.glob(path))] == []
    assert [name for name in MODULE.findall(text) if not is_module(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_links_to_places_that_exist(page: Path) -> None:
    for target, anchor in LINK.findall((ROOT / page).read_text()):
        place = (ROOT / page).parent / target if target else ROOT / page
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), anchor


@pytest.mark.parametrize("package", PACKAGES)
def test_the_architecture_names_every_room(package: str) -> None:
    rooms = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    assert rooms - set(re.findall(rf"\b{package}/(\w+)", ARCHITECTURE)) == set()


def test_the_picture_of_the_rooms_draws_imports_that_there_are() -> None:
    rooms = dict(DRAWN_PATH.findall(ARCHITECTURE))
    arrows = [(rooms[upper], rooms[lower]) for upper, lower in ARROW.findall(ARCHITECTURE)]
    assert len(arrows) > len(PACKAGES)
    assert [arrow for arrow in arrows if not imports(*arrow)] == []
    assert [arrow for arrow in arrows if imports(*reversed(arrow))] == []


def test_the_glossary_says_of_each_term_where_it_lives_in_the_order_of_the_alphabet() -> None:
    terms = TERM.findall(GLOSSARY)
    names = [name.lower() for name, _ in terms]
    assert names == sorted(names)
    assert [name for name, text in terms if not NAMED_PATH.search(text)] == []


def test_decisions_are_numbered_listed_and_of_one_form() -> None:
    index = (ROOT / "docs/decisions/README.md").read_text()
    assert [int(path.name[:4]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))
    for path in DECISIONS:
        text = path.read_text()
        title = text.partition("\n")[0].removeprefix("# ")
        parts = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert parts == ["Context", "Decision", "Why", "Consequences"], path.name
        assert f"]({path.name})" in index
        assert title.startswith(f"{int(path.name[:4])}. "), path.name


def test_the_example_of_a_wrong_answer_compares_the_engine_with_the_oracle() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = {}
    exec(example, found)
    assert found["engine"] == found["truth"] == {("ada", 2): 1, ("bob", 1): 1}
    assert [stage.name for stage in found["stages"]][-1] == "dataflow"


def test_the_recipe_of_an_aggregate_names_the_files_that_mypy_refuses_without_it() -> None:
    steps = CONTRIBUTING.partition("\n## An aggregate\n")[2].partition("\n## ")[0]
    assert TABLES["an aggregate"] - set(NAMED_PATH.findall(steps)) == set()
