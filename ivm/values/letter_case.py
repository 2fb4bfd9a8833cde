"""Upper and lower case, one character for one, as PostgreSQL has them in C.UTF-8.

Python's full mappings differ in few characters: some become several, as in German ß, which stays;
a capital sigma is written otherwise at the end of a word.
"""


def upper(text: str) -> str:
    """The text in upper case."""
    whole = text.upper()
    return whole if len(whole) == len(text) else "".join(map(_upper, text))


def lower(text: str) -> str:
    """The text in lower case."""
    return "".join(c.lower()[0] for c in text)


def _upper(character: str) -> str:
    """Its one capital; of what has several, the one that begins a title, or itself."""
    for capital in (character.upper(), character.title()):
        if len(capital) == 1:
            return capital
    return character
