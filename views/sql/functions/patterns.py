"""Binds LIKE, SIMILAR TO, regular expressions and the functions of them.

Constant expressions are checked when a view is defined; others may be an error of a row.
"""

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from ivm.constants import computed
from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.patterns import compile_pattern
from views.errors import InvalidLiteral
from views.plan.scalars import call, negation, predicate
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import BOOL, INT, TEXT, Bound
from views.sql.base.signatures import Build, Signature, Signatures, checked

_TEXTS = pa.list_(TEXT)
_NO_FLAGS = Literal("", TEXT)
_BACKSLASH = Literal("\\", TEXT)
_ZERO, _ONE = Literal(0, INT), Literal(1, INT)
_OF_ALL_MATCHES = frozenset({"regexp_matches", "regexp_replace", "regexp_replace_flagged"})


def matching(
    function: str, result: pa.DataType, flags: int | None = None, nullable: bool = False
) -> Build:
    """Binds `function(text, pattern, …)`; `flags` is the position of its flags, if it takes any."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        _check(b, node, arguments[1], _NO_FLAGS if flags is None else arguments[flags])
        if flags is not None and function not in _OF_ALL_MATCHES:
            _check_single(b, node, arguments[flags])
        may_be_null = nullable or any(a.nullable for a in arguments)
        return Call(function, tuple(arguments), result, may_be_null)

    return build


def _check(b: Binder, node: exp.Expr, pattern: Expression, flags: Expression) -> None:
    """Checks an expression and its flags where they are constant."""
    given = [a.value if isinstance(a, Literal) else None for a in (pattern, flags)]
    spelled, flagged = given
    if isinstance(spelled, str) and isinstance(flagged, str):
        checked(b, node, lambda: compile_pattern(spelled, flagged))


def _check_single(b: Binder, node: exp.Expr, flags: Expression) -> None:
    if isinstance(flags, Literal) and isinstance(flags.value, str) and "g" in flags.value:
        raise b.fault(InvalidLiteral, "the flag 'g' is of no function for a single match", node)


def _operator(flags: str) -> Callable[[Binder, exp.Binary], Bound]:
    """`~` and `~*`."""

    def bind(b: Binder, node: exp.Binary) -> Bound:
        text = b.as_type(node.left, TEXT, "the text of ~")
        pattern = b.as_type(node.right, TEXT, "the pattern of ~")
        return matching("regexp_like", BOOL)(b, node, [text, pattern, Literal(flags, TEXT)])

    return bind


def like(b: Binder, node: exp.Like | exp.ILike, escape: Expression = _BACKSLASH) -> Bound:
    """Binds `[I]LIKE`."""
    b.session.source.only(node, ("this", "expression", "negate"))
    function = "ilike" if isinstance(node, exp.ILike) else "like"
    text = b.as_type(node.this, TEXT, "LIKE's left side")
    pattern = b.as_type(node.expression, TEXT, "LIKE's pattern")
    if escape != _BACKSLASH:
        pattern = _rewritten("like_escape", pattern, escape)
    matched = predicate(function, text, pattern)
    return negation(matched) if node.args.get("negate") else matched


def _rewritten(function: str, pattern: Expression, escape: Expression) -> Expression:
    """A pattern without an escape of its own; constant if both are."""
    whole = call(function, pattern, escape, result=TEXT)
    return computed(whole) if all(isinstance(a, Literal) for a in (pattern, escape)) else whole


def similar_to(b: Binder, node: exp.SimilarTo, escape: Expression = _BACKSLASH) -> Bound:
    """Binds `text SIMILAR TO pattern`."""
    text = b.as_type(node.left, TEXT, "the text of SIMILAR TO")
    pattern = b.as_type(node.right, TEXT, "the pattern of SIMILAR TO")
    regular = _rewritten("similar_escape", pattern, escape)
    return matching("regexp_like", BOOL)(b, node, [text, regular, _NO_FLAGS])


def escaped(b: Binder, node: exp.Escape) -> Bound:
    """Binds `LIKE … ESCAPE 'c'` and `SIMILAR TO … ESCAPE 'c'`, also after NOT."""
    inner = node.this
    escape = b.as_type(node.expression, TEXT, "an escape")
    if isinstance(escape, Literal) and isinstance(escape.value, str) and len(escape.value) > 1:
        raise b.fault(InvalidLiteral, "an escape is one character, or none", node)
    if isinstance(inner, exp.Not):
        return negation(_escaped(b, inner.this, escape))
    return _escaped(b, inner, escape)


def _escaped(b: Binder, node: exp.Expr, escape: Expression) -> Expression:
    if isinstance(node, exp.SimilarTo):
        bound = similar_to(b, node, escape)
    elif isinstance(node, exp.Like | exp.ILike):
        bound = like(b, node, escape)
    else:
        raise b.session.source.unsupported("ESCAPE of anything but LIKE and SIMILAR TO", node)
    assert isinstance(bound, Call | Literal)
    return bound


def part(
    b: Binder, node: exp.Expr, text: Expression, pattern: Expression, escape: Expression | None
) -> Expression:
    """Binds `substring(text from pattern)`, and with an escape that of a SIMILAR pattern."""
    if escape is not None:
        pattern = _rewritten("similar_escape", pattern, escape)
    return matching("regexp_substring", TEXT, nullable=True)(b, node, [text, pattern])


def _function(
    function: str,
    result: pa.DataType,
    defaults: tuple[Literal, ...],
    flags: int | None,
    nullable: bool = False,
    texts: int = 2,
) -> Signature:
    """A function of texts, the first two and perhaps more, and then of `defaults`."""
    takes = (*(TEXT,) * texts, *(d.type for d in defaults))
    return Signature(takes, build=matching(function, result, flags, nullable), defaults=defaults)


FUNCTIONS: Signatures = {
    "like": (Signature((TEXT, TEXT), BOOL, "like"),),
    "regexp_count": (_function("regexp_count", INT, (_ONE, _NO_FLAGS), 3),),
    "regexp_instr": (_function("regexp_instr", INT, (_ONE, _ONE, _ZERO, _NO_FLAGS, _ZERO), 5),),
    "regexp_like": (_function("regexp_like", BOOL, (_NO_FLAGS,), 2),),
    "regexp_match": (_function("regexp_match", _TEXTS, (_NO_FLAGS,), 2, nullable=True),),
    "regexp_replace": (
        _function("regexp_replace_flagged", TEXT, (_NO_FLAGS,), 3, texts=3),
        _function("regexp_replace", TEXT, (_ONE, _ONE, _NO_FLAGS), 5, texts=3),
    ),
    "regexp_split_to_array": (_function("regexp_split", _TEXTS, (_NO_FLAGS,), 2),),
    "regexp_substr": (
        _function("regexp_substr", TEXT, (_ONE, _ONE, _NO_FLAGS, _ZERO), 4, nullable=True),
    ),
    "similar_escape": (Signature((TEXT, TEXT), TEXT),),
    "similar_to_escape": (Signature((TEXT, TEXT), TEXT, "similar_escape", defaults=(_BACKSLASH,)),),
    "like_escape": (Signature((TEXT, TEXT), TEXT),),
}
SETS: Signatures = {
    "regexp_matches": (_function("regexp_matches", pa.list_(_TEXTS), (_NO_FLAGS,), 2),),
    "regexp_split_to_table": FUNCTIONS["regexp_split_to_array"],
}
_BINARY = ("this", "expression")
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Escape: Handler(escaped, _BINARY),
    exp.ILike: Handler(like, (*_BINARY, "negate")),
    exp.Like: Handler(like, (*_BINARY, "negate")),
    exp.RegexpILike: Handler(_operator("i"), _BINARY),
    exp.RegexpLike: Handler(_operator(""), _BINARY),
    exp.SimilarTo: Handler(similar_to, _BINARY),
}
