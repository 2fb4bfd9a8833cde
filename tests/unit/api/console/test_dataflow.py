"""The drawing of a dataflow names operators, costs and who shares what, and trusts no text."""

import re
from collections.abc import Mapping

from api.console.dataflow import diagram
from ivm.results import LoopInfo, OperatorInfo, Operators, ReusedInfo


def operator(number: int, kind: str, text: str = "", **members: object) -> OperatorInfo:
    given: dict[str, object] = {
        "loop": None,
        "arrangement": None,
        "reads": (),
        "uses": (),
        "rows": 2,
        "bytes": 640,
        "seconds": 0.0,
        "step": None,
        "rounds": None,
        **members,
    }
    return OperatorInfo(number, kind, text, **given)  # type: ignore[arg-type]


ORDERS = ReusedInfo("orders[id]", 3, 4096, 0.002, ("totals", "other"))


def lines(
    *operators: OperatorInfo, users: Mapping[str, tuple[str, ...]] | None = None
) -> list[str]:
    return diagram("totals", Operators((ORDERS,), operators), users or {}).splitlines()


def test_an_operator_has_its_rows_bytes_and_time() -> None:
    drawn = lines(operator(0, "Project", seconds=0.001))
    assert 'o0["#35;0 Project<br/>2 rows · 640 B · 1.000 ms"]:::hot' in drawn


def test_edges_come_from_operators_and_arrangements_that_are_read() -> None:
    drawn = lines(operator(0, "Flatten", uses=("orders[id]",)), operator(1, "Arrange", reads=(0,)))
    assert {"a0 --> o0", "o0 --> o1"} <= set(drawn)


def test_an_arrangement_that_was_found_names_its_other_readers() -> None:
    (cylinder,) = (line for line in lines() if line.startswith("a0"))
    assert "orders#91;id#93;<br/>3 rows · 4.0 KiB" in cylinder
    assert "read by other" in cylinder
    assert "totals" not in cylinder


def test_an_arrangement_that_was_made_is_shown_where_others_read_it() -> None:
    made = operator(4, "Arrange", arrangement="totals[customer]")
    users = {"totals[customer]": ("totals", "big")}
    drawn = lines(made, users=users)
    assert any(re.match(r'm0\[\(".*read by big"\)\]', line) for line in drawn)
    assert "o4 --> m0" in drawn
    assert not any(line.startswith("m0") for line in lines(made))


def test_what_takes_the_time_is_hot() -> None:
    drawn = lines(
        operator(0, "A", seconds=0.7),
        operator(1, "B", seconds=0.25),
        operator(2, "C", seconds=0.05),
    )
    heat = [line.rpartition(":::")[2] for line in drawn if line.startswith("o")]
    assert heat == ["hot", "warm", "plain"]


def test_the_operators_of_a_loop_are_in_its_frame() -> None:
    rounds = LoopInfo(7, 4, 4, 3, 3, ())
    drawn = lines(operator(0, "Loop", rounds=rounds), operator(1, "Join", loop=0))
    frame = drawn.index('subgraph l0["loop #0"]')
    assert "7 rounds" in drawn[frame - 1]
    assert drawn[frame + 1].startswith("o1")
    assert drawn[frame + 2] == "end"


def test_no_text_is_taken_for_the_language_of_the_drawing() -> None:
    text = 'x = "</svg><script>alert(1)</script>"]; click o0'
    (box,) = (line for line in lines(operator(0, "Evaluate", text)) if line.startswith("o0"))
    label = box.removeprefix('o0["').partition('"]')[0].replace("<br/>", "")
    assert not set(label) & set('"<>[]{}`|')
    assert box.endswith('"]:::plain')
