"""Upper and lower case, one character for one, as PostgreSQL has them in C.UTF-8.

Python's full mappings differ in few characters: some become several, as in German ß, which stays;
a capital sigma is written otherwise at the end of a word.

>>> upper("straße")
'STRAßE'
"""


def upper(text: str) -> str:
    """Write a text in upper case, of the same length in characters.

    >>> upper("straße")
    'STRAßE'
    """
    whole = text.upper()
    return whole if len(whole) == len(text) else "".join(map(_upper, text))


def lower(text: str) -> str:
    """Write a text in lower case, of the same length in characters.

    >>> lower("ÄB")
    'äb'
    """
    return "".join(c.lower()[0] for c in text)


def _upper(character: str) -> str:
    """Give the one capital of a character; of several, the one that begins a title, or itself."""
    for capital in (character.upper(), character.title()):
        if len(capital) == 1:
            return capital
    return character
