"""A source in which nothing is new is asked less often; one that changes, at once."""

from connectors.spark.idling import Idling


def test_looks_are_put_off_only_while_nothing_has_been_new_for_a_second() -> None:
    moment, slept = 0.0, list[float]()
    idling = Idling(lambda: moment, slept.append)
    idling.pause()
    assert slept == []
    moment = 1.5
    idling.pause()
    idling.note(False)
    idling.pause()
    assert slept == [0.1, 0.1]
    idling.note(True)
    idling.pause()
    assert len(slept) == 2
