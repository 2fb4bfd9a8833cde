"""Catching up: sources that have yet to read the records from before their declaration.

Until then a view over such a source lacks rows that were there before it, so the service is not
ready. The bound is fixed at the declaration: a topic that grows faster than it is read does not
keep the service from being ready, but has a lag.
"""

from collections.abc import Iterable, Mapping

from connectors.health import PartFault
from connectors.offsets import Ends, Offsets
from connectors.streams import table_of
from connectors.tables.spec import TableSpec


def catching_up(
    sources: Iterable[TableSpec], held: Mapping[str, Ends], offsets: Offsets
) -> dict[str, PartFault]:
    """The progress of each such source; `held` has, by stream, the ends at its declaration."""
    found = {}
    for spec in sources:
        wanted = {
            (stream, partition): end
            for stream, ends in held.items()
            if table_of(stream) == spec.name
            for partition, end in ends.items()
        }
        if not offsets.covers(Offsets({}, wanted)):
            found[spec.name] = _fault(spec, wanted, offsets)
    return found


def _fault(spec: TableSpec, wanted: Mapping[tuple[str, int], int], offsets: Offsets) -> PartFault:
    reached = {at: min(offsets.positions.get(at, 0), end) for at, end in wanted.items()}
    places = [
        f"topic {offsets.topics.get(stream, spec.topic)!r}, partition {partition} to offset "
        f"{reached[stream, partition]:,} of {end:,}"
        for (stream, partition), end in wanted.items()
        if reached[stream, partition] < end
    ]
    detail = (
        f"source {spec.name!r} is still reading the records that were there when it was declared: "
        f"{'; '.join(places)}"
    )
    return PartFault(
        f"source {spec.name}", None, detail, sum(reached.values()), sum(wanted.values())
    )
