"""What is left as it is written is known by name."""

from views.sql.functions.named import FUNCTIONS, SPECIAL
from views.sql.functions.set_returning import SETS
from views.sql.source.dialect import PLAIN


def test_every_function_that_is_not_translated_is_known() -> None:
    assert FUNCTIONS.keys() | SPECIAL.keys() | SETS.keys() >= PLAIN
