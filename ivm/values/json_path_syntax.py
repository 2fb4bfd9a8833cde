"""The SQL/JSON path language of PostgreSQL, parsed to trees.

A tree is an expression, which yields items, or a predicate, which is true, false or unknown.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ivm.errors import Unsupported
from ivm.values.patterns import Pattern, compile_pattern


@dataclass(frozen=True, slots=True)
class Constant:
    """A null, a boolean, a number or a text."""

    value: Any


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that is given by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Place:
    """`$`, the document; `@`, the item that is filtered; or `last`, the last position."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Member:
    """`.key`, or `.*` if the key is None."""

    of: "Node"
    key: str | None


@dataclass(frozen=True, slots=True)
class Elements:
    """`[first to last, …]`; all elements if there are no ranges."""

    of: "Node"
    ranges: tuple[tuple["Node", "Node"], ...]


@dataclass(frozen=True, slots=True)
class Descent:
    """`.**{first to last}`: what is within, at these levels; None is the deepest."""

    of: "Node"
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Filter:
    """`? (predicate)`."""

    of: "Node"
    predicate: "Node"


@dataclass(frozen=True, slots=True)
class Method:
    """`.name()`; of `datetime` alone the argument is a template."""

    of: "Node"
    name: str
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Sign:
    """`+` or `-` before numbers."""

    operator: str
    of: "Node"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An operation on two numbers."""

    operator: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of any items of both sides, or `starts with`."""

    operator: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Matches:
    """`like_regex`."""

    of: "Node"
    pattern: Pattern
    text: str
    flags: str


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether there is an item."""

    of: "Node"


@dataclass(frozen=True, slots=True)
class Unknown:
    """`(predicate) is unknown`."""

    predicate: "Node"


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a predicate."""

    predicate: "Node"


@dataclass(frozen=True, slots=True)
class Connective:
    """`&&` or `||` of two predicates."""

    operator: str
    left: "Node"
    right: "Node"


Predicate = Comparison | Matches | Exists | Unknown | Not | Connective
Node = (
    Constant | Variable | Place | Member | Elements | Descent | Filter | Method | Sign
    | Arithmetic | Predicate
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path; a `strict` one has an error where a lax one has no item."""

    tree: Node
    strict: bool


_LETTER = r'[^\s?%$.\[\]{}()|&!=<>@#,*:+\-/\\"]'
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TOKEN = re.compile(
    rf"""\s+ | /\*.*?\*/
    | (?P<string>{_QUOTED})
    | (?P<variable>\$(?:{_QUOTED}|{_LETTER}+))
    | (?P<number>(?:(?:(?:0|[1-9]\d*)\.\d*|\.\d+)(?:[eE][+-]?\d+)?
        |(?:0|[1-9]\d*)(?:[eE][+-]?\d+)?(?!\.))(?![\w$]))
    | (?P<name>(?!\d)(?:{_LETTER}|\\u\{{[0-9a-fA-F]+\}}|\\.)+)
    | (?P<sign>&&|\|\||==|!=|<>|<=|>=|\*\*|[?%$.\[\]{{}}()!<>@,*+\-/])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|((?:u[dD][89abAB][0-9a-fA-F]{2}\\)?u[0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))",
    re.DOTALL,
)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_METHODS = frozenset({"abs", "ceiling", "datetime", "double", "floor", "keyvalue", "size", "type"})
_KEYWORDS = frozenset({"true", "false", "null", "last"})
_COMPARISONS = frozenset({"==", "!=", "<>", "<", "<=", ">", ">="})


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code, units, byte, plain = found.groups()
        if units:
            return str(json.loads(f'"\\{units}"'))
        if code or byte:
            return chr(int(code or byte, 16))
        if plain in "ux":
            raise ValueError(text)
        return _CONTROLS.get(plain, plain)

    return _ESCAPE.sub(character, text)


