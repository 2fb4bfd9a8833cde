"""Attribution: says which table an error of reading is about, and which setting to look at.

Of an error in a process of Spark's only the name and the message come back; so the message begins
with the table, as all do that are about one, and then with the setting of a connection.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from connectors.errors import Stalled, Unavailable

Fault = TypeVar("Fault", Stalled, Unavailable)

_TABLE = re.compile(r"table '([^']+)'")
_SETTING = re.compile(r"(?:table '[^']+': )?(connections\.([\w-]+)\.\w+): ")


@contextmanager
def reading(table: str) -> Iterator[None]:
    """Let an error that a table waits for begin with its name."""
    try:
        yield
    except (Stalled, Unavailable) as error:
        raise type(error)(f"table {table!r}: {error}") from error


def told(kind: type[Fault], message: str) -> Fault:
    """The error that another process told of; its table, or setting, begins the message."""
    error = kind(message)
    if (found := _TABLE.match(message)) is not None:
        error.table = found[1]
    if (found := _SETTING.match(message)) is not None and isinstance(error, Unavailable):
        error.setting, error.part = found[1], f"connection {found[2]}"
    return error
