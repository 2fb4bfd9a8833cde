"""Binds a program's text into a plan: parse, stratify, rewrite by magic sets, bind relations."""

from views.catalog import Catalog
from views.datalog.magic import Rewritten, magic_sets
from views.datalog.parse import parse
from views.datalog.relations import Relations
from views.datalog.strata import components
from views.datalog.syntax import Program
from views.datalog.text import program_text
from views.errors import DuplicateColumn, SqlError, UnknownTable, suggestion
from views.limits import DEFAULT, Limits
from views.plan.bound import Bound, Stage
from views.plan.nodes import Get, Map
from views.plan.trees import subqueries, walk
from views.sql.source.text import Source


def bind(query: str, catalog: Catalog, limits: Limits = DEFAULT) -> Bound:
    """Binds a program over `catalog` (raises kinds of SqlError)."""
    source = Source(query)
    program = parse(source, limits.nesting)
    _check(program, catalog, source)
    stages = [Stage("parsed", program_text(program))]
    found = components(program, source)
    relations = Relations(program, catalog, source)
    for component in found:
        relations.bind(component)
    rewritten = magic_sets(program, found, relations.names)
    if rewritten is not None:
        asked = _bind_copies(rewritten, relations, limits)
        if asked is not None:
            stages.append(Stage("magic_sets", program_text(rewritten.program)))
            relations = asked
    answer, numbers = relations.read(program.result), relations.session.numbers
    outputs = tuple((numbers.fresh(name, a), a.column) for name, a in answer.columns)
    plan = Map(answer.plan, outputs)
    tables = {node.name for node in walk(plan) if isinstance(node, Get)}
    return Bound(plan, numbers, tuple(sorted(tables)), lambda: tuple(stages))


def _bind_copies(rewritten: Rewritten, whole: Relations, limits: Limits) -> Relations | None:
    """The relations of a rewritten program; `whole` are those of the program itself.

    None where it is beyond a limit or cannot be bound: copies repeat the rules' literals, and a
    bound constant may have a type that its column has not.
    """
    columns = {
        name: tuple(whole.read(origin.relation).columns[i][1] for i in origin.positions)
        for name, origin in rewritten.origins.items()
    }
    program, session = rewritten.program, whole.session
    relations = Relations(program, session.catalog, session.source, columns)
    try:
        for component in components(program, session.source):
            relations.bind(component)
    except SqlError:
        return None
    beyond = subqueries(relations.read(program.result).plan) > limits.subqueries
    return None if beyond else relations


def _check(program: Program, catalog: Catalog, source: Source) -> None:
    """Checks that rules define all declared and queried relations, and no table."""
    for name, rules in program.rules.items():
        if name in catalog:
            raise source.fault_at(
                DuplicateColumn,
                f"{name!r} is a table or view, which no rule can define",
                rules[0].head.at,
            )
    known = [*program.rules]
    for declaration in program.declarations.values():
        if declaration.relation not in program.rules:
            near = suggestion(declaration.relation, known)
            raise source.fault_at(
                UnknownTable, f"no rule defines {declaration.relation!r}{near}", declaration.at
            )
    if program.result not in program.rules:
        near = suggestion(program.result, known)
        raise source.fault_at(UnknownTable, f"no rule defines {program.result!r}{near}", program.at)
