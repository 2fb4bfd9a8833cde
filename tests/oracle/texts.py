"""Functions of text: `function(result type, values…)`, no value NULL."""

import re
from collections.abc import Callable

import pyarrow as pa

from tests.oracle.values import Error, Outcome


def _lower(text: str) -> str:
    """One character for one."""
    return "".join(c.lower()[0] for c in text)


def _upper(text: str) -> str:
    """One character for one: what has several capitals has that of titles, or stays."""
    capitals = ([c.upper(), c.title(), c] for c in text)
    return "".join(next(x for x in given if len(x) == 1) for given in capitals)


def substring(kind: pa.DataType, text: str, start: int, length: int) -> Outcome:
    """Characters at positions `start` to `start + length`, where position 1 is the first."""
    if length < 0:
        return Error("negative substring length not allowed")
    return text[max(start - 1, 0) : max(start - 1 + length, 0)]


def split_part(kind: pa.DataType, text: str, separator: str, n: int) -> Outcome:
    """The n-th part, from 1; negative counts from the end."""
    if n == 0:
        return Error("field position must not be zero")
    parts = text.split(separator) if separator else [text]
    index = n - 1 if n > 0 else len(parts) + n
    return parts[index] if 0 <= index < len(parts) else ""


def _pattern(pattern: str) -> Outcome | str:
    out, characters = [], iter(pattern)
    for c in characters:
        if c == "\\":
            escaped = next(characters, None)
            if escaped is None:
                return Error("LIKE pattern must not end with escape character")
            out.append(re.escape(escaped))
        else:
            out.append({"%": ".*", "_": "."}.get(c) or re.escape(c))
    return "".join(out)


def like(kind: pa.DataType, text: str, pattern: str) -> Outcome:
    compiled = _pattern(pattern)
    if isinstance(compiled, Error):
        return compiled
    return re.fullmatch(str(compiled), text, re.DOTALL) is not None


def ilike(kind: pa.DataType, text: str, pattern: str) -> Outcome:
    return like(kind, _lower(text), _lower(pattern))


def replace(kind: pa.DataType, text: str, old: str, new: str) -> Outcome:
    return text.replace(old, new) if old else text


def padding(text: str, n: int, fill: str) -> str:
    """What `text` lacks of `n` characters."""
    wanted = max(n - len(text), 0)
    return "".join(fill[i % len(fill)] for i in range(wanted)) if fill else ""


def translate(kind: pa.DataType, text: str, old: str, new: str) -> Outcome:
    out = []
    for c in text:
        at = old.find(c)
        out.append(c if at < 0 else new[at : at + 1])
    return "".join(out)


FUNCTIONS: dict[str, Callable[..., Outcome]] = {
    "lower": lambda kind, a: _lower(a),
    "upper": lambda kind, a: _upper(a),
    "trim": lambda kind, a: a.strip(" "),
    "ltrim": lambda kind, a: a.lstrip(" "),
    "rtrim": lambda kind, a: a.rstrip(" "),
    "concat": lambda kind, *parts: "".join(parts),
    "length": lambda kind, a: len(a),
    "substring": substring,
    "replace": replace,
    "split_part": split_part,
    "position": lambda kind, text, what: text.find(what) + 1,
    "starts_with": lambda kind, text, prefix: text.startswith(prefix),
    "left": lambda kind, text, n: text[: n if n >= 0 else max(len(text) + n, 0)],
    "right": lambda kind, text, n: text[max(len(text) - n, 0) if n >= 0 else -n :],
    "lpad": lambda kind, text, n, fill: padding(text, n, fill) + text[: max(n, 0)],
    "rpad": lambda kind, text, n, fill: text[: max(n, 0)] + padding(text, n, fill),
    "repeat": lambda kind, text, n: "".join(text for _ in range(n)),
    "reverse": lambda kind, text: "".join(reversed(text)),
    "strip": lambda kind, text, what: text.strip(what) if what else text,
    "lstrip": lambda kind, text, what: text.lstrip(what) if what else text,
    "rstrip": lambda kind, text, what: text.rstrip(what) if what else text,
    "translate": translate,
    "octet_length": lambda kind, text: len(text.encode()),
    "ascii": lambda kind, text: ord(text[0]) if text else 0,
    "like": like,
    "ilike": ilike,
}
