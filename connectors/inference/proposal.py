"""Proposals: the members of a declaration that were found, and what is in doubt about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from connectors.declaration import Csv, Metadata, ReplicaIdentity
from connectors.tables.spec import type_name


@dataclass(frozen=True, slots=True)
class Given:
    """What the user says of a topic, and is not to be found: None where nothing is said."""

    format: str | None = None
    envelope: str | None = None
    key: tuple[str, ...] | None = None
    replica_identity: ReplicaIdentity = "default"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a topic holds. `unsure`: what to look at before relying on it, a sentence each."""

    format: str
    envelope: str
    schema: pa.Schema
    key: tuple[str, ...]
    metadata: Mapping[str, Metadata] = field(default_factory=dict)
    replica_identity: ReplicaIdentity = "default"
    csv: Csv = field(default_factory=Csv)
    unsure: tuple[str, ...] = ()

    def members(self) -> dict[str, Any]:
        """The members of a declaration, without those that go without saying."""
        columns = [
            {"name": f.name, "type": type_name(f.type)}
            | ({} if f.nullable or f.name in self.key else {"nullable": False})
            for f in self.schema
        ]
        found: dict[str, Any] = {"format": self.format, "envelope": self.envelope}
        if self.replica_identity != "default":
            found["replica_identity"] = self.replica_identity
        found |= {"key": list(self.key), "columns": columns}
        if self.metadata:
            found["metadata"] = dict(self.metadata)
        if self.csv != Csv():
            found["csv"] = {"delimiter": self.csv.delimiter}
        return found
