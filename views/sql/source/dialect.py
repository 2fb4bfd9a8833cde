"""PostgreSQL's grammar: adds to sqlglot's dialect, and leaves out its rewriting of functions.

sqlglot turns the functions that it knows into classes of syntax, some with other arguments than
were written. Only those of `PARSED` become such; all others are left as they are written, for
`views.sql.functions.named`.
"""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.generator import Generator
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.helper import seq_get
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import Token, TokenType

from views.errors import QueryTooLarge
from views.sql.source.function_names import PARSED
from views.sql.source.quoting import as_text
from views.sql.source.searches import parse_searches, searches_sql
from views.sql.source.time_windows import (
    SessionFrame,
    TimeWindow,
    parse_session_frame,
    parse_time_window,
    write_session_frame,
    write_time_window,
)


def _translated(parsers: dict[str, Any]) -> dict[str, Any]:
    return {name: parser for name, parser in parsers.items() if name.lower() in PARSED}


class MutuallyRecursive(exp.With):
    """WITH MUTUALLY RECURSIVE; `limit` is its number of rounds, after which it `stops` or fails."""

    arg_types = exp.With.arg_types | {"limit": False, "stops": False}


class RecursiveBinding(exp.CTE):
    """A name of WITH MUTUALLY RECURSIVE; rows from outside enter by its `priority`."""

    arg_types = exp.CTE.arg_types | {"priority": False}


class Values(exp.Values):
    """VALUES, which may follow WITH."""

    arg_types = exp.Values.arg_types | {"with_": False}


# How often tokens may be read again in search of a reading: in all, and for each token.
REREAD_AT_LEAST = 10_000
REREAD_EACH = 5


def _unit_first(arguments: list[Any]) -> list[Any]:
    """The arguments with a column that is the first kept apart from a unit of the same name."""
    first = (exp.Paren(this=a) if isinstance(a, exp.Column) else a for a in arguments[:1])
    return [*first, *arguments[1:]]


# Spellings of other dialects that sqlglot takes, and PostgreSQL's.
_FOREIGN = {"==": "=", "??": "coalesce()", "RLIKE": "~", "REGEXP": "~"}
_FOREIGN_TOKENS = frozenset({TokenType.EQ, TokenType.DQMARK, TokenType.RLIKE})

_CLOSING = {TokenType.L_BRACKET: TokenType.R_BRACKET, TokenType.L_PAREN: TokenType.R_PAREN}


def _nested_brackets(tokens: list[Token]) -> Iterator[int]:
    """The positions of brackets that open right inside brackets, as in ARRAY[[1], [2]]."""
    around: list[TokenType] = []
    for token in tokens:
        if token.token_type in _CLOSING:
            if token.token_type == TokenType.L_BRACKET and around[-1:] == [token.token_type]:
                yield token.start
            around.append(token.token_type)
        elif around and token.token_type == _CLOSING[around[-1]]:
            around.pop()


_INTERVAL_FIELDS = frozenset({"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"})
_OTHER_UNITS = frozenset({f"{field}S" for field in _INTERVAL_FIELDS} | {"WEEK", "WEEKS"})
_JSON = exp.DType.JSON
_FORMS = frozenset({"NFC", "NFD", "NFKC", "NFKD"})
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


_OPPOSITE: dict[type[exp.Expr], type[exp.Expr]] = {exp.Any: exp.All, exp.All: exp.Any}


def _prefix(operation: type[exp.Expr]) -> Callable[[PostgresParser], exp.Expr]:
    """Reads the operand of a prefix operator, sums and products included."""
    return lambda parser: parser.expression(operation(this=parser._parse_term()))


