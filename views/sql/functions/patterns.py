"""Binds regular expressions and SIMILAR TO, with constant patterns, flags and replacements."""

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.patterns import compile_pattern, similar
from views.plan.scalars import call, predicate
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import INT, TEXT, Bound
from views.sql.base.signatures import Build, Signature, Signatures, checked, constant_texts

_TEXTS = pa.list_(TEXT)
_NO_FLAGS = Literal("", TEXT)


def matching(
    function: str, result: pa.DataType, extracting: bool = True, nullable: bool = False
) -> Build:
    """Binds `function(text, pattern, …, flags)` with everything after the text constant."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        text, *rest = arguments
        if any(isinstance(a, Literal) and a.value is None for a in rest):
            return Literal(None, result)
        pattern, *others = constant_texts(b, node, rest, "a regular expression")
        _check(b, node, pattern, others[-1] if others else "", extracting)
        may_be_null = nullable or text.nullable
        return Call(function, (text, *rest), result, may_be_null)

    return build


def _check(b: Binder, node: exp.Expr, pattern: str, flags: str, extracting: bool) -> None:
    checked(b, node, lambda: compile_pattern(pattern, flags))
    if extracting and compile_pattern(pattern, flags).mixed:
        raise b.session.source.unsupported(
            "asking what matches an expression with both greedy and lazy quantifiers", node
        )


def _operator(flags: str) -> Callable[[Binder, exp.Binary], Bound]:
    """`~` and `~*`."""

    def bind(b: Binder, node: exp.Binary) -> Bound:
        text = b.as_type(node.left, TEXT, "the text of ~")
        pattern = b.as_type(node.right, TEXT, "the pattern of ~")
        build = matching("regexp_like", pa.bool_(), extracting=False)
        return build(b, node, [text, pattern, Literal(flags, TEXT)])

    return bind


def similar_to(b: Binder, node: exp.SimilarTo, escape: str = "\\") -> Bound:
    """Binds `text SIMILAR TO pattern`."""
    text = b.as_type(node.left, TEXT, "the text of SIMILAR TO")
    pattern = b.as_type(node.right, TEXT, "the pattern of SIMILAR TO")
    (spelled,) = constant_texts(b, node, [pattern], "a pattern of SIMILAR TO")
    regular = similar(spelled, escape)
    _check(b, node, regular, "", extracting=False)
    return predicate("regexp_like", text, Literal(regular, TEXT), _NO_FLAGS)


def part(b: Binder, node: exp.Expr, text: Expression, pattern: Expression) -> Expression:
    """Binds `substring(text from pattern)`."""
    build = matching("regexp_substring", TEXT, nullable=True)
    return build(b, node, [text, pattern])


_EXTRACTED = ((TEXT, TEXT, TEXT), (_NO_FLAGS,))


def _extracting(function: str, result: pa.DataType, nullable: bool) -> tuple[Signature, ...]:
    takes, defaults = _EXTRACTED
    return (Signature(takes, build=matching(function, result, True, nullable), defaults=defaults),)


def _replace(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    text, pattern, replacement, flags = arguments
    if any(isinstance(a, Literal) and a.value is None for a in arguments):
        return Literal(None, TEXT)
    constants = constant_texts(b, node, [pattern, replacement, flags], "a regular expression")
    _check(b, node, constants[0], constants[2], extracting=True)
    return call("regexp_replace", text, pattern, replacement, flags, result=TEXT)


FUNCTIONS: Signatures = {
    "regexp_like": (
        Signature(
            (TEXT, TEXT, TEXT),
            build=matching("regexp_like", pa.bool_(), False),
            defaults=(_NO_FLAGS,),
        ),
    ),
    "regexp_replace": (Signature((TEXT, TEXT, TEXT, TEXT), build=_replace, defaults=(_NO_FLAGS,)),),
    "regexp_substr": (
        Signature(
            (TEXT, TEXT),
            build=lambda b, n, a: matching("regexp_substr", TEXT, True, True)(
                b, n, [*a, _NO_FLAGS]
            ),
        ),
    ),
    "regexp_match": _extracting("regexp_match", _TEXTS, True),
    "regexp_split_to_array": _extracting("regexp_split", _TEXTS, False),
    "regexp_count": (
        Signature(
            (TEXT, TEXT),
            build=lambda b, n, a: matching("regexp_count", INT)(b, n, [*a, _NO_FLAGS]),
        ),
    ),
}
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.RegexpLike: Handler(_operator(""), ("this", "expression")),
    exp.RegexpILike: Handler(_operator("i"), ("this", "expression")),
    exp.SimilarTo: Handler(similar_to, ("this", "expression")),
}
