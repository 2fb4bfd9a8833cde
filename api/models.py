"""Bodies of requests, and the JSON of sources and views in answers."""

from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from connectors.tables import TableSpec, type_name, type_of
from views.catalog import Language, View

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]


class Body(BaseModel):
    """A request's body; unknown members are refused, so that no wish is dropped silently."""

    model_config = ConfigDict(extra="forbid")


class ColumnBody(Body):
    """One column: `type` is named as Arrow does, as in `int64`, `utf8`, `decimal128(12, 2)`."""

    name: Annotated[str, Field(min_length=1, max_length=255)]
    type: str
    nullable: bool = True


class SourceBody(Body):
    """A table whose changes stand in a topic; `topic` is the source's name unless given."""

    topic: str | None = None
    columns: list[ColumnBody]
    key: list[str]
    format: Literal["json"] = "json"
    envelope: Literal["debezium"] = "debezium"
    on_error: Literal["quarantine", "stall"] | None = None

    def spec(self, name: str, on_error: Literal["quarantine", "stall"]) -> TableSpec:
        """The table so declared (raises InvalidTable); its key columns are never NULL."""
        fields = [
            pa.field(c.name, type_of(c.type), c.nullable and c.name not in self.key)
            for c in self.columns
        ]
        return TableSpec(
            name,
            self.topic or name,
            pa.schema(fields),
            tuple(self.key),
            self.format,
            self.envelope,
            self.on_error or on_error,
        )


class ViewBody(Body):
    """A view; without `key` it is looked up by what is known to be unique in it."""

    query: str
    language: Language = "sql"
    key: list[str] | None = None


class ExplainBody(Body):
    """A query to explain, without maintaining it."""

    query: str
    language: Language = "sql"
    key: list[str] | None = None


def columns_json(schema: pa.Schema) -> list[dict[str, Any]]:
    """Columns as `SourceBody` takes them."""
    return [{"name": f.name, "type": type_name(f.type), "nullable": f.nullable} for f in schema]


def view_json(view: View) -> dict[str, Any]:
    """A view's definition."""
    return {
        "name": view.name,
        "language": view.language,
        "query": view.query,
        "key": list(view.key),
        "columns": columns_json(view.schema),
        "reads": list(view.dependencies),
    }
