"""The result of a front-end: a query's plan, the collections it reads, and the stages before."""

from collections.abc import Callable
from dataclasses import dataclass

from views.plan.nodes import Plan
from views.plan.trees import Numbers


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a compilation: its name, and its result as indented text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Bound:
    """Holds a query's plan over the tables and views `dependencies`, sorted.

    `numbers` goes on numbering columns for the rewrites; `stages()` lists the stages before the
    plan. If it `is_ordered`, the last column is the position of each row, from 1.
    """

    plan: Plan
    numbers: Numbers
    dependencies: tuple[str, ...]
    stages: Callable[[], tuple[Stage, ...]]
    is_ordered: bool = False
