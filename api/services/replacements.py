"""Replacements: views that get another definition in place, once their difference was looked at.

The new definition, and every view over the one that is replaced, is hydrated beside steps as a
*successor*, which publishes nothing. An approval lets all of them take the places of the views at
one new time, at which nothing else happens, so that whoever follows gets the difference alone.

What an approval has begun is carried out. Before anything is published the registry says from which
time on the views are otherwise: a start that finds this, and the time not committed, replays up to
it over both definitions, and switches there; once the time is committed, the views are so.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex

import structlog

from api.errors import (
    DifferentDefinition,
    NotReady,
    PreviewOutdated,
    RegistryNotWritten,
    ReplacementFailed,
    ReplacementNotReady,
    unknown,
)
from api.registry import Pending
from api.services.admission import Admission
from api.services.definition import Definition
from api.services.parts import Parts
from api.services.planned import Planner
from api.services.views import Views
from connectors.ingest.apply import Switch
from connectors.ingest.successors import Successor
from connectors.progress.batches import TimedBatch
from ivm.errors import IvmError
from views.catalog import View

# An answer waits so long for a hydration, and a stop for one under way.
ANSWER_SECONDS = 5.0
STOP_SECONDS = 10.0

log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class Waiting:
    """A replacement on its way: `done` of its `successors` are hydrated, or why they will not be.

    `ended` is set once nothing more happens by itself.
    """

    pending: Pending
    successors: Sequence[Successor] = ()
    done: int = 0
    reason: str | None = None
    is_given_up: bool = False
    ended: threading.Event = field(default_factory=threading.Event)


class Replacements:
    """The replacements that wait for their approval; safe to call from several threads."""

    def __init__(self, parts: Parts, admission: Admission, planner: Planner, views: Views) -> None:
        self._parts = parts
        self._admission = admission
        self._planner = planner
        self._views = views
        self._waiting: dict[str, Waiting] = {}
        self._threads: list[threading.Thread] = []
        views.on_drop(self._give_up)

    def get(self, name: str) -> Waiting:
        """The replacement of a view that waits (raises UnknownName)."""
        self._views.get(name)
        if name not in self._waiting:
            raise unknown("replacement of a view", name, self._waiting)
        return self._waiting[name]

    def put(self, definition: Definition) -> Waiting | None:
        """Prepare another definition of a view; None if it is defined so already.

        Its sink and its lookups stay as they are: the definition says them so, or not at all.
        Returns once it is hydrated, or after some seconds. Raises UnknownName, ViewFailed, a kind
        of SqlError, DifferentDefinition, ReplacementRefused, StillUsed, and what `Views.put` raises
        before it installs anything.
        """
        with self._admission.change():
            name = definition.name
            self._refuse_begun(name)
            pending = self._planned(definition)
            if pending is None:
                return None
            waiting = self._waiting.get(name)
            if waiting is None or not self._is_current(waiting, pending):
                self._parts.registry.set_replacement(pending)
                self._give_up(name)
                waiting = self._begin(pending)
        waiting.ended.wait(min(ANSWER_SECONDS, self._parts.settings.wait_seconds))
        return waiting

    def would_put(self, definition: Definition) -> bool:
        """Whether `put` would prepare another definition; False if it is there (raises as that)."""
        with self._admission.change():
            return self._planned(definition) is not None

    def _planned(self, definition: Definition) -> Pending | None:
        """The replacement that another definition makes; None if the view is defined so."""
        known = self._views.get(definition.name)
        self._views.refuse_failed(known.name)
        self._refuse_elsewhere(known, definition)
        view, compiled = self._planner.view(known, definition)
        if (view.query, view.language, view.key) == (known.query, known.language, known.key):
            return None
        pending = Pending(self._planner.views(view, compiled), token_hex(4))
        self._planner.refuse_concerned(pending)
        self._planner.check(pending)
        return pending

    def discard(self, name: str) -> None:
        """Forget a replacement; the view stays as it is.

        Raises UnknownName, and NotReady if it is approved already.
        """
        with self._admission.mending():
            self.get(name)
            self._refuse_begun(name)
            self._parts.registry.drop_replacement(name)
            self._give_up(name)
            log.info("replacement discarded", view=name)

    def approve(self, name: str, version: str, time: int | None) -> int:
        """Let a replacement take the view's place: the time from which on it has.

        `version` is that of the preview; with `time`, the difference must be as it was then.
        Raises UnknownName, PreviewOutdated, ReplacementNotReady, ReplacementFailed, ViewFailed,
        BrokerFault and what `Sink.expect` raises: then nothing has changed. PipelineFailed once the
        switch has begun and cannot be completed: a restart completes it.
        """
        with self._admission.change():
            waiting = self.get(name)
            self._refuse_begun(name)
            self._expect_ready(waiting, version)
            self._parts.applier.expect([one.output for one in waiting.successors])
            self._parts.applier.expect_answers()
            refused: list[IvmError] = []
            switched: list[int] = []

            def apply(batch: TimedBatch) -> None:
                try:
                    self._refuse_changed(waiting, time)
                    begun = replace(waiting.pending, at=batch.time)
                    self._parts.registry.set_replacement(begun)
                except (PreviewOutdated, ReplacementFailed, RegistryNotWritten) as error:
                    refused.append(error)
                    return
                self._parts.applier.replace(batch, self._switch(begun))
                switched.append(batch.time)

            self._parts.pipeline.at_new_time(apply)
            if refused:
                raise refused[0]
            self._finish(waiting)
            return switched[0]

    def outdated(self, pending: Pending) -> str | None:
        """Why a preview is no longer true: another view reads the one that is replaced."""
        readers = self._parts.registry.catalog.readers(pending.view.name)
        others = {view.name for view in readers} ^ pending.names
        if not others:
            return None
        return (
            f"views that read {pending.view.name!r} were made or dropped since: "
            f"{', '.join(sorted(others))}"
        )

    # --- starts and stops ---

    def settle(self) -> None:
        """Let the views be as replacements say whose time is committed; before views come back."""
        registry, journal = self._parts.registry, self._parts.journal
        for name, pending in list(registry.replacements.items()):
            if pending.at is None:
                continue
            if pending.at <= journal.committed_time:
                registry.redefine(name)
                registry.settle(name)
                registry.save()
            elif pending.at > journal.last_time:  # nothing was begun
                registry.set_replacement(replace(pending, at=None))

    def restore(self) -> None:
        """Hydrate what was approved, and let the replay switch to it at its time.

        Raises what compiling and installing it does.
        """
        for pending in self._parts.registry.replacements.values():
            if pending.at is not None:
                waiting = self._waiting[pending.view.name] = Waiting(pending)
                waiting.successors = self._planner.successors(pending)
                while waiting.reason is None and waiting.done < len(waiting.successors):
                    self._hydrate_next(waiting)
                waiting.ended.set()
                if waiting.reason is not None:
                    raise ReplacementFailed(
                        f"the approved replacement of view {pending.view.name!r} cannot be carried "
                        f"out: {waiting.reason}"
                    )
                self._parts.applier.switches[pending.at] = self._switch(pending)

    def resume(self) -> None:
        """Go on with what waits, after the replay."""
        with self._admission.lock:
            for waiting in list(self._waiting.values()):  # approved before the start
                self._finish(waiting)
            for pending in self._parts.registry.replacements.values():
                self._begin(pending)

    def stop(self) -> None:
        """Hydrate nothing more."""
        for waiting in list(self._waiting.values()):
            waiting.is_given_up = True
        for thread in self._threads:
            thread.join(STOP_SECONDS)

    # --- steps ---

    def _is_current(self, waiting: Waiting, pending: Pending) -> bool:
        """Whether a replacement that waits is the one that is wanted, and can still be had."""
        failed = self._parts.applier.successors.failed
        lives = waiting.reason is None and failed.keys().isdisjoint(pending.names)
        return lives and waiting.pending.views == pending.views

    def _begin(self, pending: Pending) -> Waiting:
        waiting = self._waiting[pending.view.name] = Waiting(pending)
        try:
            waiting.successors = self._planner.successors(pending)
        except IvmError as error:  # after a start under other bounds
            waiting.reason = str(error)
            waiting.ended.set()
            return waiting
        hydration = threading.Thread(
            target=self._hydrate_beside, args=(waiting,), name="replacement", daemon=True
        )
        self._threads = [*filter(threading.Thread.is_alive, self._threads), hydration]
        hydration.start()
        return waiting

    def _hydrate_beside(self, waiting: Waiting) -> None:
        """Hydrate one successor after another; others may declare things in between."""
        try:
            while waiting.done < len(waiting.successors) and waiting.reason is None:
                with self._admission.lock:
                    if waiting.is_given_up:
                        return
                    if self._planner.is_temporal(waiting.successors[waiting.done]):
                        self._parts.pipeline.tick()
                    self._hydrate_next(waiting)
        finally:
            waiting.ended.set()

    def _hydrate_next(self, waiting: Waiting) -> None:
        """Hydrate the next successor; `reason` says why it cannot be."""
        applier, one = self._parts.applier, waiting.successors[waiting.done]
        try:
            applier.successors.install(one)
            with applier.lock:
                applier.successors.add(one, self._parts.pool.frontier - 1)
            self._views.note_temporal(one.name, is_temporal=self._planner.is_temporal(one))
            waiting.done += 1
        except Exception as error:
            known = isinstance(error, IvmError)
            waiting.reason = str(error) if known else f"{type(error).__name__}: {error}"
            log.warning("replacement failed", view=waiting.pending.view.name, exc_info=error)
            self._stop_successors(waiting)

    def _expect_ready(self, waiting: Waiting, version: str) -> None:
        pending = waiting.pending
        name = pending.view.name
        if version != pending.version:
            raise PreviewOutdated(
                f"the replacement of view {name!r} has version {pending.version!r}, not "
                f"{version!r}: it was put otherwise since. Look at "
                f"GET /v1/views/{name}/replacement, and approve what it shows"
            )
        if (outdated := self.outdated(pending)) is not None:
            raise PreviewOutdated(f"{outdated}. PUT the replacement again for a new preview")
        if waiting.reason is not None:
            raise _failed(name, waiting.reason)
        if not waiting.ended.is_set():
            raise ReplacementNotReady(
                f"{waiting.done} of {len(waiting.successors)} dataflows are hydrated for the "
                f"replacement of view {name!r}; approve it once it is ready"
            )
        for view in pending.views:
            self._views.refuse_failed(view.name)

    def _refuse_begun(self, name: str) -> None:
        """See that no approval has begun and is not carried out (raises NotReady)."""
        pending = self._parts.registry.replacements.get(name)
        if pending is not None and pending.at is not None:
            raise NotReady(
                f"the replacement of view {name!r} is approved from time {pending.at} on, and that "
                "is not carried out yet; a start of the service does so"
            )

    def _refuse_changed(self, waiting: Waiting, time: int | None) -> None:
        """See, between batches, that the successors live, and since when they differ so."""
        for one in waiting.successors:
            if (reason := self._parts.applier.successors.failed.get(one.view)) is not None:
                raise _failed(waiting.pending.view.name, reason)
            if time is not None and one.changed > time:
                raise PreviewOutdated(
                    f"the difference of view {one.view!r} has changed at time {one.changed}, after "
                    f"{time}. Look at it again, or approve it without a time"
                )

    def _switch(self, pending: Pending) -> Switch:
        name = pending.view.name
        views = [view.name for view in pending.views]
        return Switch(views, lambda: self._parts.registry.redefine(name))

    def _finish(self, waiting: Waiting) -> None:
        """Note that a replacement has taken the view's place."""
        del self._waiting[waiting.pending.view.name]
        for one in waiting.successors:
            self._views.note_temporal(one.view, is_temporal=self._planner.is_temporal(one))
            self._views.note_temporal(one.name, is_temporal=False)
        self._parts.registry.settle(waiting.pending.view.name)
        try:
            self._parts.registry.save()
        except RegistryNotWritten as error:  # what it says comes to the same after a start
            log.warning("the registry was not written", reason=str(error))
        log.info("view replaced", view=waiting.pending.view.name)

    def _give_up(self, name: str) -> None:
        """Stop what is maintained for the replacement of a view, if there is one."""
        waiting = self._waiting.pop(name, None)
        if waiting is not None:
            waiting.is_given_up = True
            self._stop_successors(waiting)
            if waiting.pending.at is not None:
                self._parts.applier.switches.pop(waiting.pending.at, None)

    def _stop_successors(self, waiting: Waiting) -> None:
        with self._parts.applier.lock:
            self._parts.applier.successors.drop(waiting.successors)
        for one in waiting.successors:
            self._views.note_temporal(one.name, is_temporal=False)

    def _refuse_elsewhere(self, known: View, given: Definition) -> None:
        there = self._parts.registry.targets.get(known.name)
        if given.target in (None, there) and given.lookups in (None, known.lookups):
            return
        raise DifferentDefinition(
            f"a replacement changes the query, language and key of view {known.name!r}; its sink "
            "and its lookups stay: leave them out, or delete the view and put it anew"
        )


def _failed(name: str, reason: str) -> ReplacementFailed:
    return ReplacementFailed(
        f"the replacement of view {name!r} has failed: {reason}. The view is as it was; discard "
        "the replacement, or put another"
    )
