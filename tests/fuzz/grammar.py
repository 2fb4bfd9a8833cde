"""Random texts from productions: `{name}` in a production stands for one of those of `name`."""

import re
from collections.abc import Mapping, Sequence
from random import Random

Grammar = Mapping[str, Sequence[str]]
MAX_DEPTH = 8
_PART = re.compile(r"\{(\w+)\}")

_SHARED: Grammar = {
    "name": ["id", "name", "total", "day", "src", "dst", "customer_id", "x", "y", "nope"],
    "table": ["customers", "orders", "items", "products", "follows", "folows"],
    "number": ["0", "1", "2", "10", "1.5", "0.001", "99999999999", "1e3", "3"],
    "function": [
        "abs", "upper", "lower", "length", "round", "coalesce", "greatest", "nullif", "concat",
        "substring", "floor", "mod", "sqrt", "replace", "trim", "frobnicate", "date_trunc",
    ],
    "call": [
        "abs({value})", "coalesce({value}, {value})", "round({value})", "greatest({value}, 1)",
        "length({name})", "upper({name})", "nullif({value}, {value})", "mod({value}, {number})",
        "{function}({value})", "{function}({value}, {value})",
    ],
    "aggregate": ["count", "sum", "avg", "min", "max", "stddev", "array_agg", "bool_and", "mode"],
    "type": [
        "integer", "bigint", "smallint", "text", "date", "timestamp", "numeric(12, 2)", "boolean",
        "double precision", "real", "bytea", "time", "interval", "json", "integer[]", "money",
    ],
}  # fmt: skip

SQL: Grammar = {
    **_SHARED,
    "start": ["{query}", "{query}", "{query} order by {keys} limit {number}", "{with}"],
    "with": [
        "with c as ({query}) select * from c", "with c(x, y) as ({query}) {query}",
        "with recursive r(x) as (select {value} {from} union select {value} from r {tail}) "
        "select * from r",
        "with recursive r(x, y) as ({query} union all select x, y + 1 from r where {condition}) "
        "select {items} from r",
        "with mutually recursive a(x bigint) as ({query}), b(y text) as ({query}) select * from a",
    ],
    "query": [
        "select {items} {from} {tail}", "select {items} {from} {tail}",
        "select {items} {from} {tail}", "select distinct {items} {from}",
        "select {value} as x, {aggregates} {from} group by {grouping} having {condition}",
        "select {aggregates} {from} {tail}", "{query} union {query}", "{query} except {query}",
        "{query} intersect all {query}", "values ({value}, {value})", "({query})",
        "select distinct on ({value}) {items} {from} order by {keys}", "select {windows} {from}",
        "select {items} {from} {tail} order by {keys} limit {number} offset {number}",
    ],
    "items": ["*", "{value} as x", "{value} as x, {value} as y", "{table}.*", "{value}, {items}"],
    "aggregates": [
        "{aggregate}({value}) as a", "count(*) as n", "{aggregate}(distinct {value}) as b",
        "{aggregate}({value}) filter (where {condition}) as c",
        "{aggregate}({value} order by {keys}) as d", "{aggregates}, {aggregates}",
    ],
    "windows": [
        "{aggregate}({value}) over (partition by {value} order by {keys}) as w",
        "row_number() over (order by {keys}) as r", "rank() over ({frame}) as r",
        "lag({value}, {number}) over (order by {keys}) as l",
    ],
    "frame": [
        "order by {keys} rows between {number} preceding and current row",
        "partition by {value} order by {keys} range between unbounded preceding and 1 following",
        "", "order by {keys}",
    ],
    "grouping": ["1", "{value}", "rollup ({value}, {value})", "cube (1, {value})",
                 "grouping sets (({value}), ())"],
    "keys": ["{value}", "{value} desc", "1", "{value} nulls first, {value}"],
    "from": ["from {relation}", "from {relation}", "from {relation}, {relation}", ""],
    "relation": [
        "{table}", "{table} t", "{relation} join {relation} on {condition}",
        "{relation} left join {relation} using ({name})",
        "{relation} full join {table} on {condition}",
        "({query}) as q", "{table} natural join {table}", "{relation}, lateral ({query}) l",
        "unnest(array[1, {number}]) u", "(values (1, 'a'), (2, null)) v(x, y)",
        "{relation} cross join {table}", "generate_series(1, {number}) g",
    ],
    "tail": ["", "", "where {condition}", "where {condition}", "group by {value}"],
    "value": [
        "{name}", "{name}", "{name}", "{number}", "{name}", "t.{name}", "'a'",
        "'2024-01-01'", "null", "true",
        "({value} + {value})", "{value} - {value}", "{value} * {number}", "{value} / {value}",
        "-{value}", "{value} || {value}", "{call}",
        "cast({value} as {type})", "{value}::{type}", "case when {condition} then {value} end",
        "case {value} when {value} then {value} else {value} end", "({query})",
        "{aggregate}({value})", "extract(year from {value})", "interval '1 day'",
        "date '2024-01-01'",
        "array[{value}, {value}]", "({value})[1]", "now()", "{value} at time zone 'UTC'",
        "row({value}, {value})", "position({value} in {value})", "({value}, {value})",
    ],
    "condition": [
        "{value} = {value}", "{value} < {value}", "{value} <> {value}", "{value} is null",
        "not {condition}", "({condition} and {condition})", "({condition} or {condition})",
        "{value} in ({value}, {value})", "{value} in ({query})", "{value} not in ({query})",
        "exists ({query})", "{value} between {value} and {value}", "{value} like 'a%'",
        "{value} = any ({query})", "{value} > all ({query})", "{value} is distinct from {value}",
        "{value} ~ 'a+'", "true", "{name}", "({value}, {value}) = ({query})",
    ],
}  # fmt: skip

