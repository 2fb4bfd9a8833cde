"""What is left as it is written is known by name."""

from views.sql.dialect import PLAIN
from views.sql.named import FUNCTIONS, SPECIAL
from views.sql.sets import SETS


def test_every_function_that_is_not_translated_is_known() -> None:
    assert FUNCTIONS.keys() | SPECIAL.keys() | SETS.keys() >= PLAIN
