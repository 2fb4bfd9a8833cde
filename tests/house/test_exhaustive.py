"""A node, expression or aggregate that a table forgets does not pass mypy, or is no import.

mypy reads the real modules over changed declarations, in each of which there is one alternative
more.
"""

import re
from pathlib import Path

import pytest
from mypy import api

from ivm.dataflow import nodes
from ivm.dataflow.aggregates import LINEAR
from ivm.dataflow.exhaustive import check_complete

ROOT = Path(__file__).parents[2]
TABLES = {
    "a node": {
        "ivm/installed/estimates.py",
        "ivm/dataflow/validate.py",
        "ivm/planner/monotonic.py",
        "ivm/planner/dispatch.py",
        "ivm/dataflow/traversal.py",
        "tests/oracle/nodes.py",
        "views/explain.py",
    },
    "a plan": {
        "views/explain.py",
        "views/lowering/lower.py",
        "views/plan/keys.py",
        "views/plan/stored.py",
        "views/plan/trees.py",
        "views/rewrites/asking.py",
        "views/rewrites/decorrelate.py",
        "views/rewrites/folding.py",
        "views/rewrites/outerjoins.py",
        "views/rewrites/pushdown.py",
        "views/rewrites/spans.py",
    },
    "an expression": {
        "ivm/installed/estimates.py",
        "ivm/dataflow/text.py",
        "views/lowering/depth.py",
        "views/lowering/lowered.py",
    },
    "an aggregate": {"ivm/dataflow/aggregates.py", "tests/oracle/nodes.py"},
}
ONE_MORE = {  # the declaring module, and what stands in it with one alternative more
    "a node": (
        "ivm/dataflow/nodes.py",
        "\nNode: TypeAlias = (\n",
        "\nclass Another:\n    schema: pa.Schema\n\n\nNode: TypeAlias = (\n    Another |\n",
    ),
    "a plan": (
        "views/plan/nodes.py",
        "\nPlan: TypeAlias = (\n",
        "\nclass Another(Remembering):\n    attributes: tuple[Attribute, ...]\n\n\n"
        "Plan: TypeAlias = (\n    Another |\n",
    ),
    "an expression": (
        "ivm/dataflow/expressions.py",
        "\nExpression = ",
        "\nclass Another:\n    type: pa.DataType\n\n\nExpression = Another | ",
    ),
    "an aggregate": (
        "ivm/dataflow/aggregates.py",
        "\nAggregateFunction: TypeAlias = OneOf[\n",
        '\nAggregateFunction: TypeAlias = OneOf[\n    "another",\n',
    ),
}


def files_refused(alternative: str, scratch: Path) -> set[str]:
    """The files in which mypy says that a `match` does not know one `alternative` more."""
    module, declared, extended = ONE_MORE[alternative]
    source = (ROOT / module).read_text()
    assert source.count(declared) == 1
    shadow = scratch / "shadow.py"
    shadow.write_text(source.replace(declared, extended))
    arguments = ["--cache-dir", str(scratch / "cache"), "--shadow-file", module, str(shadow)]
    said, _, _ = api.run([*arguments, *sorted(TABLES[alternative])])
    return {line.partition(":")[0] for line in said.splitlines() if '"assert_never"' in line}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where mypy remembers what all the alternatives have in common."""
    return tmp_path_factory.mktemp("exhaustive")


@pytest.mark.parametrize("alternative", TABLES)
def test_a_table_that_forgets_an_alternative_does_not_pass_mypy(
    alternative: str, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert files_refused(alternative, scratch) == TABLES[alternative]


@pytest.mark.parametrize(("matched", "alternative"), [("node", "a node"), ("plan", "a plan")])
def test_every_table_over_nodes_is_listed_here(matched: str, alternative: str) -> None:
    over_nodes = re.compile(rf"^ *case _:\n *assert_never\({matched}\)", re.MULTILINE)
    files = [p for room in ("ivm", "views", "tests/oracle") for p in (ROOT / room).rglob("*.py")]
    found = {str(p.relative_to(ROOT)) for p in files if over_nodes.search(p.read_text())}
    assert found == TABLES[alternative]


def test_a_node_that_compares_in_a_way_of_its_own_is_no_import() -> None:
    module, declared, extended = ONE_MORE["a node"]
    source = (ROOT / module).read_text().replace(declared, extended)
    with pytest.raises(ImportError, match="node Another: make its dataclass"):
        exec(compile(source, module, "exec"), {"__name__": nodes.__name__})


def test_an_aggregate_without_a_kernel_is_no_import() -> None:
    with pytest.raises(ImportError, match="the table lacks sum: add an entry for each"):
        check_complete("the table", LINEAR - {"sum"}, LINEAR)


def test_a_kernel_of_no_aggregate_is_no_import() -> None:
    with pytest.raises(ImportError, match="the table has product, which nothing declares"):
        check_complete("the table", LINEAR | {"product"}, LINEAR)
