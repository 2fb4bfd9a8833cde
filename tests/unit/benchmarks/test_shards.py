"""The benchmark of a growing cluster counts what does not depend on the machine."""

from benchmarks import shards


def test_more_members_have_the_same_answers_and_exchange_what_is_owned_elsewhere() -> None:
    found = shards.grow(12_000, lambda what: None, (1, 2))
    by = {(grown.workload, grown.members): grown for grown in found}
    assert len(by) == 2 * len(shards.WORKLOADS)
    for workload in shards.WORKLOADS:
        one, two = by[workload, 1], by[workload, 2]
        assert one.load_bytes < two.load_bytes
        assert one.load_meetings == two.load_meetings
        assert one.fullest == 1 <= two.fullest < 1.5
