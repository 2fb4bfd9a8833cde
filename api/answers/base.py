"""Parts that several answers share: columns, progress, and the form of an example."""

from typing import Annotated, Any, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from connectors.tables.spec import type_name

Ends = dict[str, dict[str, int]]


class Answer(BaseModel):
    """A part of an answer; it has no members but these."""

    model_config = ConfigDict(extra="forbid")


COLUMNS = [
    {"name": "customer", "type": "utf8", "nullable": False},
    {"name": "total", "type": "decimal128(38, 2)", "nullable": True},
]


def example(**members: Any) -> ConfigDict:
    """The configuration of an answer with this example."""
    return ConfigDict(json_schema_extra={"examples": [members]})


class Column(Answer):
    """A column; `type` is named as in the body that declares it."""

    name: str
    type: str
    nullable: bool

    @classmethod
    def all_of(cls, schema: pa.Schema) -> list[Self]:
        """The columns of a schema."""
        return [cls(name=f.name, type=type_name(f.type), nullable=f.nullable) for f in schema]


class Hydrated(Answer):
    """The progress of a thing that fills: `done` of its `of` parts, and that in percent.

    The parts are operators of a view, each of which takes all rows in its turn; records of a
    source; dataflows of a replacement.
    """

    done: int
    of: int
    percent: Annotated[int, Field(ge=0, le=100)]

    @classmethod
    def part(cls, done: int, of: int, within: float = 0.0) -> Self:
        """So many parts, and a share `within` the next one."""
        percent = int(100 * (done + within) / of) if of else 100
        return cls(done=done, of=of, percent=min(percent, 100))