def _tokens(text: str) -> list[tuple[str, str]]:
    """Split a path into tokens with their kinds (raises ValueError)."""
    tokens, at = [], 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"a JSON path goes wrong at {text[at:][:20]!r}")
        at, kind, token = found.end(), found.lastgroup, found[0]
        if kind == "string":
            token = _unescaped(token[1:-1])
        elif kind == "variable":
            token = _unescaped(token[2:-1] if token[1] == '"' else token[1:])
        elif kind == "name":
            token = _unescaped(token)
        if kind is not None:
            tokens.append((kind, token))
    return [*tokens, ("end", "")]


# Parts of a path within one another.
MOST_NESTED = 100


@dataclass(slots=True)
class _Reader:
    """Reads tokens from `at` on; `filters`, `subscripts`, `depth` are those around."""

    tokens: list[tuple[str, str]]
    at: int = 0
    filters: int = 0
    subscripts: int = 0
    depth: int = 0

    def _deeper(self, part: Callable[[], Node]) -> Node:
        """A part within another (raises Unsupported)."""
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise Unsupported("a JSON path nested so deeply")
        found = part()
        self.depth -= 1
        return found

    def _is(self, *signs: str, kind: str = "sign") -> bool:
        return self.tokens[self.at][0] == kind and self.tokens[self.at][1] in signs

    def _take(self, sign: str, kind: str = "sign") -> bool:
        found = self._is(sign, kind=kind)
        self.at += found
        return found

    def _next(self, kind: str) -> str | None:
        """Take a token of a kind, if it is the next."""
        if self.tokens[self.at][0] != kind:
            return None
        self.at += 1
        return self.tokens[self.at - 1][1]

    def fault(self) -> ValueError:
        kind, token = self.tokens[self.at]
        return ValueError(f"a JSON path goes wrong at {'its end' if kind == 'end' else token}")

    def need(self, sign: str, kind: str = "sign") -> None:
        if not self._take(sign, kind):
            raise self.fault()

    def path(self) -> Path:
        strict = self._take("strict", "name")
        if not strict:
            self._take("lax", "name")
        tree = self.any_of()
        self.need("", "end")
        return Path(tree, strict)

    def any_of(self) -> Node:
        return self._connected("||", lambda: self._connected("&&", self._negated))

    def _connected(self, operator: str, part: Callable[[], Node]) -> Node:
        left = part()
        while self._take(operator):
            left = Connective(operator, self._predicate(left), self._predicate(part()))
        return left

    def _predicate(self, node: Node) -> Node:
        if not isinstance(node, Predicate):
            raise self.fault()
        return node

    def _expression(self, node: Node) -> Node:
        if isinstance(node, Predicate):
            raise self.fault()
        return node

    def _negated(self) -> Node:
        if self._take("!"):
            if not self._is("(") and not self._is("exists", kind="name"):
                raise self.fault()
            return Not(self._predicate(self._compared()))
        return self._compared()

    def _compared(self) -> Node:
        left = self._sum()
        if self._is(*_COMPARISONS):
            operator = self.tokens[self.at][1]
            self.at += 1
            return Comparison(operator, self._expression(left), self._expression(self._sum()))
        if self._take("starts", "name"):
            self.need("with", "name")
            right = self._primary()
            if not isinstance(getattr(right, "value", ""), str) or not isinstance(
                right, Variable | Constant
            ):
                raise self.fault()
            return Comparison("starts", self._expression(left), right)
        if self._take("like_regex", "name"):
            return self._matches(self._expression(left))
        return left

    def _matches(self, of: Node) -> Matches:
        pattern, flags = self._next("string"), ""
        if pattern is None:
            raise self.fault()
        if self._take("flag", "name"):
            flags = self._next("string") or ""
        if set(flags) - set("ismxq" if "q" in flags else "ismq"):
            raise ValueError(f"the flags {flags!r} of like_regex")
        lines = {(False, False): "p", (False, True): "n", (True, True): "w", (True, False): "s"}
        compiled = compile_pattern(
            pattern,
            lines["s" in flags, "m" in flags] + "".join(f for f in flags if f in "iq"),
        )
        return Matches(of, compiled, pattern, flags)

    def _sum(self) -> Node:
        return self._computed("+-", lambda: self._computed("*/%", self._signed))

    def _computed(self, operators: str, part: Callable[[], Node]) -> Node:
        left = part()
        while self._is(*operators):
            operator = self.tokens[self.at][1]
            self.at += 1
            left = Arithmetic(operator, self._expression(left), self._expression(part()))
        return left

    def _signed(self) -> Node:
        if self._is("+", "-"):
            operator = self.tokens[self.at][1]
            self.at += 1
            return Sign(operator, self._expression(self._deeper(self._signed)))
        return self._accessed(self._primary())

    def _primary(self) -> Node:
        for kind, make in _PRIMARIES.items():
            token = self._next(kind)
            if token is not None:
                return make(token)
        if self._take("("):
            inner = self._deeper(self.any_of)
            self.need(")")
            if isinstance(inner, Predicate) and self._take("is", "name"):
                self.need("unknown", "name")
                return Unknown(inner)
            return inner
        if self._take("$") or (self.filters and self._take("@")):
            return Place(self.tokens[self.at - 1][1])
        return self._word()

    def _word(self) -> Node:
        if self._take("exists", "name"):
            self.need("(")
            inner = self._expression(self._sum())
            self.need(")")
            return Exists(inner)
        if self.subscripts and self._take("last", "name"):
            return Place("last")
        constants = {"true": True, "false": False, "null": None}
        name = self.tokens[self.at][1]
        if self.tokens[self.at][0] != "name" or name not in constants:
            raise self.fault()
        self.at += 1
        return Constant(constants[name])

    def _accessed(self, node: Node) -> Node:
        while True:
            if self._take("."):
                node = self._member(node)
            elif self._take("["):
                node = self._elements(node)
            elif self._take("?"):
                self.need("(")
                self.filters += 1
                node = Filter(node, self._predicate(self.any_of()))
                self.filters -= 1
                self.need(")")
            else:
                return node

    def _member(self, of: Node) -> Node:
        if self._take("**"):
            return self._descent(of)
        if self._take("*"):
            return Member(of, None)
        quoted = self._next("string")
        if quoted is not None:
            return Member(of, quoted)
        name = self._next("name")
        if name is None:
            raise self.fault()
        if not self._take("("):
            return Member(of, name)
        if name not in _METHODS:
            raise ValueError(f"a JSON path has no method {name}()")
        argument = self._next("string") if name == "datetime" else None
        self.need(")")
        return Method(of, name, argument)

    def _descent(self, of: Node) -> Node:
        if not self._take("{"):
            return Descent(of, 0, None)
        first = self._level()
        last = self._level() if self._take("to", "name") else first
        self.need("}")
        return Descent(of, first, last)

    def _level(self) -> int | None:
        if self._take("last", "name"):
            return None
        level = self._next("number")
        if level is None:
            raise self.fault()
        return int(level)

    def _elements(self, of: Node) -> Node:
        if self._take("*"):
            self.need("]")
            return Elements(of, ())
        self.subscripts += 1
        ranges = [self._range()]
        while self._take(","):
            ranges.append(self._range())
        self.subscripts -= 1
        self.need("]")
        return Elements(of, tuple(ranges))

    def _range(self) -> tuple[Node, Node]:
        first = self._expression(self._sum())
        if self._take("to", "name"):
            return first, self._expression(self._sum())
        return first, first


_PRIMARIES: dict[str, Callable[[str], Node]] = {
    "number": lambda token: Constant(int(token) if token.isdigit() else Decimal(token)),
    "string": Constant,
    "variable": Variable,
}


def parse_path(text: str) -> Path:
    """Parse a path (raises ValueError for none, Unsupported for one that cannot be followed).

    >>> parse_path("strict $.id")
    Path(tree=Member(of=Place(symbol='$'), key='id'), strict=True)
    """
    try:
        return _Reader(_tokens(text)).path()
    except RecursionError as error:
        raise Unsupported("a JSON path nested so deeply") from error
