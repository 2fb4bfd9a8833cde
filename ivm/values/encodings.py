"""Encodings of text by PostgreSQL's names."""

# Python's codecs by PostgreSQL's names of encodings, without punctuation.
_CODECS = {
    "utf8": "utf-8",
    "unicode": "utf-8",
    "sqlascii": "utf-8",
    **{f"latin{n}": f"iso8859-{n}" for n in (1, 2, 3, 4)},
    **{f"win{n}": f"cp{n}" for n in (866, 874, *range(1250, 1259))},
    **{f"iso8859{n}": f"iso8859-{n}" for n in (5, 6, 7, 8)},
    **{
        f"latin{n}": f"iso8859-{m}"
        for n, m in ((5, 9), (6, 10), (7, 13), (8, 14), (9, 15), (10, 16))
    },
    "koi8r": "koi8-r",
    "koi8u": "koi8-u",
}


def codec(encoding: str) -> str:
    """Give Python's codec of an encoding of PostgreSQL's (raises ValueError).

    >>> codec("LATIN1")
    'iso8859-1'
    """
    plain = "".join(c for c in encoding.lower() if c.isalnum())
    if plain not in _CODECS:
        raise ValueError(f"the encoding {encoding!r} is none of {', '.join(_CODECS)}")
    return _CODECS[plain]
