"""Readiness: tells whether the service can be asked and changed, and what keeps it from that.

A service is *replayed* once all that was journaled before its start has been applied again: from
then on it can be looked up and changed. It is *ready* if besides no part is at fault, and no source
is still reading what its topic held when it was declared. Sources that stand still by themselves
are told, and keep it from nothing.
"""

import threading
import time as clock

from api.catching_up import catching_up
from api.errors import NotReady
from api.services.parts import Parts
from api.services.restoring import Restoration
from connectors.errors import PipelineFailed
from connectors.health import PartFault
from connectors.streams import table_of

# A request that cannot be served notices it within this time.
LOOK_SECONDS = 0.1


class Readiness:
    """Tells how far the start has come, and the faults of the parts; safe to ask from any thread.

    `altering` are the views that are made anew just now, since a source of theirs gets columns.
    """

    def __init__(self, parts: Parts, restoration: Restoration) -> None:
        self._parts = parts
        self._restoration = restoration
        self._started = threading.Event()
        self._failure: str | None = None
        self.altering: frozenset[str] = frozenset()

    def begin(self) -> None:
        """The start is over: everything was replayed."""
        self._started.set()

    def fail(self, failure: str) -> None:
        """The start is over: it failed, and nothing can be asked until the next one."""
        self._failure = failure
        self._started.set()

    @property
    def is_replayed(self) -> bool:
        """Whether all that was journaled before the start has been applied."""
        return self._started.is_set() and self._failure is None

    def wait(self) -> None:
        """Wait, within bounds, until changes are possible (raises NotReady, PipelineFailed).

        A start that does not get on by itself is not waited for.
        """
        seconds = self._parts.settings.ready_seconds
        deadline = clock.monotonic() + seconds
        while not self._started.wait(min(LOOK_SECONDS, seconds)):
            if self._is_held_up() or clock.monotonic() >= deadline:
                raise self.refusal()
        if self._failure is not None:
            raise PipelineFailed(self._failure)

    def refusal(self) -> NotReady:
        """The error that says why nothing can be looked up or declared, and the remedy."""
        again = "once that is mended" if self._is_held_up() else "in a few seconds"
        return NotReady(f"{self.fault()}; try again {again}")

    def faults(self) -> list[PartFault]:
        """The faults that keep the service from being ready; none if it is."""
        if self._failure is not None:
            told = (
                f"{self._failure}; mend that, or delete the view or source at fault, and start "
                "again"
            )
            return [PartFault("service", None, told)]
        if self._restoration.fault is not None:
            return [self._restoration.fault]
        parts = self._parts
        if parts.cluster is not None and (fault := parts.cluster.fault()) is not None:
            return [fault]
        status = parts.pipeline.status()
        faults = [*status.faults, *parts.kafka.faults(), *parts.letters.faults()]
        is_started = self._started.is_set()
        if status.state in ("stalled", "failed") or (is_started and status.state == "stopped"):
            when = "" if is_started else " amid the replay of the journal"
            detail = f"the pipeline is {status.state}{when}: {status.error}"
            faults.append(PartFault("pipeline", None, detail))
        elif not is_started and (filling := parts.pool.hydrating) is not None:
            detail = (
                f"the service is starting: view {filling.name!r} is being filled, "
                f"{filling.done:,} of its {filling.of:,} operators are done"
            )
            faults.append(PartFault("service", None, detail, filling.done, filling.of))
        elif not is_started:
            done, of = status.time, parts.journal.last_time
            detail = f"the service is starting ({status.state}), at time {done:,} of {of:,}"
            faults.append(PartFault("service", None, detail, done, of))
        return faults

    def waits(self) -> list[PartFault]:
        """The faults, and the sources that go on reading what was there before them."""
        stalled = self.stalled()
        behind = self.catching_up().items()
        return [*self.faults(), *(fault for name, fault in behind if name not in stalled)]

    def fault(self) -> str | None:
        """Why the service is not ready, in words; None if it is."""
        return "; ".join(fault.detail for fault in self.waits()) or None

    def stalled(self) -> dict[str, PartFault]:
        """The sources that stand still while others go on, and why."""
        whys: dict[str, list[str]] = {}
        for stream, why in self._parts.pipeline.stalled.items():
            whys.setdefault(table_of(stream), []).append(why)
        sources = self._parts.registry.sources
        return {
            name: PartFault(f"source {name}", None, "; ".join(dict.fromkeys(why)))
            for name, why in whys.items()
            if name in sources
        }

    def catching_up(self) -> dict[str, PartFault]:
        """The sources that have yet to read the records from before their declaration."""
        parts = self._parts
        sources = list(parts.registry.sources.values())
        return catching_up(sources, parts.journal.held, parts.applier.offsets())

    def _is_held_up(self) -> bool:
        """Whether the start goes on only once something is mended."""
        pipeline = self._parts.pipeline
        is_stalled = pipeline.status().state == "stalled"
        is_amid_replay = is_stalled and not pipeline.wait_replayed(0)
        return self._restoration.fault is not None or is_amid_replay
