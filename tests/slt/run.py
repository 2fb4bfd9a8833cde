"""Running a script: the same steps by PostgreSQL and by the pool, compared after each of them."""

import re
from dataclasses import replace

from tests.postgres import Judge, emptied
from tests.slt.engine import Engine
from tests.slt.judge import PostgreSQL
from tests.slt.script import Query, Record, Refusal, Script, Statement
from views.explain import explain

# What PostgreSQL may well accept.
_OURS = ("unsupported: ", "query-too-large: ", "no-fixed-point: ")


def run(script: Script, connection: Judge, workers: int = 1) -> None:
    """See that the file, PostgreSQL and the views agree (raises AssertionError, with the place)."""
    judge, engine = PostgreSQL(emptied(connection)), Engine(workers)
    queries: dict[str, Query] = {}
    for step in script.steps():
        place = script.name
        if step.statement is not None:
            place = f"{script.name}:{step.statement.line}"
            _execute(place, judge, step.statement)
            _follow(judge, engine, step.statement)
        for check in step.checks:
            if isinstance(check, Refusal):
                _check_refused(f"{script.name}:{check.line}", judge, engine, check)
            elif check.key in queries:
                queries[check.key] = replace(queries[check.key], rows=check.rows, line=check.line)
            else:
                queries[check.key] = check
                _install(f"{script.name}:{check.line}", engine, check)
        for query in queries.values():
            _compare(f"{place}: the query at {query.line}", judge, engine, query)


def explain_all(script: Script, connection: Judge) -> None:
    """See that every query is explained, its syntax so that it reads as the same query."""
    judge, engine = PostgreSQL(emptied(connection)), Engine()
    for step in script.steps():
        if step.statement is not None:
            judge.execute(step.statement.sql)
            _follow(judge, engine, step.statement)
        for check in step.checks:
            if isinstance(check, Query) and check.sql:
                parsed, *stages = explain(check.sql, engine.catalog)
                assert list(explain(parsed.text, engine.catalog)[1:]) == stages, parsed.text


def rewritten(script: Script, connection: Judge) -> Script:
    """The script with PostgreSQL's rows, and with the mentions that changed rows need."""
    judge = PostgreSQL(emptied(connection))
    queries: dict[str, Query] = {}
    records: list[Record] = []
    for step in script.steps():
        if step.statement is not None:
            _execute(f"{script.name}:{step.statement.line}", judge, step.statement)
            records.append(step.statement)
        mentioned = {c.key for c in step.checks if isinstance(c, Query)}
        for check in step.checks:
            if isinstance(check, Query):
                defined = queries.setdefault(check.key, check)
                check = _answered(judge, replace(defined, rows=check.rows)).mention(check)
                queries[check.key] = replace(defined, rows=check.rows)
            records.append(check)
        for key in [key for key in queries if key not in mentioned]:
            answered = _answered(judge, queries[key])
            if answered.rows != queries[key].rows:
                queries[key] = answered
                records.append(answered.mention())
    return replace(script, records=tuple(records))


def _execute(place: str, judge: PostgreSQL, statement: Statement) -> None:
    said = judge.execute(statement.sql)
    if statement.error is None:
        assert said is None, f"{place}: {said}"
    else:
        assert said is not None, f"{place}: this should fail with {statement.error}"
        assert re.search(statement.error, said), f"{place}: {said}"


def _follow(judge: PostgreSQL, engine: Engine, statement: Statement) -> None:
    """Bring the pool to what PostgreSQL holds after `statement`."""
    tables = judge.tables()
    for table in tables:
        if table.name not in engine.held:
            engine.create(table)
    if statement.error is None and engine.is_view(statement.sql):
        engine.create_view(statement.sql)
    engine.follow({table.name: judge.rows(table) for table in tables})


def _install(place: str, engine: Engine, query: Query) -> None:
    refused = engine.install(query.key, query.sql)
    assert refused is None, f"{place}: refused: {refused}"


def _check_refused(place: str, judge: PostgreSQL, engine: Engine, refusal: Refusal) -> None:
    said = engine.install(refusal.sql, refusal.sql)
    assert said is not None, f"{place}: this should be refused with {refusal.error}"
    assert re.search(refusal.error, said), f"{place}: refused otherwise: {said}"
    assert said.startswith(_OURS) or judge.refuses(refusal.sql), f"{place}: PostgreSQL takes it"


def _compare(place: str, judge: PostgreSQL, engine: Engine, query: Query) -> None:
    if not query.ours_only:
        answer = judge.answer(query)
        assert answer == query.rows, _difference(f"{place}: PostgreSQL", answer, query.rows)
    ours = engine.answer(query)
    if ours is None:
        failed = bool(query.rows) and query.rows[0].startswith("ERROR ")
        assert failed, f"{place}: the view has {engine.errors(query)}, not {query.rows}"
    else:
        assert ours == query.rows, _difference(f"{place}: the view", ours, query.rows)


def _difference(who: str, answer: tuple[str, ...], expected: tuple[str, ...]) -> str:
    return "\n".join([f"{who} has", *answer, "and expected is", *expected])


def _answered(judge: PostgreSQL, query: Query) -> Query:
    return query if query.ours_only else replace(query, rows=judge.answer(query))
