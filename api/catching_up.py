"""Catching up: sources that have yet to read the records from before their declaration.

Until then a view over such a source lacks rows that were there before it, so the service is not
ready. The bound is fixed at the declaration: a topic that grows faster than it is read does not
keep the service from being ready, but has a lag.
"""

from collections.abc import Iterable, Mapping

from connectors.health import PartFault
from connectors.offsets import Ends, Offsets
from connectors.tables.spec import TableSpec


def catching_up(
    sources: Iterable[TableSpec], held: Mapping[str, Ends], offsets: Offsets
) -> dict[str, PartFault]:
    """The progress of each such source; `held` has the ends of its topic at its declaration."""
    found = {}
    for spec in sources:
        wanted = Offsets.of_source(spec.name, spec.topic, held.get(spec.name, {}))
        if not offsets.covers(wanted):
            found[spec.name] = _fault(spec, wanted, offsets)
    return found


def _fault(spec: TableSpec, wanted: Offsets, offsets: Offsets) -> PartFault:
    ends = wanted.ends(spec.name)
    reached = {
        partition: min(offsets.ends(spec.name).get(partition, 0), end)
        for partition, end in ends.items()
    }
    places = [
        f"partition {partition} to offset {reached[partition]:,} of {end:,}"
        for partition, end in ends.items()
        if reached[partition] < end
    ]
    detail = (
        f"source {spec.name!r} is still reading the records that topic {spec.topic!r} held when "
        f"the source was declared: {'; '.join(places)}"
    )
    return PartFault(f"source {spec.name}", None, detail, sum(reached.values()), sum(ends.values()))
