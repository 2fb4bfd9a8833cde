"""The declared sources and views, durable.

The file holds the catalog and the specs of its tables; it is replaced whole, so it always is one
state that was acknowledged. The journal has its part in what a source is: it is written after room
for the file was taken and before the file is replaced, so that either can be refused, as by a full
disk, while the other is as it was. Of a crash between the two a start makes the same: what the
journal says of a table that is not declared is forgotten, and a table of which it says nothing is
read from its start.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from api.errors import RegistryCorrupt, RegistryNotWritten
from connectors.files.durable import settle, stage, staged_for, sync_directory
from connectors.sinks.target import KafkaTarget
from connectors.tables.spec import TableSpec
from ivm.errors import IvmError
from views.catalog import Catalog, Table, View, view_from_json, view_to_json
from views.errors import NameTaken, StillUsed


@dataclass(frozen=True, slots=True)
class Pending:
    """A replacement of a view that waits for its approval: `views` as they will be.

    The first is the one that is replaced, the others are those that read it, in their order.
    `version` tells it from other replacements. From the time `at` on the views are so: once that
    is said, a start carries it out, unless it is done.
    """

    views: tuple[View, ...]
    version: str
    at: int | None = None

    @property
    def view(self) -> View:
        """The view that is replaced, as it will be."""
        return self.views[0]

    @property
    def names(self) -> frozenset[str]:
        """The names of all views that it concerns."""
        return frozenset(view.name for view in self.views)

    @property
    def reads(self) -> frozenset[str]:
        """The names of all that these views read."""
        return frozenset().union(*(view.dependencies for view in self.views))

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` turns into an equal one."""
        views = list(map(view_to_json, self.views))
        return {"views": views, "version": self.version, "at": self.at}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Pending":
        """The replacement of `to_json`'s object."""
        return cls(tuple(map(view_from_json, value["views"])), value["version"], value["at"])


