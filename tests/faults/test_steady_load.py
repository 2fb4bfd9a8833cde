"""Nothing of a service grows under a steady load: the short form of `tests.soak.service`."""

from rich.console import Console

from tests.soak.service import RISES, failures, run

RATE = 1_000


def test_a_service_keeps_up_and_all_that_it_holds_is_sampled() -> None:
    figures = run(0.75, RATE, 5_000, 10, Console(quiet=True))
    assert all(len(figures[name]) == 10 and min(figures[name]) > 0 for name in RISES)
    assert not [said for said in failures(figures, RATE) if "behind" in said]


def test_what_rises_is_told() -> None:
    flat = [100.0] * 40
    figures: dict[str, list[float]] = dict.fromkeys(RISES, flat) | {"behind": [0.0] * 40}
    assert failures(figures, RATE) == []
    figures["files"] = [100.0 + n for n in range(40)]
    figures["behind"] = [n * 500.0 for n in range(40)]
    assert failures(figures, RATE) == [
        "files rises by 15.4%, 10% is allowed",
        "the service is 18,500 changes behind at the end",
    ]
