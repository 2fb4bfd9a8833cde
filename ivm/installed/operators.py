"""Accounts of a dataflow's operators: rows, bytes and time of each, and the rounds of loops."""

from collections.abc import Iterable

from ivm.installed.accounting import accounts, seconds_of
from ivm.installed.assembly import Assembly
from ivm.installed.collection import Collection
from ivm.installed.pieces import Piece
from ivm.physical.text import StageText, piece_name, stage_texts
from ivm.results import (
    LoopInfo,
    OperatorInfo,
    Operators,
    ReusedInfo,
    RoundClass,
    Spent,
    TimedStep,
)
from ivm.runtime.loop import Loop
from ivm.runtime.stage import Stage

NANO = 1e-9


def operators(collection: Collection, collections: Iterable[Collection], shown: str) -> Operators:
    """The accounts of the operators that were built for `collection`, one of `collections`.

    It is called as it is `shown`. To be asked for between two steps.
    """
    built = collection.built
    found = [piece.name for piece, _ in built.found]
    lines = stage_texts(built.plan, found, shown)
    return Operators(
        tuple(_reused(built, list(collections))),
        tuple(_operator(built, line, found, shown) for line in lines),
    )


def spent(collection: Collection) -> Spent:
    """The cost of the operators built for `collection`; it may be asked for beside a step."""
    stages: list[Stage] = collection.built.numbered
    loops = [stage for stage in stages if isinstance(stage, Loop)]
    rounds = sum(loop.rounds_run[0] for loop in loops)
    return Spent(sum(stage.work[1] for stage in stages) * NANO, rounds)


def _operator(built: Assembly, line: StageText, found: list[str], owner: str) -> OperatorInfo:
    stage, plan = built.numbered[line.number], built.plan.stages[line.number]
    is_loop = isinstance(stage, Loop)
    return OperatorInfo(
        line.number,
        line.kind,
        line.text,
        line.loop,
        None if line.piece.arranged is None else piece_name(line.piece, owner),
        () if is_loop else tuple(plan.reads),
        () if is_loop else tuple(dict.fromkeys(found[slot] for slot in plan.slots)),
        stage.work[0] if stage.tells_rows else None,
        stage.bytes,
        seconds_of(stage),
        _step(stage),
        _rounds(stage) if isinstance(stage, Loop) else None,
    )


def _step(stage: Stage) -> TimedStep | None:
    _, _, rows, nanoseconds, time = stage.work
    if time is None:
        return None
    return TimedStep(time, rows if stage.tells_rows else None, nanoseconds * NANO)


def _rounds(loop: Loop) -> LoopInfo:
    rounds, most, last, step_rounds, step_last, classes = loop.rounds_run
    kept = tuple(RoundClass(*each) for each in classes)
    return LoopInfo(rounds, most, last, step_rounds, step_last, kept)


def _reused(built: Assembly, collections: list[Collection]) -> Iterable[ReusedInfo]:
    """The arrangements that were found, each once, with the time of the stages that make them."""
    pieces: dict[Piece, None] = dict.fromkeys(piece for piece, _ in built.found)
    for piece in pieces:
        account = accounts([piece], collections)[0]
        seconds = sum(map(seconds_of, piece.stages))
        yield ReusedInfo(piece.name, account.records, account.bytes, seconds, account.users)
