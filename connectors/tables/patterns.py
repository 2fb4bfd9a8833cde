"""Topic patterns: regular expressions that the whole names of topics match.

They are RE2's, which takes a time linear in the name, whatever the pattern. Names that begin with
two underscores are those of Kafka and its tools for themselves, and match no pattern.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import re2

_INTERNAL = "__"


def matching(pattern: str, topics: Iterable[str]) -> list[str]:
    """The topics that a pattern matches, by name (raises ValueError for one that is none).

    >>> matching(r"shop\\.[a-z]+\\.orders", ["shop.us.orders", "shop.eu.orders", "shop.orders"])
    ['shop.eu.orders', 'shop.us.orders']
    """
    compiled = _compiled(pattern)
    named = (topic for topic in topics if not topic.startswith(_INTERNAL))
    return sorted(topic for topic in named if compiled.fullmatch(topic))


@lru_cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        text = error.args[0]
        raise ValueError(text.decode() if isinstance(text, bytes) else str(text)) from error