DATALOG: Grammar = {
    **_SHARED,
    "start": ["{rules} .output {relation}", "{rules} ?- {body}.", "{rules} ?- {relation}(1, x)."],
    "rules": ["{rule}", "{rule} {rules}", "{rule} {rule} {rules}", "{declaration} {rules}"],
    "declaration": [".decl {relation}(x: {type}, y: {type})", ".decl {relation}({name}: number)"],
    "rule": [
        "{relation}({variable}, {variable}) :- {body}.", "{relation}({variable}) :- {body}.",
        "{relation}({value}, {value}).", "{relation}({variable}, {value}) :- {body}.",
        "p(x, y) :- follows(x, y).", "p(x, z) :- p(x, y), follows(y, z).",
    ],
    "body": ["{literal}", "{literal}, {body}", "{literal}, {literal}, {body}"],
    "literal": [
        "{atom}", "{atom}", "{atom}", "{atom}", "!{atom}", "{variable} = {value}",
        "{value} < {value}", "{value} != {value}", "{variable} = count : {{ {body} }}",
        "{variable} = {aggregate} {variable} : {{ {body} }}",
        "{variable} = {aggregate}({value}) : {{ {body} }}",
    ],
    "atom": [
        "follows({argument}, {argument})", "customers(id: {argument})", "{relation}({argument})",
        "{relation}({argument}, {argument})", "orders({argument}, {argument}, _, {argument}, _)",
        "customers({name}: {argument}, {name}: {argument})", "{table}({argument})",
    ],
    "argument": ["{variable}", "{variable}", "{variable}", "_", "1", "\"a\"", "{value}"],
    "relation": ["p", "q", "r", "s"],
    "variable": ["x", "y", "z", "w"],
    "value": [
        "{variable}", "{variable}", "{variable}", "{number}", "{variable}", "\"a\"",
        "\"2024-01-01\"", "true",
        "{value} + {value}", "({value} * {value})", "-{value}", "{value} / {value}",
        "{value} % {value}", "{call}",
        "{value}::{type}", "{aggregate}({value})",
    ],
}  # fmt: skip


def about(grammar: Grammar, table: str, columns: Sequence[str]) -> Grammar:
    """`grammar` with the names of one table, so that more of its texts mean something."""
    return {**grammar, "table": [table], "name": columns}


def text(grammar: Grammar, random: Random, name: str = "start", depth: int = 0) -> str:
    """A random text of `name`: the deeper inside, the fewer productions, plain ones first."""
    given = grammar[name]
    productions = given[: max(1, round(len(given) * (1 - depth / MAX_DEPTH)))]
    made = _PART.sub(
        lambda part: text(grammar, random, part[1], depth + 1), random.choice(productions)
    )
    return made.replace("{{", "{").replace("}}", "}")