class ViewsParser(PostgresParser):
    """Adds row constructors, ALL over a list, names of joins by USING, MUTUALLY RECURSIVE.

    The texts of intervals stay whole; those in E'…' and $$…$$ are texts as all others. A prefix
    operator binds below `+`, as all operators do that SQL itself does not have.
    """

    FUNCTIONS = _translated(PostgresParser.FUNCTIONS) | {
        "ROW": lambda args: exp.Tuple(expressions=args),
        "ALL": lambda args: exp.All(this=seq_get(args, 0)),
        "SOME": lambda args: exp.Any(this=seq_get(args, 0)),
        "DATE_TRUNC": lambda args: PostgresParser.FUNCTIONS["DATE_TRUNC"](_unit_first(args)),
    }
    FUNC_TOKENS = PostgresParser.FUNC_TOKENS | {TokenType.SESSION}
    WINDOW_ALIAS_TOKENS = PostgresParser.WINDOW_ALIAS_TOKENS - {TokenType.SESSION}
    FUNCTION_PARSERS = _translated(PostgresParser.FUNCTION_PARSERS) | {
        "TUMBLE": lambda parser: parse_time_window(parser, "TUMBLE"),
        "HOP": lambda parser: parse_time_window(parser, "HOP"),
        "SESSION": lambda parser: parse_time_window(parser, "SESSION"),
    }
    # A colon parts the bounds of a slice, also before a name.
    PLACEHOLDER_PARSERS: ClassVar = {
        token: parser
        for token, parser in PostgresParser.PLACEHOLDER_PARSERS.items()
        if token != TokenType.COLON
    }
    EQUALITY: ClassVar = {
        token: kind for token, kind in PostgresParser.EQUALITY.items() if kind in _COMPARISONS
    }
    UNARY_PARSERS: ClassVar = PostgresParser.UNARY_PARSERS | {
        TokenType.RLIKE: _prefix(exp.BitwiseNot),  # how `~` is read
        TokenType.PIPE_SLASH: _prefix(exp.Sqrt),
        TokenType.DPIPE_SLASH: _prefix(exp.Cbrt),
        TokenType.PARAMETER: _prefix(exp.Abs),  # how `@` is read
    }

    def parse(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
        """Parses the statements; however a text is quoted, it is the same constant."""
        for token in raw_tokens:
            ours = _FOREIGN.get(token.text.upper())
            if ours is not None and token.token_type in _FOREIGN_TOKENS:
                self.raise_error(f"PostgreSQL has no {token.text}; write {ours}", token)
        self._nested = frozenset(_nested_brackets(raw_tokens))
        return super().parse([as_text(token, sql) for token in raw_tokens], sql)

    def reset(self) -> None:
        super().reset()
        self._reread = 0
        self._session: SessionFrame | None = None

    def _retreat(self, index: int) -> None:
        """Go back to try another reading; of a wrong text there may be too many."""
        self._reread += max(self._index - index, 0)
        if self._reread > REREAD_AT_LEAST + REREAD_EACH * len(self._tokens):
            raise QueryTooLarge("the query is wrong, or nested, in more ways than can be tried")
        super()._retreat(index)

    def _parse_csv(
        self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA
    ) -> list[Any]:
        """Parses the items of a list; after a comma there must be one."""

        def item() -> Any:
            found = parse_method()
            if found is None and self._prev.token_type == sep:
                self.raise_error("An item is missing after the comma")
            return found

        return super()._parse_csv(item, sep)

    def _build_predicate(
        self,
        klass: type[exp.Binary],
        this: exp.Expr | None,
        expression: exp.Expr | None,
        comments: list[str] | None = None,
        negate: bool = False,
    ) -> exp.Expr:
        """A comparison, whose sides are none themselves unless in parentheses."""
        if klass in _COMPARISONS and (
            type(this) in _COMPARISONS or type(expression) in _COMPARISONS
        ):
            self.raise_error("Comparisons cannot be chained; put one of them in parentheses")
        return super()._build_predicate(klass, this, expression, comments, negate)

    def _negate_range(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """A negated operator: `x !~ ANY (y)` is not `NOT x ~ ANY (y)` but `NOT x ~ ALL (y)`."""
        if isinstance(this, exp.RegexpLike | exp.RegexpILike):
            opposite = _OPPOSITE.get(type(this.expression))
            if opposite is not None:
                this.set("expression", opposite(this=this.expression.this))
        return super()._negate_range(this)

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        """Parses the FILTER and OVER of a call; the condition of FILTER begins with WHERE."""
        if self._match_pair(TokenType.FILTER, TokenType.L_PAREN, advance=False):
            begun = self._tokens[self._index + 2 : self._index + 3]
            if not begun or begun[0].token_type != TokenType.WHERE:
                self.raise_error("FILTER needs WHERE")
        found = super()._parse_window(this, alias)
        if self._session is not None and isinstance(found, exp.Window):
            found.set("spec", self._session)
            self._session = None
        return found

    def _parse_partition_and_order(self) -> tuple[list[exp.Expr], exp.Expr | None]:
        """Parses these clauses, and a frame by sessions behind them."""
        clauses = super()._parse_partition_and_order()
        self._session = parse_session_frame(self)
        return clauses

    def _parse_select(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        if self._match(TokenType.FROM, advance=False):
            self.raise_error("A query begins with SELECT", self._curr)
        return super()._parse_select(*args, **kwargs)

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        """A join that has its condition: sqlglot tries all ways to nest those that have none."""
        comma = self._curr.token_type == TokenType.COMMA if self._curr else False
        join = super()._parse_join(*args, **kwargs)
        if join is None and comma and self._match_set(self.QUERY_MODIFIER_TOKENS, advance=False):
            self.raise_error("A relation is missing after the comma")
        if join is not None and not comma and not _is_conditional(join):
            self.raise_error("JOIN needs ON or USING")
        if join is not None and join.args.get("using") and self._match(TokenType.ALIAS):
            join.set("alias", self._parse_id_var())
        return join

    def _parse_table_part(self, schema: bool = False) -> exp.Expr | None:
        """A part of a relation's name; sqlglot lets one before or behind a dot be missing."""
        part = super()._parse_table_part(schema)
        around = {token.token_type for token in (self._prev, self._curr) if token}
        if part is None and TokenType.DOT in around:
            self.raise_error("A name is missing beside the dot", self._curr)
        return part

    # An arrow takes a document's member; there are no functions of functions.
    LAMBDAS: ClassVar = {k: v for k, v in PostgresParser.LAMBDAS.items() if k != TokenType.ARROW}

    def _parse_type(
        self, parse_interval: bool = True, fallback_to_identifier: bool = False
    ) -> exp.Expr | None:
        """An operand without its prefix: casts after `type 'text'` are of that constant."""
        constant = None if fallback_to_identifier else self._parse_typed_constant()
        if constant is not None:
            return self._parse_column_ops(constant)
        return super()._parse_type(parse_interval, fallback_to_identifier)

    def _parse_typed_constant(self) -> exp.Expr | None:
        start = self._index
        begun = self._curr.token_type in self.TYPE_TOKENS - {TokenType.INTERVAL}
        kind = self._parse_types(check_func=True, allow_identifiers=False) if begun else None
        if isinstance(kind, exp.DataType) and self._curr.token_type == TokenType.STRING:
            literal = self._parse_primary()
            special = self.TYPE_LITERAL_PARSERS.get(kind.this) if kind.this != _JSON else None
            plain = exp.Cast(this=literal, to=kind)
            return self.expression(plain) if special is None else special(self, literal, kind)
        self._retreat(start)
        return None

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """A subscript, or the elements of an array; brackets stand alone in brackets only."""
        alone = this is None and self._match(TokenType.L_BRACKET, advance=False)
        if alone and self._curr.start not in self._nested:
            self.raise_error("An array is written ARRAY[…]", self._curr)
        return super()._parse_bracket(this)

    def _parse_function_call(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        """A call, which knows how its function was written: `var_samp` is `variance` too."""
        written = self._curr.text.lower() if self._curr else ""
        found = super()._parse_function_call(*args, **kwargs)
        if isinstance(found, exp.Func):
            found.meta["written"] = written
        return found

    def _parse_string_agg(self) -> exp.GroupConcat:
        """A call, which has its ORDER BY inside; WITHIN GROUP is not for it."""
        start, depth = self._index, 0
        found = super()._parse_string_agg()
        for token in self._tokens[start : self._index]:
            depth += (token.token_type == TokenType.L_PAREN) - (
                token.token_type == TokenType.R_PAREN
            )
            if depth < 0:
                self.raise_error("write string_agg(…, … ORDER BY …) without WITHIN GROUP", token)
        return found

    def _parse_lateral(self) -> exp.Lateral | None:
        """A LATERAL item; ROWS FROM sees the items before it with or without the word."""
        if self._match_text_seq("LATERAL", "ROWS", "FROM", advance=False):
            self._advance()
            return None
        return super()._parse_lateral()

    def _parse_escape(self, this: exp.Expr | None) -> exp.Expr | None:
        """Parses the escape of a pattern, any expression."""
        if this is None or not self._match(TokenType.ESCAPE):
            return this
        return self.expression(exp.Escape(this=this, expression=self._parse_unary()))

    def _parse_substring(self) -> exp.Substring:
        """Parses `text SIMILAR pattern ESCAPE escape` too, which is from pattern for escape."""
        start = self._index
        text = self._parse_bitwise()
        if not self._match_text_seq("SIMILAR"):
            self._retreat(start)
            return super()._parse_substring()
        pattern = self._parse_bitwise()
        if not self._match(TokenType.ESCAPE):
            self.raise_error("Expected ESCAPE")
        escape = self._parse_bitwise()
        return self.expression(exp.Substring(this=text, start=pattern, length=escape))

    def _parse_is(self, this: exp.Expr | None) -> exp.Expr | None:
        """Parses `IS [NOT] [form] NORMALIZED` too: whether the text is its own normal form."""
        start = self._index
        negated = self._match(TokenType.NOT)
        form = self._prev.text if self._match_texts(_FORMS) else "NFC"
        if this is None or not self._match_text_seq("NORMALIZED"):
            self._retreat(start)
            return super()._parse_is(this)
        normal = exp.Normalize(this=this.copy(), form=exp.var(form))
        return self.expression((exp.NEQ if negated else exp.EQ)(this=this, expression=normal))

    def _parse_limit(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        limit = super()._parse_limit(*args, **kwargs)
        if isinstance(limit, exp.Limit) and limit.args.get("offset"):
            self.raise_error("LIMIT takes one number; write LIMIT count OFFSET start", self._prev)
        return limit

    def _parse_interval(self, *args: Any, **kwargs: Any) -> exp.Add | exp.Interval | None:
        """A constant: its text stays whole, and its fields are one word, as `DAY TO SECOND(3)`."""
        begun = self._index
        if not self._match(TokenType.INTERVAL):
            return super()._parse_interval(*args, **kwargs)
        digits = self._parse_digits()
        if self._curr and self._curr.token_type == TokenType.STRING:
            text = self._parse_string()
            unit = digits or self._interval_fields()
            if self._curr and self._curr.text.upper() in _OTHER_UNITS:
                self.raise_error("A unit stands in the text: INTERVAL '1 week'", self._curr)
            return self.expression(exp.Interval(this=text, unit=unit))
        self._retreat(begun)
        interval = super()._parse_interval(*args, **kwargs)
        if interval is not None:
            self.raise_error("INTERVAL takes a text; write INTERVAL '1 day'", self._tokens[begun])
        return interval

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        """A type; the fields of an interval's are one word."""
        if self._match_text_seq("BIT", "VARYING"):
            self._parse_digits()
            return exp.DataType(this=exp.DType.USERDEFINED, kind=exp.to_identifier("varbit"))
        if not self._match(TokenType.INTERVAL):
            return super()._parse_types(*args, **kwargs)
        unit = self._parse_digits() or self._interval_fields()
        if unit is None:
            self._retreat(self._index - 1)
            return super()._parse_types(*args, **kwargs)
        kind = self.expression(exp.DataType(this=self.expression(exp.Interval(unit=unit))))
        while self._match_pair(TokenType.L_BRACKET, TokenType.R_BRACKET):
            kind = exp.DataType(this=exp.DType.ARRAY, expressions=[kind], nested=True)
        return kind

    def _parse_type_size(self) -> exp.DataTypeParam | None:
        """The number behind a type's name; a scale may have a sign."""
        negative = self._match(TokenType.DASH)
        size = super()._parse_type_size()
        if negative and size is not None:
            size.set("this", exp.Neg(this=size.this))
        return size

    def _parse_ordered(
        self, parse_method: Callable[[], exp.Expr | None] | None = None
    ) -> exp.Ordered | None:
        """A key of ORDER BY; USING < is ascending and USING > descending."""

        def key() -> exp.Expr | None:
            found = parse_method() if parse_method else self._parse_disjunction()
            if found is not None and self._match(TokenType.USING):
                directions = {TokenType.LT: TokenType.ASC, TokenType.GT: TokenType.DESC}
                if self._curr.token_type not in directions:
                    self.raise_error("ORDER BY … USING takes < or >", self._curr)
                self._tokens[self._index] = Token(
                    directions[self._curr.token_type],
                    self._curr.text,
                    self._curr.line,
                    self._curr.col,
                    self._curr.start,
                    self._curr.end,
                )
                self._curr = self._tokens[self._index]
            return found

        return super()._parse_ordered(key)

    def _parse_digits(self) -> exp.Var | None:
        """`(3)`: how many digits there are."""
        begun = self._index
        if self._match(TokenType.L_PAREN):
            if self._match(TokenType.NUMBER):
                digits = self._prev.text
                if self._match(TokenType.R_PAREN):
                    return exp.var(f"({digits})")
            self._retreat(begun)
        return None

    def _interval_fields(self) -> exp.Var | None:
        """`YEAR TO MONTH` and its like, after INTERVAL or after its text."""
        word = self._curr.text.upper() if self._curr else ""
        if word not in _INTERVAL_FIELDS or self._curr.token_type == TokenType.STRING:
            return None
        self._advance()
        if self._curr and self._curr.text.upper() == "TO":
            following = self._next.text.upper() if self._next else ""
            if following not in _INTERVAL_FIELDS:
                self.raise_error("TO needs a field of an interval, such as MONTH or SECOND")
            self._advance(2)
            word = f"{word} TO {following}"
        digits = self._parse_digits() if word.endswith("SECOND") else None
        return exp.var(word + (digits.name if digits else ""))

    def _parse_cte(self) -> exp.CTE | exp.FunctionSpecification | None:
        cte = super()._parse_cte()
        if isinstance(cte, exp.CTE):
            parse_searches(self, cte)
        return cte

    def _parse_derived_table_values(self, allow_value_synonym: bool = False) -> exp.Values | None:
        values = super()._parse_derived_table_values(allow_value_synonym)
        return None if values is None else self.expression(Values(**values.args))

    def _parse_with(self, skip_with_token: bool = False) -> exp.With | None:
        start = self._index
        begun = skip_with_token or self._match(TokenType.WITH)
        if begun and self._match_text_seq("MUTUALLY", "RECURSIVE"):
            return self._parse_mutually_recursive()
        self._retreat(start)
        return super()._parse_with(skip_with_token)

    def _parse_mutually_recursive(self) -> exp.With:
        limit, stops = None, False
        if self._match(TokenType.L_PAREN):
            stops = self._match_text_seq("RETURN", "AT")
            if not stops:
                self._match_text_seq("ERROR", "AT")
            if not self._match_text_seq("RECURSION", "LIMIT"):
                self.raise_error("Expected RECURSION LIMIT")
            limit = self._parse_number()
            self._match_r_paren()
        bindings = self._parse_csv(self._parse_binding)
        return self.expression(MutuallyRecursive(expressions=bindings, limit=limit, stops=stops))

    def _parse_binding(self) -> exp.Expr:
        """`name (column type, …) [PRIORITY BY expression] AS (query)`."""
        name = self._parse_id_var()
        columns = self._parse_wrapped_csv(self._parse_field_def)
        priority = None
        if self._match_text_seq("PRIORITY", "BY"):
            priority = self._parse_disjunction()
        if not self._match(TokenType.ALIAS):
            self.raise_error("Expected AS")
        query = self._parse_wrapped(self._parse_statement)
        alias = exp.TableAlias(this=name, columns=columns)
        return self.expression(RecursiveBinding(this=query, alias=alias, priority=priority))


def _mutually_recursive(generator: Generator, clause: MutuallyRecursive) -> str:
    """The clause, with its limit."""
    limit = generator.sql(clause, "limit")
    kind = "RETURN" if clause.args.get("stops") else "ERROR"
    option = f" ({kind} AT RECURSION LIMIT {limit})" if limit else ""
    return f"WITH MUTUALLY RECURSIVE{option} {generator.expressions(clause, flat=True)}"


def _binding(generator: Generator, binding: RecursiveBinding) -> str:
    """The name, its columns, its priority and its query."""
    priority = generator.sql(binding, "priority")
    option = f" PRIORITY BY {priority}" if priority else ""
    return f"{generator.sql(binding, 'alias')}{option} AS {generator.wrap(binding)}"


def _array(generator: Generator, array: exp.Array) -> str:
    """Writes `ARRAY (query)` and `ARRAY[…]`, which may hold queries too."""
    items = generator.expressions(array, flat=True)
    in_brackets = array.args.get("value_constructor") is not None
    return f"ARRAY[{items}]" if in_brackets else f"ARRAY({items})"


def _join(generator: Generator, join: exp.Join) -> str:
    """Writes a join with the alias of USING."""
    alias = generator.sql(join, "alias")
    return generator.join_sql(join) + (f" AS {alias}" if alias else "")


def _interval(generator: Generator, interval: exp.Interval) -> str:
    """Writes an interval's type or constant, its fields behind it, digits alone before its text."""
    text, fields = generator.sql(interval, "this"), generator.sql(interval, "unit")
    parts = (f"INTERVAL{fields}", text) if fields.startswith("(") else ("INTERVAL", text, fields)
    return " ".join(part for part in parts if part)


class ViewsGenerator(PostgresGenerator):
    """Writes the syntax that the parser adds, which sqlglot's own generator has no methods for."""

    TRANSFORMS: ClassVar = {
        kind: transform
        for kind, transform in PostgresGenerator.TRANSFORMS.items()
        if kind is not exp.Select  # it writes QUALIFY as a subquery
    } | {
        MutuallyRecursive: _mutually_recursive,
        RecursiveBinding: _binding,
        exp.Array: _array,
        exp.Interval: _interval,
        exp.CTE: searches_sql,
        Values: lambda g, node: g.prepend_ctes(node, g.values_sql(node)),
        exp.Join: _join,
        TimeWindow: write_time_window,
        SessionFrame: write_session_frame,
        exp.BitwiseNot: lambda g, node: f"~ {g.sql(node, 'this')}",  # `~~` is LIKE
    }


def _is_conditional(join: exp.Join) -> bool:
    stated = join.args.get("on") or join.args.get("using")
    return bool(stated) or join.kind == "CROSS" or join.method == "NATURAL"


class PostgresViews(Postgres):
    """The dialect of views. Subscripts of arrays stay counted from 1."""

    INDEX_OFFSET = 0
    Parser = ViewsParser
    Generator = ViewsGenerator


def function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Makes `name(arguments)` as the parser does.

    Raises SqlglotError, ValueError, IndexError, AttributeError or TypeError where it has no such.
    """
    parsed = name.upper() in ViewsParser.FUNCTION_PARSERS.keys() - ViewsParser.FUNCTIONS.keys()
    if not parsed:
        return exp.func(name, *arguments, dialect=PostgresViews, copy=False)
    # A constant may choose the syntax; columns stand for the other arguments.
    own: dict[str, exp.Expr] = {}
    written = []
    for i, argument in enumerate(arguments):
        if isinstance(argument, exp.Literal):
            written.append(argument.sql(dialect=PostgresViews))
        else:
            column = argument.name if isinstance(argument, exp.Column) else f"${i}"
            own[column] = argument
            written.append(f'"{column}"')
    node = sqlglot.parse_one(f"{name}({', '.join(written)})", read=PostgresViews)
    return node.transform(lambda n: own[n.name] if isinstance(n, exp.Column) else n)
