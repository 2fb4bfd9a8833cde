"""Status: tells how a view or a source is, and how far one is that fills.

A view is `planned` until it begins to fill, `hydrating` while it does, `replaying` while the
service starts over, `running` after that; `stalled` while a source stands still that it reads, and
`failed` once it cannot be kept up to date. A source is `hydrating` until it has read what its topic
held when it was declared, and `waiting` while no topic matches its pattern.
"""

from api.answers.base import Hydrated
from api.answers.sources import SourceStatus
from api.answers.views import ViewStatus
from api.runtime import Runtime
from connectors.health import PartFault


def view_status(runtime: Runtime, name: str) -> tuple[ViewStatus, Hydrated | None]:
    """The status of a view that is declared, or about to be, and how far it is if it fills."""
    if (filling := runtime.pool.hydrating) is not None and filling.name == name:
        return "hydrating", Hydrated.part(filling.done, filling.of)
    if name in runtime.applier.failed:
        return "failed", None
    if name in runtime.views.coming:
        # Once it has caught up, its snapshot is on its way to its topics.
        is_there = name in runtime.pool.names
        return ("hydrating", Hydrated.part(1, 1)) if is_there else ("planned", None)
    if not runtime.readiness.is_replayed:
        return "replaying" if name in runtime.pool.names else "planned", None
    return "stalled" if runtime.views.stalled(name) is not None else "running", None


def source_status(
    stalled: str | None, behind: PartFault | None, *, is_replayed: bool, has_topic: bool
) -> tuple[SourceStatus, Hydrated | None]:
    """The status of a source by why it stands still, and by how far `behind` says that it is."""
    if stalled is not None:
        return "stalled", None
    if not is_replayed:
        return "replaying", None
    if behind is not None:
        return "hydrating", Hydrated.part(behind.done or 0, behind.of or 0)
    return "running" if has_topic else "waiting", None
