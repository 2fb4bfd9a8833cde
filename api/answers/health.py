"""Answers about the service as a whole, and problem documents."""

from typing import Annotated, Literal

from pydantic import Field

from api.answers.base import Answer, example


class Fault(Answer):
    """A part at fault, the setting to look at if there is one, and what to do.

    A fault that passes by itself has `done` so much `of` what it waits for: offsets, or times.
    """

    part: str
    setting: str | None = None
    detail: str
    done: int | None = None
    of: int | None = None


class Problem(Answer):
    """A problem document (RFC 9457); `code` is stable, and `type` a URN made of it.

    `position`, `line` and `column` are places in a query, counted from 1; `part` and `setting` name
    what is at fault outside the service, `faults` all that keeps it from being ready, and `stalled`
    the sources that stand still.
    """

    model_config = example(
        type="urn:ivm:problem:unknown-column",
        title="Unprocessable Content",
        status=422,
        detail="no column 'custmer'; did you mean 'customer'?",
        code="unknown-column",
        position=8,
        line=1,
        column=8,
    )

    type: str
    title: str
    status: int
    detail: str
    code: str
    position: Annotated[int | None, Field(ge=1)] = None
    line: Annotated[int | None, Field(ge=1)] = None
    column: Annotated[int | None, Field(ge=1)] = None
    part: str | None = None
    setting: str | None = None
    faults: list[Fault] = Field(default_factory=list)
    stalled: list[Fault] = Field(default_factory=list)


class Alive(Answer):
    """The process serves."""

    model_config = example(status="alive")

    status: Literal["alive"]


class Ready(Answer):
    """The service has caught up: `time` is the last logical time that was applied.

    `stalled` are the sources that stand still while others go on.
    """

    model_config = example(status="ready", time=42)

    status: Literal["ready"]
    time: int
    stalled: list[Fault] = Field(default_factory=list)
