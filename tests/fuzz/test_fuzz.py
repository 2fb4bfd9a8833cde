"""The short forms of `python -m tests.fuzz`, `tests.fuzz.records` and `tests.fuzz.constants`."""

import pytest

from tests.fuzz import constants, records
from tests.fuzz.inputs import LANGUAGES
from tests.fuzz.kinds import KINDS, Kind
from tests.fuzz.run import judge
from views.catalog import Language

INPUTS = 500
# What good records hold that this kind of table refuses all the same.
GOOD_BUT_REFUSED = {
    "debezium full": {"missing-field", "missing-image", "unavailable-value"},
    "append": {"null-record"},
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_input_crashes_or_hangs(language: Language) -> None:
    findings, views = judge(language, 1, range(INPUTS))
    assert findings == []
    assert views > INPUTS // 50, "the grammar makes hardly any view"


def test_every_constant_is_a_value_or_refused_in_words_of_sql() -> None:
    assert [fault for chunk in range(3) for fault in constants.judge(1, chunk)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_record_is_a_change_rejected_or_passed_over_however_they_are_cut(kind: str) -> None:
    found = [records.judge(kind, 1, batch) for batch in range(2)]
    assert [fault for one in found for fault in one.faults] == []
    changed = sum(one.counts["changed"] for one in found)
    rejected = sum(one.counts["rejected"] for one in found)
    assert min(changed, rejected) > records.BATCH // 20, "records are too good, or too bad"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_good_records_are_good(kind: Kind) -> None:
    decoded = records.decoded(kind, list(kind.records), 0)
    assert {record.reason for record in decoded.rejected} <= GOOD_BUT_REFUSED.get(kind.name, set())
