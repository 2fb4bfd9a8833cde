"""Limits on the size of a query, checked before it is parsed.

Compiling takes time and memory in proportion to the words of the text, and one query is compiled
at a time. The limits are the operator's.
"""

import re
from dataclasses import dataclass
from itertools import islice

from views.errors import QueryTooLarge

MOST_NESTED = 500  # open parentheses and prefixes at one place of a text
MOST_NODES = 20_000
"""Nodes of a plan, those included that stand in it several times."""

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds a query's characters, its words (with numbers and marks), its nesting, and its
    subqueries and lateral joins.

    Binding and rewriting recurse along the nesting, on a stack that is deep enough for
    `MOST_NESTED`.
    """

    characters: int = 1_000_000
    words: int = 20_000
    nesting: int = MOST_NESTED
    subqueries: int = 100

    def check(self, text: str) -> None:
        """Checks that `text` is within the limits (raises QueryTooLarge, with the place)."""
        if len(text) > self.characters:
            raise QueryTooLarge(
                f"the query has more than {self.characters:,} characters; "
                "what is long in it belongs in a table"
            )
        beyond = next(islice(_WORD.finditer(text), self.words, None), None)
        if beyond is not None:
            before = text[: beyond.start()]
            raise QueryTooLarge(
                f"the query has more than {self.words:,} words and marks; what is listed in it "
                "belongs in a table, or in several views",
                before.count("\n") + 1,
                len(before) - before.rfind("\n"),
                len(before) + 1,
            )


DEFAULT = Limits()
