"""A subscription takes a trace's batches of now, then each one that is sealed, in order."""

from ivm.trace import shims
from ivm.trace.spine import Trace
from ivm.trace.subscription import Subscription
from tests.unit.trace.updates import Update, seal, unpacked


def trace_with(*batches: list[Update]) -> Trace:
    trace = Trace(1, 1, 1, ())
    for batch in batches:
        seal(trace, batch)
    return trace


def at(time: int) -> list[Update]:
    return [((time, time), (time,), 1)]


def test_the_history_is_what_the_trace_holds() -> None:
    subscription = Subscription(trace_with(at(0), at(1), at(2)))
    held = [u for batch in shims.history(subscription) for u in unpacked(batch, 2)]
    assert sorted(held) == at(0) + at(1) + at(2)


def test_sealed_batches_come_in_order_and_once() -> None:
    trace = trace_with(at(0))
    subscription = Subscription(trace)
    for time in (1, 2):
        seal(trace, at(time))
    assert [unpacked(b, 2) for b in shims.take(subscription)] == [at(1), at(2)]
    seal(trace, at(3))
    assert [unpacked(b, 2) for b in shims.take(subscription)] == [at(3)]
    assert shims.take(subscription) == []


def test_merging_and_compaction_do_not_change_what_is_taken() -> None:
    trace = trace_with(at(0))
    subscription = Subscription(trace)
    for time in range(1, 9):
        seal(trace, at(time), since=time)
    shims.absorb(trace, 100)
    assert [unpacked(b, 2) for b in shims.history(subscription)] == [at(0)]
    assert [unpacked(b, 2) for b in shims.take(subscription)] == [at(t) for t in range(1, 9)]


def test_a_cancelled_batch_is_taken_all_the_same() -> None:
    trace = trace_with()
    subscription = Subscription(trace)
    for diff in (1, -1) * 4:
        seal(trace, [((1, 1), (0,), diff)])
    shims.absorb(trace, 1)
    assert shims.layers(trace) == []
    assert [len(b) for b in shims.take(subscription)] == [1] * 8


def test_dropping_a_subscription_releases_its_batches() -> None:
    trace = trace_with(at(0))
    subscription = Subscription(trace)
    for time in range(1, 40):
        seal(trace, at(time), since=time)
    retained, _ = shims.held(trace)
    del subscription
    released, _ = shims.held(trace)
    assert retained >= 40
    assert released == len(shims.layers(trace))


def test_two_subscriptions_each_take_all() -> None:
    trace = trace_with()
    subscriptions = [Subscription(trace), Subscription(trace)]
    seal(trace, at(0))
    assert [[len(b) for b in shims.take(s)] for s in subscriptions] == [[1], [1]]


def test_an_import_mirrors_the_trace_at_every_time() -> None:
    source, mirror = trace_with(at(0), at(1)), Trace(1, 1, 1, ())
    subscription = Subscription(source)
    shims.import_into(subscription, mirror, 0)
    for time in range(2, 6):
        seal(source, at(time))
        shims.import_into(subscription, mirror, 0)
        assert shims.as_of(mirror, (time,)) == shims.as_of(source, (time,))
