"""A node, expression or aggregate that is forgotten somewhere does not pass mypy, or is no import.

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
from ivm.dataflow.node import Node
from ivm.dataflow.traversal import walk
from ivm.planner import dispatch
from tests.property.nodes import NODES

ROOT = Path(__file__).parents[2]
TABLES = {
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
        "ivm/dataflow/selectivity.py",
        "ivm/dataflow/text.py",
        "views/lowering/depth.py",
        "views/lowering/lowered.py",
    },
    "an aggregate": {"ivm/dataflow/aggregates.py", "tests/oracle/nodes.py"},
}
ONE_MORE = {  # the declaring module, and what stands in it with one alternative more
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


def test_every_table_over_plans_is_listed_here() -> None:
    over_plans = re.compile(r"^ *case _:\n *assert_never\(plan\)", re.MULTILINE)
    files = [p for p in (ROOT / "views").rglob("*.py") if over_plans.search(p.read_text())]
    assert {str(p.relative_to(ROOT)) for p in files} == TABLES["a plan"]


FORGETFUL = """
from dataclasses import dataclass
from ivm.dataflow.node import Node, SameColumns

@dataclass(frozen=True, slots=True, eq=False)
class Another(SameColumns):
    limit: int = 1

def another(node: Node) -> Node:
    return Another(node)
"""


def test_a_node_that_leaves_out_a_fact_does_not_pass_mypy(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    forgetful = scratch / "forgetful.py"
    forgetful.write_text(FORGETFUL)
    said, _, _ = api.run(["--cache-dir", str(scratch / "cache"), str(forgetful)])
    missing = said.partition('"Another" with abstract attributes')[2].partition("\n")[0]
    assert set(re.findall(r'"(\w+)"', missing)) == {
        "check",
        "expressions",
        "keeps_growth",
        "passes_rows_on",
    }


def test_a_node_that_compares_in_a_way_of_its_own_is_no_import() -> None:
    source = (ROOT / "ivm/dataflow/nodes.py").read_text()
    declared = "@dataclass(frozen=True, slots=True, eq=False)\nclass Distinct("
    own = source.replace(declared, declared.replace(", eq=False", ""))
    with pytest.raises(ImportError, match="node Distinct: make its dataclass"):
        exec(compile(own, nodes.__file__, "exec"), {"__name__": nodes.__name__})


def test_a_node_without_a_planner_is_no_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "KINDS", (*nodes.KINDS, Node))
    source = Path(dispatch.__file__).read_text()
    with pytest.raises(ImportError, match="lacks Node: add an entry for each"):
        exec(compile(source, dispatch.__file__, "exec"), {"__name__": dispatch.__name__})


def test_the_law_is_tried_with_every_node() -> None:
    tried = {type(each) for node in NODES.values() for each in walk(node)}
    assert {kind.__name__ for kind in set(nodes.KINDS) - tried} == {"TemporalFilter"}


def test_an_aggregate_without_a_kernel_is_no_import() -> None:
    with pytest.raises(ImportError, match="the table lacks sum: add an entry for each"):
        check_complete("the table", LINEAR - {"sum"}, LINEAR)


def test_a_kernel_of_no_aggregate_is_no_import() -> None:
    with pytest.raises(ImportError, match="the table has product, which nothing declares"):
        check_complete("the table", LINEAR | {"product"}, LINEAR)
