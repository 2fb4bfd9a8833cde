"""Tables under construction: each is a SELECT over others, checked as soon as it is made.

A table knows itself by an alias that no other has. Its SQL names the tables that it is made of in
WITH, each once, however often it is read.

>>> from views import catalog
>>> fields = [("id", pa.int64()), ("customer", pa.string()), ("amount", pa.int64())]
>>> shop = Catalog()
>>> shop.add_table(catalog.Table("orders", pa.schema(fields), key=("id",)))
>>> db = Database(shop)
>>> orders = db["orders"]
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal, get_args

import pyarrow as pa
from sqlglot import exp

from views.builder.expressions import Expression, F, Scalar, expect, literal
from views.catalog import Catalog
from views.compile import deeply
from views.errors import (
    DuplicateColumn,
    NoLeastFixedPoint,
    SqlError,
    TypeMismatch,
    UnknownColumn,
    UnknownTable,
    suggestion,
)
from views.sql.bind import bind
from views.sql.source.dialect import MutuallyRecursive, PostgresViews
from views.types import type_name

Value = Expression | Scalar
How = Literal["inner", "left", "right", "full", "semi", "anti"]


class Database:
    """Gives the tables and views of `catalog`, where queries start.

    >>> db["orders"]
    Table(id: int64, customer: string, amount: int64)
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._aliases = count(1)

    def __getitem__(self, name: str) -> "Table":
        """Reads the table or view `name`, under an alias of its own (raises UnknownTable)."""
        expect(name, str, "the name of a table or view")
        entry = self.catalog.get(name)
        if entry is None:
            raise UnknownTable(f"no table or view {name!r}{suggestion(name, self.catalog)}")
        source = exp.Table(this=_identifier(name))
        return Table(self, self.alias(), source, (), entry.schema)

    def values(self, rows: Sequence[Sequence[Scalar]], **types: str) -> "Table":
        """Makes constant rows, at least one, whose columns have these names and types of SQL.

        >>> db.values([(1, "ann"), (2, "bob")], id="bigint", name="text")
        Table(id: int64, name: string)
        """
        if not rows:
            raise TypeMismatch("values() takes at least one row")
        alias = self.alias()
        for row in rows:
            expect(row, (list, tuple), "a row of values")
        values = exp.Values(
            expressions=[exp.Tuple(expressions=[literal(v) for v in row]) for row in rows],
            alias=exp.TableAlias(this=_identifier(alias), columns=[*map(_identifier, types)]),
        )
        outputs: list[exp.Expr] = [
            exp.Alias(this=F.col(name).cast(kind).node, alias=_identifier(name))
            for name, kind in types.items()
        ]
        return Table(self, alias, _select(outputs, values), ())

    def alias(self) -> str:
        """Makes a name that no table, view or other alias has."""
        return next(a for i in self._aliases if (a := f"t{i}") not in self.catalog)


