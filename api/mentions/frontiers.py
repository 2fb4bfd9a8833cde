"""Frontier records of delta topics: the input offsets that they say are reflected."""

from collections.abc import Mapping
from typing import Any

from api.mentions.views import MENTIONS, WINDOW


def reflected(frontier: Mapping[str, Any]) -> dict[str, int]:
    """The end of what is reflected of each input topic: 0 of one that was not read yet."""
    offsets = frontier["offsets"]
    return {topic: offsets.get(topic, {}).get("0", 0) for topic in (MENTIONS, WINDOW)}