class Registry:
    """Sources and views by name; one writer at a time."""

    def __init__(self, path: Path, committed: int | None = None) -> None:
        """Open the file `path`, if it is there (raises RegistryCorrupt).

        A change that a crash has interrupted is made if its time is `committed`, else forgotten.
        One who only reads the file gives no such time, and leaves it as it is.
        """
        self._path = path
        self._sources: dict[str, TableSpec] = {}
        self._targets: dict[str, KafkaTarget] = {}
        self._replacements: dict[str, Pending] = {}
        self._lives: dict[str, object] = {}
        self._published: dict[str, str] = {}
        self._former: dict[str, list[View]] = {}
        self.catalog = Catalog()
        if committed is not None:
            _finish(path, committed)
        if path.exists():
            self._load(path.read_bytes())

    @property
    def sources(self) -> Mapping[str, TableSpec]:
        """The specs by name, in the order they were declared."""
        return self._sources

    @property
    def targets(self) -> Mapping[str, KafkaTarget]:
        """The targets of views in Kafka, by the view's name."""
        return self._targets

    @property
    def replacements(self) -> Mapping[str, Pending]:
        """The replacements that wait for their approval, by the name of the view."""
        return self._replacements

    def life(self, name: str) -> object | None:
        """An object that stands for a view from its making to its drop, however it is defined."""
        return self._lives.get(name)

    def name_of(self, life: object, last: str) -> str | None:
        """The name of the view that this object stands for, `last` once; None if it was dropped."""
        if self._lives.get(last) is life:
            return last
        return next((name for name, known in self._lives.items() if known is life), None)

    def view(self, name: str) -> View | None:
        """The view of this name, if there is one."""
        entry = self.catalog.get(name)
        return entry if isinstance(entry, View) else None

    @contextmanager
    def adding_source(self, spec: TableSpec) -> Iterator[None]:
        """Declare a source, durably at the end of the context; not at all if that raises.

        Raises NameTaken, RegistryNotWritten.
        """
        with self._undoing():
            self.catalog.add_table(Table(spec.name, spec.schema, spec.key))
            self._sources[spec.name] = spec
            with self._saving():
                yield

    @contextmanager
    def altering_source(self, spec: TableSpec, catalog: Catalog, time: int) -> Iterator[None]:
        """Change a source's columns, durably once `time` is committed; not at all if that raises.

        `catalog` has it and the views as they are from then on. Raises RegistryNotWritten.
        """
        with self._undoing():
            self.catalog = catalog
            self._sources[spec.name] = spec
            with self._saving(time):
                yield

    def replace_source(self, spec: TableSpec) -> None:
        """Change, durably, the part of a declared source that the catalog does not hold.

        Raises RegistryNotWritten.
        """
        with self._undoing():
            self._sources[spec.name] = spec
            self._save()

    def add_view(
        self, view: View, target: KafkaTarget | None = None, published: str | None = None
    ) -> None:
        """Declare a view, where else it goes, and the name that sinks know, durably.

        Raises NameTaken, RegistryNotWritten.
        """
        with self._undoing():
            self.catalog.add_view(view)
            self._lives[view.name] = object()
            self._published[view.name] = published or view.name
            if target is not None:
                self._targets[view.name] = target
            self._save()

    @contextmanager
    def dropping_source(self, name: str) -> Iterator[None]:
        """Forget a source, durably at the end of the context; not at all if that raises.

        Raises UnknownName, StillUsed, RegistryNotWritten.
        """
        with self._undoing():
            self.refuse_needed([name])
            self.catalog.drop(name)
            del self._sources[name]
            with self._saving():
                yield

    def drop_view(self, name: str) -> None:
        """Forget a view durably (raises UnknownName, StillUsed, RegistryNotWritten)."""
        with self._undoing():
            self.refuse_needed([name], by_others_than=name)
            self.catalog.drop(name)
            self._targets.pop(name, None)
            self._replacements.pop(name, None)
            self._former.pop(name, None)
            self._lives.pop(name, None)
            self._published.pop(name, None)
            self._save()

    @property
    def published(self) -> Mapping[str, str]:
        """The names under which sinks know the views, by their own."""
        return self._published

    def published_as(self, name: str) -> str:
        """The name under which sinks know a view: its own, unless it was renamed."""
        return self._published.get(name, name)

    def fresh(self, name: str) -> str:
        """A name for sinks to know a new view by: its own, unless a renamed view has that."""
        taken, number, found = set(self._published.values()), 1, name
        while found in taken or (number > 1 and found in self.catalog):
            number += 1
            found = f"{name}_{number}"
        return found

    def expect_renamed(self, name: str, to: str) -> None:
        """See that a view can be renamed (raises NameTaken, StillUsed)."""
        self.refuse_needed([name])
        if to in self.catalog:
            raise NameTaken(f"a table or view {to!r} exists already")
        if dependents := self.catalog.dependents(name):
            raise StillUsed(
                f"{name!r} is read by {', '.join(dependents)} under this name; drop those first, "
                "or let them read what it reads"
            )

    def rename_view(self, name: str, to: str) -> None:
        """Let a view have another name, durably (raises RegistryNotWritten)."""
        with self._undoing():
            self.catalog.rename_view(name, to)
            self._published[to] = self.published_as(name)
            del self._published[name]
            lives = self._lives.items()  # which are looked at meanwhile: none is ever away
            self._lives = {to if known == name else known: life for known, life in lives}
            if name in self._targets:
                self._targets[to] = self._targets.pop(name)
            self._save()

    def set_replacement(self, pending: Pending) -> None:
        """Let a replacement wait, in the stead of a former one (raises RegistryNotWritten)."""
        with self._undoing():
            self._replacements[pending.view.name] = pending
            self._save()

    def drop_replacement(self, name: str) -> None:
        """Forget the replacement of a view (raises RegistryNotWritten)."""
        with self._undoing():
            self._replacements.pop(name, None)
            self._save()

    def redefine(self, name: str) -> None:
        """Let a view, and those that read it, be as its replacement says.

        Until `settle` the file has them as they were, and from which time on they are otherwise.
        """
        pending = self._replacements[name]
        self._former[name] = [v for v in self.catalog.views if v.name in pending.names]
        self.catalog.redefine(pending.views)

    def settle(self, name: str) -> None:
        """Forget how a view was that is redefined: its time is committed; `save` makes it durable.

        Until then the file comes to the same.
        """
        del self._replacements[name], self._former[name]

    def save(self) -> None:
        """Make the declarations durable (raises RegistryNotWritten)."""
        self._save()

    def refuse_needed(self, names: Iterable[str], by_others_than: str | None = None) -> None:
        """See that no replacement, but that of one view, needs these (raises StillUsed)."""
        for other, pending in self._replacements.items():
            needed = sorted((pending.names | pending.reads).intersection(names))
            if needed and other != by_others_than:
                raise StillUsed(
                    f"the replacement of view {other!r} needs {needed[0]!r}; approve or discard "
                    f"that first (POST /v1/views/{other}/approve, /v1/views/{other}/discard)"
                )

    @contextmanager
    def _undoing(self) -> Iterator[None]:
        """Undo a change that is not saved, so that declarations and file agree."""
        catalog = Catalog(self.catalog.tables, self.catalog.views)
        tables = ("_sources", "_targets", "_replacements", "_former", "_lives", "_published")
        before = {table: dict(getattr(self, table)) for table in tables}
        try:
            yield
        except BaseException:
            self.catalog = catalog
            for table, entries in before.items():
                setattr(self, table, entries)
            raise

    def _save(self) -> None:
        with self._saving():
            pass

    @contextmanager
    def _saving(self, time: int | None = None) -> Iterator[None]:
        """Make the declarations durable at the end of the context; room for them is taken now.

        Those of a `time` are as soon as it is committed, which what is in the context does.
        """
        document = self._document() | ({} if time is None else {"time": time})
        with _telling(self._path):
            staged = stage(self._path, orjson.dumps(document))
            sync_directory(self._path.parent)
        yield
        with _telling(self._path):
            settle(staged, self._path)

    def _document(self) -> dict[str, Any]:
        sources = [spec.to_json() for spec in self._sources.values()]
        targets = {name: target.to_json() for name, target in self._targets.items()}
        catalog = Catalog(self.catalog.tables, self.catalog.views)
        for former in self._former.values():
            catalog.redefine(former)
        replacements = [pending.to_json() for pending in self._replacements.values()]
        return {
            "sources": sources,
            "targets": targets,
            "replacements": replacements,
            "published": self._published,
            "catalog": catalog.to_json(),
        }

    def _load(self, content: bytes) -> None:
        try:
            document = orjson.loads(content)
            specs = [TableSpec.from_json(source) for source in document["sources"]]
            # A file of before there were targets, or replacements, has none.
            targets = document.get("targets", {}).items()
            self._targets = {name: KafkaTarget.from_json(target) for name, target in targets}
            waiting = map(Pending.from_json, document.get("replacements", ()))
            self._replacements = {pending.view.name: pending for pending in waiting}
            self.catalog = Catalog.from_json(document["catalog"])
            self._lives = {view.name: object() for view in self.catalog.views}
            names = {view.name: view.name for view in self.catalog.views}
            self._published = {**names, **document.get("published", {})}
        except (ValueError, KeyError, TypeError, AttributeError, IvmError) as error:
            raise RegistryCorrupt(f"{self._path}: {error!r}; restore the file") from error
        self._sources = {spec.name: spec for spec in specs}


def _finish(path: Path, committed: int) -> None:
    """Make the change that is staged for a file if its time is committed, or forget it."""
    staged = staged_for(path)
    if not staged.exists():
        return
    try:
        time = orjson.loads(staged.read_bytes()).get("time")
    except orjson.JSONDecodeError:  # it was being written
        time = None
    if time is not None and time <= committed:
        settle(staged, path)
    else:
        staged.unlink()


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RegistryNotWritten(
            f"{path}: {error.strerror}; nothing was changed. Make room, and try again"
        ) from error
