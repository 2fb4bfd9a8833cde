"""Functions of regular expressions, whose patterns, flags and replacements are constants."""

import re
from collections.abc import Callable
from typing import Any

from ivm.dataflow.expressions import Call
from ivm.errors import Unsupported
from ivm.expressions.python.script import Script, constant
from ivm.values.patterns import Pattern, compile_pattern


def extracting(call: Call, *flags: int) -> Pattern:
    """Compile the pattern of a call that extracts matches; `flags` is the position of its flags."""
    spelled = str(constant(call, flags[0])) if flags else ""
    pattern = compile_pattern(str(constant(call, 1)), spelled)
    if pattern.mixed:
        raise Unsupported("what matches an expression with both greedy and lazy quantifiers")
    return pattern


def replacer(call: Call) -> Callable[[str], str]:
    """`regexp_replace(text, pattern, replacement, flags)`: the first match, or with `g` all."""
    pattern = extracting(call, 3)
    template = _template(str(constant(call, 2)))
    every = "g" in str(constant(call, 3))

    def replace(text: str) -> str:
        out, copied = [], 0
        for start, end in pattern.matches(text):
            groups: tuple[str | None, ...] = ()
            if any(isinstance(part, int) and part for part in template):
                groups = pattern.groups(text, start, end)
            out.append(text[copied:start])
            for part in template:
                if isinstance(part, str):
                    out.append(part)
                elif part == 0:
                    out.append(text[start:end])
                elif part <= len(groups):
                    out.append(groups[part - 1] or "")
            copied = end
            if not every:
                break
        return "".join([*out, text[copied:]])

    return replace


def _template(replacement: str) -> list[str | int]:
    """Split a replacement into texts and numbers of groups, 0 for the whole match."""
    parts: list[str | int] = []
    for piece in re.findall(r"\\[1-9]|\\&|\\\\|[^\\]+|\\", replacement):
        if piece == "\\&":
            parts.append(0)
        elif len(piece) == 2 and piece[0] == "\\" and piece[1] != "\\":
            parts.append(int(piece[1]))
        else:
            parts.append("\\" if piece == "\\\\" else piece)
    return parts


def substring(call: Call) -> Callable[[str], str | None]:
    """`substring(text from pattern)`: the first group's match, or the whole without groups."""
    pattern = extracting(call)

    def find(text: str) -> str | None:
        for start, end in pattern.matches(text):
            return pattern.groups(text, start, end)[0] if pattern.whole.groups else text[start:end]
        return None

    return find


def substr(call: Call) -> Callable[[str], str | None]:
    """`regexp_substr(text, pattern, flags)`: the first match."""
    pattern = extracting(call, 2)
    return lambda text: next((text[s:e] for s, e in pattern.matches(text)), None)


def match(call: Call) -> Callable[[str], list[str | None] | None]:
    """`regexp_match(text, pattern, flags)`: the groups of the first match, or the whole of it."""
    pattern = extracting(call, 2)

    def find(text: str) -> list[str | None] | None:
        for start, end in pattern.matches(text):
            if not pattern.whole.groups:
                return [text[start:end]]
            return list(pattern.groups(text, start, end))
        return None

    return find


def split(call: Call) -> Callable[[str], list[str]]:
    """`regexp_split_to_array(text, pattern, flags)`; empty matches at the ends do not split."""
    pattern = extracting(call, 2)

    def parts(text: str) -> list[str]:
        out, copied = [], 0
        for start, end in pattern.matches(text):
            if start == end and (start == copied or start == len(text)):
                continue
            out.append(text[copied:start])
            copied = end
        return [*out, text[copied:]]

    return parts


def count(call: Call) -> Callable[[str], int]:
    """`regexp_count(text, pattern, flags)`."""
    pattern = extracting(call, 2)
    return lambda text: sum(1 for _ in pattern.matches(text))


def _script(
    function: Callable[[Call], Callable[..., Any]], constants: int, nullable: bool
) -> Script:
    """A function of text whose other arguments are constants."""
    takes = ("text",) * (1 + constants)
    positions = tuple(range(1, constants + 1))
    return Script(function, takes, nullable=nullable, made=True, constants=positions)


SCRIPTS: dict[str, Script] = {
    "regexp_replace": _script(replacer, 3, nullable=False),
    "regexp_substring": _script(substring, 1, nullable=True),
    "regexp_substr": _script(substr, 2, nullable=True),
    "regexp_match": _script(match, 2, nullable=True),
    "regexp_split": _script(split, 2, nullable=False),
    "regexp_count": _script(count, 2, nullable=False),
}
