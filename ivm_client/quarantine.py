"""The quarantine: records that a service could not decode, and what becomes of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ivm_client.service import ServiceClient, path

Record = dict[str, Any]
# Records of a page.
PAGE = 1_000


class Quarantine:
    """The records that were put aside; one is named by its source, partition and offset."""

    def __init__(self, service: ServiceClient) -> None:
        self._service = service

    def records(
        self, table: str | None = None, reason: str | None = None, status: str | None = None
    ) -> Iterator[Record]:
        """All records, or those of a source, with a reason and a status, page by page."""
        wanted: dict[str, Any] = {"table": table, "reason": reason, "status": status}
        parameters = {name: value for name, value in wanted.items() if value is not None}
        parameters["limit"] = PAGE
        while True:
            found = self._service.get("/v1/quarantine", **parameters)
            yield from found["records"]
            if "next" not in found:
                return
            parameters["cursor"] = found["next"]

    def record(self, table: str, partition: int, offset: int) -> Record:
        """One record: its bytes, its repair, its status."""
        found: Record = self._service.get(_place(table, partition, offset))
        return found

    def repair(self, table: str, partition: int, offset: int, repair: Mapping[str, Any]) -> Record:
        """Set what a replay decodes instead: `value` or `value_base64`, and so the `key`."""
        found: Record = self._service.put(_place(table, partition, offset), dict(repair))
        return found

    def replay(self, table: str, partition: int, offset: int, overwrite: bool = False) -> Record:
        """Apply a record, or its repair, once; with `overwrite` also over later ones of its key."""
        body = {"overwrite": overwrite}
        found: Record = self._service.post(_place(table, partition, offset) + "/replay", body)
        return found

    def replay_all(
        self, table: str, reason: str | None = None, overwrite: bool = False, **page: Any
    ) -> dict[str, Any]:
        """Apply the open records of a source at one time: how many were, and which are refused.

        `page` has `limit` and `cursor`, the `next` of an answer.
        """
        body = {"table": table, "reason": reason, "overwrite": overwrite, **page}
        found: dict[str, Any] = self._service.post("/v1/quarantine/replay", body)
        return found

    def discard(self, table: str, partition: int, offset: int) -> Record:
        """Say that nothing is to come of a record."""
        found: Record = self._service.post(_place(table, partition, offset) + "/discard", {})
        return found

    def skip(self, table: str, partition: int, offset: int) -> None:
        """Put the record aside before which a source has stalled, and let it go on."""
        self._service.post(_place(table, partition, offset) + "/skip", {})

    def purge(
        self,
        statuses: Sequence[str] = ("discarded", "orphaned", "replayed"),
        older_than_seconds: float = 0.0,
        table: str | None = None,
    ) -> int:
        """Delete records that were put aside, for good; how many they were.

        Those stay that a start of the service may need.
        """
        wanted = {"statuses": list(statuses), "older_than_seconds": older_than_seconds}
        found = self._service.post(path("quarantine", "purge"), {**wanted, "table": table})
        return int(found["purged"])


def _place(table: str, partition: int, offset: int) -> str:
    return path("quarantine", table, str(partition), str(offset))