class Table:
    """Rows with typed columns: `schema` names them, `table.column` or `table["column"]` reads one.

    Every method raises a kind of SqlError where its arguments do not fit.

    >>> orders.amount
    Expression("t1"."amount")
    >>> orders.price
    Traceback (most recent call last):
    views.errors.UnknownColumn: no column 'price' here
    """

    def __init__(
        self,
        database: Database,
        alias: str,
        query: exp.Expr,
        inputs: "tuple[Table, ...]",
        schema: pa.Schema | None = None,
        recursive: bool = False,
    ) -> None:
        self.database = database
        self._alias = alias
        self._query = query
        self._inputs = inputs
        self._recursive = recursive
        self.schema: pa.Schema = self._checked() if schema is None else schema

    def __repr__(self) -> str:
        columns = ", ".join(f"{f.name}: {f.type}" for f in self.schema)
        return f"Table({columns})"

    def __getitem__(self, name: str) -> Expression:
        """Reads the column `name` (raises UnknownColumn)."""
        expect(name, str, "the name of a column")
        if name not in self.schema.names:
            near = suggestion(name, self.schema.names)
            raise UnknownColumn(f"no column {name!r} here{near}")
        return Expression(_column(name, self._alias))

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_") or name == "schema":
            raise AttributeError(name)
        return self[name]

    def sql(self) -> str:
        """Writes the query in SQL.

        >>> print(orders.select("id", double=orders.amount * 2).sql())
        SELECT
          "t1"."id" AS "id",
          "t1"."amount" * 2 AS "double"
        FROM "orders" AS "t1"
        """
        return deeply(self._text)

    def filter(self, *conditions: Value) -> "Table":
        """Keeps the rows for which all `conditions`, one at least, are true.

        >>> print(orders.filter(orders.amount > 10).sql())
        SELECT
          *
        FROM "orders" AS "t1"
        WHERE
          "t1"."amount" > 10
        """
        if not conditions:
            raise TypeMismatch("filter() takes a condition")
        where = exp.and_(*(literal(c) for c in conditions), copy=False)
        return self._made(_select([exp.Star()], self._from(), where=where))

    def select(self, *columns: str | Expression, **computed: str | Expression) -> "Table":
        """Computes these columns, and others under new names; a str names a column.

        >>> orders.select("id", payer="customer", currency=F.lit("EUR"))
        Table(id: int64, payer: string, currency: string)
        """
        return self._made(_select(self._outputs(columns, computed), self._from()))

    def join(
        self, other: "Table", on: str | Sequence[str] | Expression, how: How = "inner"
    ) -> "Table":
        """Pairs rows that match: by equal columns of the names `on`, or by a condition.

        `semi` and `anti` keep the rows of this table that have a partner, or none. Columns other
        than those of the names `on` must differ in name.

        >>> cities = db.values([("ann", "Rome")], customer="text", city="text")
        >>> orders.join(cities, on="customer", how="left")
        Table(customer: string, id: int64, amount: int64, city: string)
        """
        expect(other, Table, "a Table to join with")
        if how not in get_args(How):
            raise TypeMismatch(f"how to join is one of {', '.join(get_args(How))}, not {how!r}")
        if other._alias == self._alias:
            raise DuplicateColumn("a table is joined with itself; join it with its copy()")
        expect(
            on, (str, list, tuple, Expression), "a column's name, several or a condition to join"
        )
        names = [] if isinstance(on, Expression) else [on] if isinstance(on, str) else list(on)
        if not names and not isinstance(on, Expression):
            raise TypeMismatch("join() takes the names of columns, or a condition")
        condition = on if isinstance(on, Expression) else _all_equal(self, other, names)
        if how in ("semi", "anti"):
            found = exp.Exists(
                this=_select([exp.Literal.number(1)], other._from(), where=condition.node)
            )
            where = found if how == "semi" else exp.Not(this=found)
            return self._made(_select([exp.Star()], self._from(), where=where), other)
        outputs: list[exp.Expr] = [_column(name) for name in names]
        for table in (self, other):
            outputs += [_column(n, table._alias) for n in table.schema.names if n not in names]
        same = set(self.schema.names) & set(other.schema.names) - set(names)
        if same:
            raise DuplicateColumn(
                f"both sides have {', '.join(sorted(same))}; rename by select() before the join"
            )
        join = exp.Join(this=other._from(), side=None if how == "inner" else how.upper())
        if names:
            join.set("using", [_identifier(name) for name in names])
        else:
            join.set("on", condition.node.copy())
        return self._made(_select(outputs, self._from(), joins=[join]), other)

    def group_by(self, *keys: str | Expression, **computed: str | Expression) -> "Grouped":
        """Groups the rows by equal keys, for `agg`.

        >>> orders.group_by("customer").agg(largest=F.max(orders.amount))
        Table(customer: string, largest: int64)
        """
        return Grouped(self, tuple(self._outputs(keys, computed)))

    def agg(self, **aggregates: Expression) -> "Table":
        """Aggregates all rows to one, by name.

        >>> orders.agg(orders=F.count(), customers=F.count(orders.customer, distinct=True))
        Table(orders: int64, customers: int64)
        """
        return Grouped(self, ()).agg(**aggregates)

    def union(self, other: "Table", distinct: bool = False) -> "Table":
        """Adds the rows of a table whose columns have the same names; `distinct`: each row once.

        >>> orders.union(orders.copy())
        Table(id: int64, customer: string, amount: int64)
        """
        expect(other, Table, "a Table to unite with")
        if set(self.schema.names) != set(other.schema.names):
            raise UnknownColumn(
                f"the columns of a union differ: {', '.join(self.schema.names)} and "
                f"{', '.join(other.schema.names)}"
            )
        aligned = [_column(name, other._alias) for name in self.schema.names]
        sides = (_select([exp.Star()], self._from()), _select(aligned, other._from()))
        return self._made(exp.Union(this=sides[0], expression=sides[1], distinct=distinct), other)

    def distinct(self) -> "Table":
        """Keeps every row once.

        >>> orders.select("customer").distinct()
        Table(customer: string)
        """
        return self._made(_select([exp.Star()], self._from(), distinct=exp.Distinct()))

    def order_by(self, *keys: str | Expression) -> "Ordered":
        """Orders the rows, for `limit`; see `Expression.desc`.

        >>> print(orders.order_by(orders.amount.desc()).limit(3).sql())
        SELECT
          *
        FROM "orders" AS "t1"
        ORDER BY
          "t1"."amount" DESC
        LIMIT 3
        """
        if not keys:
            raise TypeMismatch("order_by() takes a column")
        nodes = tuple(self._column(key) for key in keys)
        if any(isinstance(node, exp.Literal) for node in nodes):  # a column's position, in SQL
            raise TypeMismatch("a constant orders nothing; a str names a column")
        return Ordered(self, nodes)

    def copy(self) -> "Table":
        """Reads the same rows under another alias, for a join of a table with itself.

        >>> other = orders.copy().select(other="id", same="customer")
        >>> orders.join(other, (orders.customer == other.same) & (orders.id < other.other))
        Table(id: int64, customer: string, amount: int64, other: int64, same: string)
        """
        return self._made(_select([exp.Star()], self._from()))

    def iterate(self, step: "Callable[[Table], Table]") -> "Table":
        """Makes the least set that holds these rows and `step` of itself, as WITH RECURSIVE does.

        A step that may take rows away as more are found, by an aggregate, `limit`, `anti` or the
        like, has no least set: as in WITH MUTUALLY RECURSIVE each round has these rows and the step
        of the round before, until nothing changes.

        >>> edges = db.values([(1, 2), (2, 3)], src="bigint", dst="bigint")
        >>> onward = edges.select(via="src", next="dst")
        >>> def step(paths: Table) -> Table:
        ...     return paths.join(onward, paths.dst == onward.via).select("src", dst="next")
        >>> edges.iterate(step)
        Table(src: int64, dst: int64)
        """
        found = Table(
            self.database,
            self.database.alias(),
            _select([exp.Star()], self._from()),
            (self,),
            self.schema,
        )
        body = step(found)
        expect(body, Table, "a Table as the answer of the step")
        if body.schema.names != self.schema.names:
            body = body.select(*self.schema.names)
        inside = [t for t in body._all() if t is not found and t._reads(found)]
        outside = [t for t in body._all() if t is not found and t not in inside]
        rows = _select([exp.Star()], body._from())
        if inside:
            rows.set("with_", _with(inside))
        union = exp.Union(
            this=_select([exp.Star()], self._from()),
            expression=exp.Subquery(this=rows) if inside else rows,
            distinct=True,
        )
        inputs = tuple(dict.fromkeys((self, *outside)))
        try:
            return Table(self.database, found._alias, union, inputs, recursive=True)
        except NoLeastFixedPoint:
            query = _select([exp.Star()], found._from())
            query.set("with_", MutuallyRecursive(expressions=[_declared(found, union)]))
            return Table(self.database, self.database.alias(), query, inputs)

    # --- making SQL ---

    def _made(self, query: exp.Expr, *others: "Table") -> "Table":
        return Table(self.database, self.database.alias(), query, (self, *others))

    def _outputs(
        self, columns: Iterable[str | Expression], computed: Mapping[str, str | Expression]
    ) -> list[exp.Expr]:
        named = [(c if isinstance(c, str) else _name(c), c) for c in columns]
        return [
            exp.Alias(this=self._column(value), alias=_identifier(name))
            for name, value in [*named, *computed.items()]
        ]

    def _column(self, column: Value) -> exp.Expr:
        """Translates a value, where a str names a column."""
        return literal(self[column] if isinstance(column, str) else column)

    def _from(self) -> exp.Table:
        """This table in FROM."""
        source = self._query.this if isinstance(self._query, exp.Table) else None
        alias = exp.TableAlias(this=_identifier(self._alias))
        return exp.Table(this=source or _identifier(self._alias), alias=alias)

    def _all(self) -> "list[Table]":
        """The derived tables that this one is made of, itself last."""
        found: dict[str, Table] = {}

        def visit(table: Table) -> Iterator[Table]:
            if table._alias not in found and not isinstance(table._query, exp.Table):
                for below in table._inputs:
                    yield from visit(below)
                if table._alias not in found:
                    found[table._alias] = table
                    yield table

        return list(visit(self))

    def _reads(self, other: "Table") -> bool:
        return any(t is other for t in self._all())

    def _cte(self) -> exp.CTE:
        return exp.CTE(this=self._query.copy(), alias=exp.TableAlias(this=_identifier(self._alias)))

    def _text(self) -> str:
        return self._whole().sql(dialect=PostgresViews, pretty=True)

    def _whole(self) -> exp.Expr:
        query: exp.Expr = _select([exp.Star()], self._from())
        tables = self._all()
        has_with = self._query.args.get("with_") is not None
        if tables and not has_with and not any(t._recursive for t in tables):
            query = tables[-1]._query.copy()
            tables = tables[:-1]
        if tables:
            query.set("with_", _with(tables))
        return query

    def _checked(self) -> pa.Schema:
        """Binds the query, and gives its columns (raises kinds of SqlError)."""
        near = {self._alias, *(table._alias for table in self._inputs)}
        is_recursion = self._recursive or self._query.args.get("with_") is not None
        for column in () if is_recursion else self._query.find_all(exp.Column):
            if column.table and column.table not in near:
                raise UnknownColumn(
                    f"{column.name!r} is a column of a table that this step does not read; "
                    f"F.col({column.name!r}) is one of those that it reads"
                )
        try:
            plan = deeply(lambda: bind(self._text(), self.database.catalog).plan)
        except SqlError as error:
            raise type(error)(error.message) from None
        names = [a.name for a in plan.attributes]
        if len(set(names)) < len(names):
            raise DuplicateColumn("two columns have one name")
        return pa.schema([pa.field(a.name, a.type, a.nullable) for a in plan.attributes])


