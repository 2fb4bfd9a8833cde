"""JSON paths written as PostgreSQL writes them: keys in quotes, operations in parentheses.

>>> written(parse_path('$.a[*] ? (@.b > 1 && $x != "y")'))
'$."a"[*]?(@."b" > 1 && $"x" != "y")'
"""

import json
from decimal import Decimal
from typing import assert_never

from ivm.values.json_path_syntax import (
    Arithmetic,
    Comparison,
    Connective,
    Constant,
    Descent,
    Elements,
    Exists,
    Filter,
    Matches,
    Member,
    Method,
    Node,
    Not,
    Path,
    Place,
    Sign,
    Unknown,
    Variable,
    parse_path,
)

__all__ = ["parse_path", "written"]

_BINDING = {"||": 0, "&&": 1, "+": 3, "-": 3, "*": 4, "/": 4, "%": 4}
_COMPARED, _SIGNED, _ATOM = 2, 5, 6


def written(path: Path) -> str:
    """Write a path."""
    return ("strict " if path.strict else "") + _whole(path.tree)


def _whole(node: Node) -> str:
    """A node in parentheses, if it is an operation."""
    return f"({_text(node)})" if _binding(node) < _ATOM else _text(node)


def _binding(node: Node) -> int:
    match node:
        case Connective() | Arithmetic():
            return _BINDING[node.operator]
        case Comparison() | Matches():
            return _COMPARED
        case Sign():
            return _SIGNED if _number(node) is None else _ATOM
        case _:
            return _ATOM


def _number(node: Node) -> int | Decimal | None:
    """The number that a node is, with its signs."""
    match node:
        case Constant(value) if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return value
        case Sign(sign, of):
            number = _number(of)
            return -number if number is not None and sign == "-" else number
        case _:
            return None


def _base(node: Node) -> str:
    """The text before accessors: a number stands in parentheses, so that no point joins it."""
    return f"({_text(node)})" if _number(node) is not None else _whole(node)


def _inner(node: Node, outer: Node) -> str:
    return _whole(node) if _binding(node) <= _binding(outer) else _text(node)


def _text(tree: Node) -> str:
    match tree:
        case Constant(value):
            return _constant(value)
        case Variable(name):
            return f"${_quoted(name)}"
        case Place(symbol):
            return symbol
        case Member(of, key):
            return f"{_base(of)}.{'*' if key is None else _quoted(key)}"
        case Elements(of, ranges):
            return f"{_base(of)}[{','.join(map(_range, ranges)) or '*'}]"
        case Descent(of, first, last):
            return f"{_base(of)}.**{_levels(first, last)}"
        case Filter(of, predicate):
            return f"{_base(of)}?({_text(predicate)})"
        case Method(of, name, argument):
            return f"{_base(of)}.{name}({'' if argument is None else _quoted(argument)})"
        case Sign(sign, of):
            number = _number(tree)
            return sign + _inner(of, tree) if number is None else _constant(number)
        case Comparison(sign, left, right):
            shown = {"starts": "starts with", "<>": "!="}.get(sign, sign)
            return f"{_inner(left, tree)} {shown} {_inner(right, tree)}"
        case Arithmetic(sign, left, right) | Connective(sign, left, right):
            return f"{_inner(left, tree)} {sign} {_inner(right, tree)}"
        case Matches(of, _, pattern, flags):
            flag = f' flag "{"".join(f for f in "ismxq" if f in flags)}"' if flags else ""
            return f"{_inner(of, tree)} like_regex {_quoted(pattern)}{flag}"
        case Exists(of):
            return f"exists ({_text(of)})"
        case Unknown(predicate):
            return f"({_text(predicate)}) is unknown"
        case Not(predicate):
            return f"!({_text(predicate)})"
        case _:
            assert_never(tree)


def _constant(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value)


def _range(given: tuple[Node, Node]) -> str:
    first, last = given
    return _text(first) if first is last else f"{_text(first)} to {_text(last)}"


def _levels(first: int | None, last: int | None) -> str:
    if (first, last) == (0, None):
        return ""
    names = ["last" if level is None else str(level) for level in (first, last)]
    return "{" + " to ".join(dict.fromkeys(names)) + "}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
