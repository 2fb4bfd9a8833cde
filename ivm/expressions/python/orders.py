"""Comparisons of values that are stored in another order, such as documents and arrays of them."""

from collections.abc import Callable
from typing import Any

from ivm.dataflow.expressions import Call
from ivm.expressions.python.arrays import keyed
from ivm.expressions.python.script import Script


def _compare(call: Call) -> Callable[[Any, Any], int]:
    """Make the comparison of values whose stored forms are in another order: -1, 0 or 1."""
    key = keyed(call.arguments[0].type)

    def compare(a: Any, b: Any) -> int:
        one, other = key(a), key(b)
        return int(one > other) - int(one < other)

    return compare


def _extreme(greatest: bool) -> Callable[[Call], Callable[[Any, Any], Any]]:
    """Make `greatest` or `least` of two such values, of which one may be NULL."""

    def make(call: Call) -> Callable[[Any, Any], Any]:
        key = keyed(call.arguments[0].type)

        def choose(a: Any, b: Any) -> Any:
            if a is None or b is None:
                return b if a is None else a
            return b if (key(b) > key(a)) is greatest and key(a) != key(b) else a

        return choose

    return make


SCRIPTS: dict[str, Script] = {
    "compare_keys": Script(_compare, ("any", "any"), made=True),
    "greatest_key": Script(_extreme(True), ("any", "any"), strict=False, made=True),
    "least_key": Script(_extreme(False), ("any", "any"), strict=False, made=True),
}