@dataclass(frozen=True, slots=True)
class Grouped:
    """Holds a table's rows in groups."""

    table: Table
    keys: tuple[exp.Expr, ...]

    def agg(self, **aggregates: Expression) -> Table:
        """Makes one row for each group: its keys, then aggregates by name."""
        outputs = [*self.keys, *self.table._outputs((), aggregates)]
        query = _select(outputs, self.table._from())
        if self.keys:
            # A constant would be a column's position in SQL, which is therefore given.
            keys = [
                exp.Literal.number(i) if isinstance(key.this, exp.Literal) else key.this.copy()
                for i, key in enumerate(self.keys, 1)
            ]
            query.set("group", exp.Group(expressions=keys))
        return self.table._made(query)


@dataclass(frozen=True, slots=True)
class Ordered:
    """Holds a table's rows in an order."""

    table: Table
    keys: tuple[exp.Expr, ...]

    def limit(self, rows: int, offset: int = 0) -> Table:
        """Keeps the first `rows` rows after the first `offset`."""
        for number in (rows, offset):
            expect(number, int, "a number of rows")
        order = [
            k if isinstance(k, exp.Ordered) else exp.Ordered(this=k, desc=False, nulls_first=False)
            for k in self.keys
        ]
        query = _select([exp.Star()], self.table._from(), order=exp.Order(expressions=order))
        query.set("limit", exp.Limit(expression=exp.Literal.number(rows)))
        if offset:
            query.set("offset", exp.Offset(expression=exp.Literal.number(offset)))
        return self.table._made(query)


