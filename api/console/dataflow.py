"""The dataflow of a view as a diagram in the language of Mermaid.

A box is an operator, with its rows, bytes and time; what has taken more of the view's time is
redder. A cylinder is an arrangement that others made, or that others read too, with their names;
a frame is a loop.

    flowchart TD
    a0[("orders[id]<br/>2 rows · 640 B · 0.02 ms<br/>read by totals")]
    o0["#0 Accumulate<br/>…"]:::warm
    a0 --> o0
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from api.console.units import bytes_text, seconds_text
from ivm.results import OperatorInfo, Operators

# Characters of an operator's text in a box, and in a line of it.
SHOWN, LINE = 120, 34
# Shares of a view's time from which on an operator is shown as warm, and as hot.
WARM, HOT = 0.1, 0.4
CLASSES = (
    "classDef plain fill:#f5f7fa,stroke:#90a4ae,color:#1f2933",
    "classDef warm fill:#ffe0b2,stroke:#fb8c00,color:#1f2933",
    "classDef hot fill:#ffab91,stroke:#d84315,color:#1f2933",
    "classDef shared fill:#d7ecff,stroke:#1e88e5,color:#1f2933",
)


def diagram(view: str, found: Operators, users: Mapping[str, Sequence[str]]) -> str:
    """The diagram of a view's operators; `users` are the readers of each arrangement."""
    total = sum(one.seconds for one in found.operators)
    arrangements = {info.name: f"a{i}" for i, info in enumerate(found.reused)}
    lines = ["flowchart TD", *CLASSES]
    for info in found.reused:
        account = _account(info.rows, info.bytes, info.seconds)
        lines.append(
            _cylinder(arrangements[info.name], info.name, account, _others(view, info.users))
        )
    lines += _boxes(found.operators, None, total)
    lines += _edges(found.operators, arrangements)
    for number, made in enumerate(_made(found.operators)):
        if others := _others(view, users.get(made.arrangement or "", ())):
            place = f"m{number}"
            lines.append(_cylinder(place, made.arrangement or "", "", others))
            lines.append(f"o{made.number} --> {place}")
    return "\n".join(lines)


def _made(operators: Iterable[OperatorInfo]) -> Sequence[OperatorInfo]:
    """The last operator of those that make each arrangement."""
    return list({one.arrangement: one for one in operators if one.arrangement}.values())


def _boxes(operators: Sequence[OperatorInfo], loop: int | None, total: float) -> Iterator[str]:
    """The operators in a loop (None: in none), those of inner loops in frames."""
    loops = {one.loop for one in operators}
    for one in operators:
        if one.loop != loop:
            continue
        yield _box(one, total)
        if one.number in loops:
            yield f'subgraph l{one.number}["loop #{one.number}"]'
            yield from _boxes(operators, one.number, total)
            yield "end"


def _box(one: OperatorInfo, total: float) -> str:
    share = one.seconds / total if total else 0.0
    heat = "hot" if share >= HOT else "warm" if share >= WARM else "plain"
    text = one.text if len(one.text) <= SHOWN else one.text[: SHOWN - 1] + "…"
    account = _account(one.rows, one.bytes, one.seconds)
    rounds = [f"{one.rounds.rounds:,} rounds"] if one.rounds else []
    parts = [f"#{one.number} {one.kind}", *_wrapped(text), account, *rounds]
    return f'o{one.number}["{_label(parts)}"]:::{heat}'


def _cylinder(place: str, name: str, account: str, others: Sequence[str]) -> str:
    shared = f"read by {', '.join(others)}" if others else ""
    return f'{place}[("{_label([name, account, *_wrapped(shared)])}")]:::shared'


def _edges(operators: Sequence[OperatorInfo], arrangements: Mapping[str, str]) -> Iterator[str]:
    for one in operators:
        yield from (f"o{read} --> o{one.number}" for read in one.reads)
        yield from (
            f"{arrangements[name]} --> o{one.number}" for name in one.uses if name in arrangements
        )


def _others(view: str, users: Iterable[str]) -> list[str]:
    return [user for user in users if user != view]


def _account(rows: int | None, size: int, seconds: float) -> str:
    counted = [] if rows is None else [f"{rows:,} rows"]
    return " · ".join([*counted, bytes_text(size), seconds_text(seconds)])


def _wrapped(text: str) -> Iterator[str]:
    """The text in lines; they break between words where these are short enough."""
    while len(text) > LINE:
        cut = text.rfind(" ", 1, LINE) + 1 or LINE
        yield text[:cut].rstrip()
        text = text[cut:]
    if text:
        yield text


def _label(parts: Iterable[str]) -> str:
    return "<br/>".join(_escaped(part) for part in parts if part)


def _escaped(text: str) -> str:
    """The text, with all but letters, digits and harmless marks as Mermaid's character codes."""
    return "".join(c if c.isalnum() or c in " .,:·…()" else f"#{ord(c)};" for c in text)
