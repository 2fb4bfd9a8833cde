"""Random changes of a text: what a typist, a program gone wrong or an attacker might make of it."""

import re
from collections.abc import Sequence
from random import Random

_TOKEN = re.compile(r"\s+|\w+|.", re.DOTALL)
_ODD = [
    "", "\x00", "\ud800", "é", "'", '"', "$$", "--", "/*", "*/", "//", ";", "(", ")", "{", "}",
    "[", "]", "..", "::", ":-", "?-", "!", "_", "%", "\\", "\n", "0x1F", "1e999", "-", "." * 3,
    "99999999999999999999999999999999999999999", "null", "select", "not", "case", "end", ".output",
]  # fmt: skip
MAX_REPEATS = 300


def mutate(text: str, others: Sequence[str], random: Random) -> str:
    """`text` after one or two changes; `others` are texts to take parts from."""
    tokens = _TOKEN.findall(text)
    for _ in range(random.randint(1, 2)):
        at = random.randrange(len(tokens) + 1)
        to = min(len(tokens), at + random.randint(1, 8))
        match random.randrange(7):
            case 0:
                del tokens[at:to]
            case 1:
                tokens[at:at] = tokens[at:to]
            case 2:
                tokens[at:to] = [random.choice(_ODD)]
            case 3:
                tokens[at:at] = [random.choice(_ODD)]
            case 4:
                given = _TOKEN.findall(random.choice(others))
                start = random.randrange(len(given) + 1)
                tokens[at:to] = given[start : start + random.randint(1, 20)]
            case 5:
                tokens[at:to] = reversed(tokens[at:to])
            case 6:
                tokens[at:to] = tokens[at:to] * random.randint(2, MAX_REPEATS)
    return "".join(tokens)
