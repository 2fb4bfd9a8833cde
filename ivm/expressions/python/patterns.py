"""Functions of regular expressions; an expression, or a flag, that is none raises ValueError."""

import re
from functools import lru_cache
from itertools import islice

from ivm.expressions.python.script import Script
from ivm.values.patterns import Matching, Span, compile_pattern, has_match
from ivm.values.similar import like_escape, similar_escape

_CACHED_TEMPLATES = 1024


def _matching(text: str, pattern: str, flags: str) -> Matching:
    """The matches of an expression for a function that does not know the flag `g`."""
    if "g" in flags:
        raise ValueError("the flag 'g'")
    return compile_pattern(pattern, flags).on(text)


def _nth(matching: Matching, start: int, n: int) -> Span | None:
    """Find the `n`th match from the character `start`; both count from 1."""
    if start < 1 or n < 1:
        raise ValueError((start, n))
    return next(islice(matching.spans(start - 1), n - 1, None), None)


def _part(matching: Matching, span: Span | None, group: int) -> Span | None:
    """Find the span of a group in a match, of the whole as group 0."""
    if group < 0:
        raise ValueError(group)
    if span is None or group == 0:
        return span
    groups = matching.groups(span)
    return groups[group - 1] if group <= len(groups) else None


def like(text: str, pattern: str, flags: str) -> bool:
    """`regexp_like(text, pattern, flags)`."""
    _matching(text, pattern, flags)
    return has_match(compile_pattern(pattern, flags), text)


def replace(text: str, pattern: str, template: str, start: int, n: int, flags: str) -> str:
    """`regexp_replace` of the `n`th match from the character `start`, or of all if it is 0."""
    if start < 1 or n < 0:
        raise ValueError((start, n))
    matching, parts = compile_pattern(pattern, flags).on(text), _template(template)
    spans = matching.spans(start - 1)
    out, copied = [], 0
    for begin, end in spans if n == 0 else islice(spans, n - 1, n):
        groups: list[str | None] = [text[begin:end]]
        if any(isinstance(part, int) and part for part in parts):
            groups += matching.texts((begin, end))
        out.append(text[copied:begin])
        out += [_filled(part, groups) for part in parts]
        copied = end
    return "".join([*out, text[copied:]])


def _filled(part: str | int, groups: list[str | None]) -> str:
    if isinstance(part, str):
        return part
    return (groups[part] if part < len(groups) else None) or ""


def replace_flagged(text: str, pattern: str, template: str, flags: str) -> str:
    """`regexp_replace(text, pattern, template, flags)`: the first match, or with `g` all."""
    return replace(text, pattern, template, 1, 0 if "g" in flags else 1, flags)


@lru_cache(_CACHED_TEMPLATES)
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


def substring(text: str, pattern: str) -> str | None:
    """`substring(text from pattern)`: the first group's match, or the whole without groups."""
    matching = compile_pattern(pattern).on(text)
    span = next(matching.spans(), None)
    if span is None:
        return None
    return _cut(text, matching.groups(span)[0] if compile_pattern(pattern).groups else span)


def _cut(text: str, span: Span | None) -> str | None:
    return None if span is None else text[span[0] : span[1]]


def substr(text: str, pattern: str, start: int, n: int, flags: str, group: int) -> str | None:
    """`regexp_substr(text, pattern, start, n, flags, group)`."""
    matching = _matching(text, pattern, flags)
    return _cut(text, _part(matching, _nth(matching, start, n), group))


def position(text: str, pattern: str, start: int, n: int, end: int, flags: str, group: int) -> int:
    """`regexp_instr(text, pattern, start, n, end, flags, group)`: 0 without a match."""
    if end not in (0, 1):
        raise ValueError(end)
    matching = _matching(text, pattern, flags)
    span = _part(matching, _nth(matching, start, n), group)
    return 0 if span is None else span[end] + 1


def match(text: str, pattern: str, flags: str) -> list[str | None] | None:
    """`regexp_match(text, pattern, flags)`: the groups of the first match, or the whole of it."""
    _matching(text, pattern, flags)
    return next(iter(all_matches(text, pattern, flags)), None)


def all_matches(text: str, pattern: str, flags: str) -> list[list[str | None]]:
    """`regexp_matches(text, pattern, flags)`: with the flag `g` all matches, else the first."""
    matching = compile_pattern(pattern, flags).on(text)
    spans = islice(matching.spans(), None if "g" in flags else 1)
    if compile_pattern(pattern, flags).groups:
        return [matching.texts(span) for span in spans]
    return [[text[begin:end]] for begin, end in spans]


def split(text: str, pattern: str, flags: str) -> list[str]:
    """`regexp_split_to_array(text, pattern, flags)`; empty matches at the ends do not split."""
    out, copied = [], 0
    for start, end in _matching(text, pattern, flags).spans():
        if start == end and (start == copied or start == len(text)):
            continue
        out.append(text[copied:start])
        copied = end
    return [*out, text[copied:]]


def count(text: str, pattern: str, start: int, flags: str) -> int:
    """`regexp_count(text, pattern, start, flags)`."""
    if start < 1:
        raise ValueError(start)
    return sum(1 for _ in _matching(text, pattern, flags).spans(start - 1))


_TEXTS = ("text", "text", "text")
SCRIPTS: dict[str, Script] = {
    "like_escape": Script(like_escape, ("text", "text")),
    "regexp_count": Script(count, ("text", "text", "signed", "text")),
    "regexp_instr": Script(
        position, ("text", "text", "signed", "signed", "signed", "text", "signed")
    ),
    "regexp_like_any": Script(like, _TEXTS),
    "regexp_match": Script(match, _TEXTS, nullable=True),
    "regexp_matches": Script(all_matches, _TEXTS),
    "regexp_replace": Script(replace, (*_TEXTS, "signed", "signed", "text")),
    "regexp_replace_flagged": Script(replace_flagged, (*_TEXTS, "text")),
    "regexp_split": Script(split, _TEXTS),
    "regexp_substr": Script(
        substr, ("text", "text", "signed", "signed", "text", "signed"), nullable=True
    ),
    "regexp_substring": Script(substring, ("text", "text"), nullable=True),
    "similar_escape": Script(similar_escape, ("text", "text")),
}
