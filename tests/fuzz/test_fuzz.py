"""The short form of `python -m tests.fuzz`."""

import pytest

from tests.fuzz.inputs import LANGUAGES
from tests.fuzz.run import judge
from views.catalog import Language

INPUTS = 500


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_input_crashes_or_hangs(language: Language) -> None:
    findings, views = judge(language, 1, range(INPUTS))
    assert findings == []
    assert views > INPUTS // 50, "the grammar makes hardly any view"
