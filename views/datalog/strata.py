"""Stratification: orders the components of relations, each after those that it reads.

A component is a set of relations that depend on one another. Within one no relation may read
another by negation or in an aggregate: a row could then be in it because it is not in it. A minimum
or maximum may be read so: each round of the recursion replaces what the round before derived, and
better values only lead to better ones (Ross and Sagiv, "Monotonic Aggregation in Deductive
Databases", PODS 1992).
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from views.datalog.syntax import Aggregate, Atom, Comparison, Literal, Negation, Program
from views.errors import NotStratified
from views.sql.source.text import Source

_IMPROVING = frozenset({"min", "max"})


def reads(
    body: Sequence[Literal], monotone: bool = True, improving: Collection[str] = ()
) -> Iterator[tuple[Atom, bool]]:
    """Yields each atom in `body`, and whether more of its rows can only make more matches.

    Aggregates of the functions `improving` count as if they could.
    """
    for literal in body:
        match literal:
            case Atom():
                yield literal, monotone
            case Negation():
                yield literal.atom, False
            case Comparison(right=Aggregate() as aggregate):
                is_improving = monotone and aggregate.function in improving
                yield from reads(aggregate.body, is_improving, improving)


def components(program: Program, source: Source) -> list[tuple[str, ...]]:
    """Lists the components of the relations that rules define, each after those that it reads.

    Raises NotStratified.
    """
    found = _strongly_connected(_graph(program))
    for component in found:
        _check(program, source, component)
    return found


def is_stratified(program: Program) -> bool:
    """Tells whether no relation reads one of its component by negation or in an aggregate."""
    found = _strongly_connected(_graph(program))
    return not any(
        atom.relation in component and not monotone
        for component in found
        for name in component
        for rule in program.rules[name]
        for atom, monotone in reads(rule.body)
    )


def defined_below(program: Program, names: Iterable[str]) -> set[str]:
    """Collects the relations that rules define among `names`, and among all that these read."""
    graph = _graph(program)
    found: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in graph and name not in found:
            found.add(name)
            waiting += graph[name]
    return found


def negated(program: Program) -> set[str]:
    """Collects the relations and tables that a rule reads by negation or in an aggregate."""
    bodies = (rule.body for rules in program.rules.values() for rule in rules)
    return {atom.relation for body in bodies for atom, monotone in reads(body) if not monotone}


def is_recursive(program: Program, component: Sequence[str]) -> bool:
    """Tells whether a relation of `component` reads one of it."""
    return any(
        atom.relation in component
        for name in component
        for rule in program.rules[name]
        for atom, _ in reads(rule.body)
    )


def _graph(program: Program) -> dict[str, tuple[str, ...]]:
    """The relations and tables that each relation reads."""
    return {
        name: tuple(dict.fromkeys(a.relation for r in rules for a, _ in reads(r.body)))
        for name, rules in program.rules.items()
    }


def _strongly_connected(graph: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Tarjan's algorithm (SIAM J. Comput. 1, 1972); members in the order of `graph`."""
    order = {name: i for i, name in enumerate(graph)}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[tuple[str, ...]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for below in (n for n in graph[name] if n in graph):
            if below not in index:
                visit(below)
                low[name] = min(low[name], low[below])
            elif below in stack:
                low[name] = min(low[name], index[below])
        if low[name] == index[name]:
            at = stack.index(name)
            found.append(tuple(sorted(stack[at:], key=order.__getitem__)))
            del stack[at:]

    for name in graph:
        if name not in index:
            visit(name)
    return found


def _check(program: Program, source: Source, component: Sequence[str]) -> None:
    for name, atom in _offences(program, component):
        cycle = _path(program, component, atom.relation, name)
        told = ", which reads ".join(repr(step) for step in cycle)
        raise source.fault_at(
            NotStratified,
            f"{name!r} reads {told} here, by negation or in an aggregate other than min and max; "
            "no relation can depend on what it does not hold itself",
            atom.at,
        )


def _offences(program: Program, component: Sequence[str]) -> Iterator[tuple[str, Atom]]:
    """The relations of `component` that read one of it so, and where."""
    for name in component:
        for rule in program.rules[name]:
            for atom, monotone in reads(rule.body, improving=_IMPROVING):
                if atom.relation in component and not monotone:
                    yield name, atom


def _path(program: Program, component: Sequence[str], start: str, end: str) -> list[str]:
    """A shortest path of readings from `start` to `end` within `component`."""
    came: dict[str, str | None] = {start: None}
    queue = deque([start])
    while end not in came:
        name = queue.popleft()
        for rule in program.rules[name]:
            for atom, _ in reads(rule.body):
                if atom.relation in component and atom.relation not in came:
                    came[atom.relation] = name
                    queue.append(atom.relation)
    path: list[str] = []
    step: str | None = end
    while step is not None:
        path.append(step)
        step = came[step]
    return path[::-1]
