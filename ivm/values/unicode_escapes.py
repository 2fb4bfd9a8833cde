"""Characters that are spelled by their codes, as in U&'…' and by `unistr`."""

import re

_CODES = r"([0-9a-fA-F]{4})|\+([0-9a-fA-F]{6})"
_LETTERED = rf"{_CODES}|u([0-9a-fA-F]{{4}})|U([0-9a-fA-F]{{8}})"


def unescaped(text: str, escape: str = "\\", lettered: bool = False) -> str:
    """Replace escapes by their characters; with `lettered` those after u and U too.

    Raises ValueError for an escape that is no character.

    >>> unescaped("d!0061ta", "!")
    'data'
    """
    mark = re.escape(escape)
    pattern = re.compile(f"{mark}(?:{mark}|{_LETTERED if lettered else _CODES})|{mark}")

    def character(found: re.Match[str]) -> str:
        if found[0] == escape + escape:
            return escape
        if found[0] == escape:
            raise ValueError(text)
        return chr(int(next(code for code in found.groups() if code), 16))

    units = pattern.sub(character, text).encode("utf-16", "surrogatepass")
    spelled = units.decode("utf-16")  # pairs are one character
    if "\0" in spelled:
        raise ValueError(text)
    return spelled
