"""Patterns of LIKE and SIMILAR TO with an escape character of their own, rewritten."""


def _only(escape: str) -> str:
    if len(escape) > 1:
        raise ValueError(f"{escape!r} is no escape character")
    return escape


def like_escape(pattern: str, escape: str) -> str:
    """Rewrite a pattern of LIKE to one whose escape is a backslash; an empty escape is none.

    >>> like_escape("a#%b", "#")
    'a\\\\%b'
    """
    if _only(escape) == "\\":
        return pattern
    out, characters = [], iter(pattern)
    for c in characters:
        if c == escape:
            out.append("\\" + next(characters, ""))
        else:
            out.append("\\\\" if c == "\\" else c)
    return "".join(out)


def similar_escape(pattern: str, escape: str) -> str:
    """Rewrite a pattern of SIMILAR TO to a regular expression for the whole text.

    The part between two escaped quotes becomes the group that `substring` gives.

    >>> similar_escape("a_%", "")
    '^(?:a..*)$'
    """
    _only(escape)
    out, characters = [], iter(pattern)
    inside, quotes = False, 0
    for c in characters:
        if c == escape:
            following = next(characters, "")
            if following == '"' and not inside:
                out.append(_quote(quotes))
                quotes += 1
            elif following:
                out.append("\\" + following)
        elif inside:
            out.append("\\\\" if c == "\\" else c)
            inside = c != "]"
        else:
            out.append(_SPELLED.get(c, c))
            inside = c == "["
    return f"^(?:{''.join(out)})$"


_SPELLED = {"%": ".*", "_": ".", "(": "(?:", "\\": "\\\\", ".": "\\.", "^": "\\^", "$": "\\$"}


def _quote(before: int) -> str:
    """Write the end of the part before an escaped quote, which `before` others precede."""
    if before > 1:
        raise ValueError("a pattern has at most two escaped quotes")
    return "){1,1}(?:" if before else "){1,1}?("
