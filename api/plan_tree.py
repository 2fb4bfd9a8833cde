"""The tree of a plan that has run: its operators under what they make, each with its account.

    reuse orders[id]  (rows=3 bytes=312 time=0.018 ms)
    make totals[customer]
      #0 AccumulateArranged orders[id] by ($1): n := count(*)  (rows=2 bytes=640 time=0.004 ms)
      #1 Arrange #0 by ($0)  (rows=2 bytes=312 time=0.002 ms)
    deliver
      #2 CaptureArranged totals[customer]  (rows=2 bytes=0 time=0.001 ms)

It is made of the JSON that `/v1/views/{name}/operators` answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the tree: its depth and text, and the account of an operator, if it is of one."""

    depth: int
    text: str
    account: dict[str, Any] | None = None


def tree(document: dict[str, Any]) -> Iterator[Line]:
    """The lines of a plan: what it reuses, then each operator under what it helps to make."""
    for reused in document["reused"]:
        yield Line(0, f"reuse {reused['name']}", reused)
    depths: dict[int, int] = {}
    title = None
    for operator in document["operators"]:
        made = operator["arrangement"]
        if title != (wanted := f"make {made}" if made else "deliver"):
            title = wanted
            yield Line(0, title)
        depth = depths[operator["number"]] = depths.get(operator["loop"], 0) + 1
        text = f"#{operator['number']} {operator['kind']} {operator['text']}"
        yield Line(depth, text, operator)


def tree_text(document: dict[str, Any]) -> list[str]:
    """The lines as text, each with its account."""
    return [f"{'  ' * line.depth}{line.text}{_account(line.account)}" for line in tree(document)]


def rounds_text(rounds: dict[str, Any]) -> str:
    """The rounds of a loop's last step, and the changes that each class of them began with."""
    classes = " ".join(f"{_name(each)}:{each['changes']:,}" for each in rounds["classes"])
    run = f"{rounds['step_rounds']:,} to {rounds['step_last_round']:,}"
    return f"rounds={run} most={rounds['most_rounds']:,} changes by round {classes}".rstrip()


def _account(account: dict[str, Any] | None) -> str:
    if account is None:
        return ""
    rows = "" if account["rows"] is None else f"rows={account['rows']} "
    rounds = f" {rounds_text(account['rounds'])}" if account.get("rounds") else ""
    time = f"{account['seconds'] * 1000:.3f} ms"
    return f"  ({rows}bytes={account['bytes']} time={time}{rounds})"


def _name(rounds: dict[str, Any]) -> str:
    """A class of rounds: one, or from the first to the last."""
    if rounds["first"] == rounds["last"]:
        return str(rounds["first"])
    return f"{rounds['first']}-{'' if rounds['last'] is None else rounds['last']}"