def _select(
    outputs: Sequence[exp.Expr],
    source: exp.Expr,
    where: exp.Expr | None = None,
    **clauses: object,
) -> exp.Select:
    query = exp.Select(expressions=list(outputs), from_=exp.From(this=source), **clauses)
    if where is not None:
        query.set("where", exp.Where(this=where.copy()))
    return query


def _with(tables: Sequence[Table]) -> exp.With:
    recursive = any(t._recursive for t in tables)
    return exp.With(expressions=[t._cte() for t in tables], recursive=recursive)


def _declared(table: Table, query: exp.Expr) -> exp.CTE:
    """`query` under the alias of `table`, whose columns it declares."""
    columns = [
        exp.ColumnDef(
            this=_identifier(field.name),
            kind=exp.DataType.build(type_name(field.type), dialect="postgres"),
        )
        for field in table.schema
    ]
    alias = exp.TableAlias(this=_identifier(table._alias), columns=columns)
    return exp.CTE(this=query, alias=alias)


def _all_equal(left: Table, right: Table, names: Sequence[str]) -> Expression:
    pairs = ((left[name] == right[name]).node for name in names)
    return Expression(exp.and_(*pairs, copy=False))


def _name(column: Expression) -> str:
    expect(column, Expression, "a column's name or an expression")
    if not isinstance(column.node, exp.Column):
        raise UnknownColumn("a computed column needs a name: select(name=…)")
    return column.node.name


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.Column(this=_identifier(name), table=None if table is None else _identifier(table))


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)
