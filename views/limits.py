"""Limits on the size of a query, checked before it is parsed.

Compiling takes time and memory in proportion to the words of the text, and one query is compiled
at a time. The limits are the operator's.
"""

import re
from dataclasses import dataclass
from itertools import islice

from views.errors import QueryTooLarge

MOST_NESTED = 500  # open parentheses and prefixes at one place of a text
MOST_NODES = 100_000
"""Nodes of a plan, those included that stand in it several times."""

_WORD = re.compile(r"'[^'\n]{0,60}'|\w+|[^\w\s]")
"""A short constant in quotes is a word. In a comment this may see constants where there are none:
a front-end counts again what it reads."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds a query's characters, its words, its nesting, and its subqueries and lateral joins.

    Constants and marks are words too. Each is a setting: `max_query_characters` and so on. Binding
    and rewriting recurse along the nesting, on a stack that is deep enough for `MOST_NESTED`.
    """

    characters: int = 1_000_000
    words: int = 100_000
    nesting: int = MOST_NESTED
    subqueries: int = 100

    def check(self, text: str) -> None:
        """Checks that `text` is within the limits (raises QueryTooLarge, with the place)."""
        if len(text) > self.characters:
            raise QueryTooLarge(
                f"the query has more than {self.characters:,} characters (the setting "
                "max_query_characters); what is long in it belongs in a table"
            )
        beyond = next(islice(_WORD.finditer(text), self.words, None), None)
        if beyond is not None:
            raise self.too_many_words(text, beyond.start())

    def too_many_words(self, text: str, offset: int) -> QueryTooLarge:
        """Makes the error that `text` has too many words, of which one at `offset` is the first."""
        before = text[:offset]
        return QueryTooLarge(
            f"the query has more than {self.words:,} words and marks (the setting "
            "max_query_words); what is listed in it belongs in a table, or in several views",
            before.count("\n") + 1,
            len(before) - before.rfind("\n"),
            len(before) + 1,
        )


def too_nested(most: int) -> str:
    """Says of a query that it is nested too deeply, and how it need not be."""
    return (
        f"nested more than {most} deep (the setting max_query_nesting); "
        "make what is inside a view of its own"
    )


DEFAULT = Limits()
