"""The declared sources and views, durable.

The file holds the catalog and the specs of its tables; it is replaced whole, so it always is one
state that was acknowledged. The journal has its part in what a source is: it is written after room
for the file was taken and before the file is replaced, so that either can be refused, as by a full
disk, while the other is as it was. Of a crash between the two a start makes the same: what the
journal says of a table that is not declared is forgotten, and a table of which it says nothing is
read from its start.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import orjson

from api.errors import RegistryCorrupt, RegistryNotWritten
from connectors.files.durable import settle, stage
from connectors.sinks.target import KafkaTarget
from connectors.tables.spec import TableSpec
from ivm.errors import IvmError
from views.catalog import Catalog, Table, View


class Registry:
    """Sources and views by name; one writer at a time."""

    def __init__(self, path: Path) -> None:
        """Open the file `path`, if it is there (raises RegistryCorrupt)."""
        self._path = path
        self._sources: dict[str, TableSpec] = {}
        self._targets: dict[str, KafkaTarget] = {}
        self.catalog = Catalog()
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
    def widening_source(self, spec: TableSpec) -> Iterator[None]:
        """Add columns to a source, durably at the end of the context; not at all if that raises.

        Raises RegistryNotWritten.
        """
        with self._undoing():
            self.catalog.widen(Table(spec.name, spec.schema, spec.key))
            self._sources[spec.name] = spec
            with self._saving():
                yield

    def replace_source(self, spec: TableSpec) -> None:
        """Change, durably, the part of a declared source that the catalog does not hold.

        Raises RegistryNotWritten.
        """
        with self._undoing():
            self._sources[spec.name] = spec
            self._save()

    def add_view(self, view: View, target: KafkaTarget | None = None) -> None:
        """Declare a view, and where else it goes, durably.

        Raises NameTaken, RegistryNotWritten.
        """
        with self._undoing():
            self.catalog.add_view(view)
            if target is not None:
                self._targets[view.name] = target
            self._save()

    @contextmanager
    def dropping_source(self, name: str) -> Iterator[None]:
        """Forget a source, durably at the end of the context; not at all if that raises.

        Raises UnknownName, StillUsed, RegistryNotWritten.
        """
        with self._undoing():
            self.catalog.drop(name)
            del self._sources[name]
            with self._saving():
                yield

    def drop_view(self, name: str) -> None:
        """Forget a view durably (raises UnknownName, StillUsed, RegistryNotWritten)."""
        with self._undoing():
            self.catalog.drop(name)
            self._targets.pop(name, None)
            self._save()

    @contextmanager
    def _undoing(self) -> Iterator[None]:
        """Undo a change that is not saved, so that declarations and file agree."""
        catalog = Catalog(self.catalog.tables, self.catalog.views)
        before = dict(self._sources), dict(self._targets), catalog
        try:
            yield
        except BaseException:
            self._sources, self._targets, self.catalog = before
            raise

    def _save(self) -> None:
        with self._saving():
            pass

    @contextmanager
    def _saving(self) -> Iterator[None]:
        """Make the declarations durable at the end of the context; room for them is taken now."""
        with _telling(self._path):
            staged = stage(self._path, self._document())
        yield
        with _telling(self._path):
            settle(staged, self._path)

    def _document(self) -> bytes:
        sources = [spec.to_json() for spec in self._sources.values()]
        targets = {name: target.to_json() for name, target in self._targets.items()}
        catalog = self.catalog.to_json()
        return orjson.dumps({"sources": sources, "targets": targets, "catalog": catalog})

    def _load(self, content: bytes) -> None:
        try:
            document = orjson.loads(content)
            specs = [TableSpec.from_json(source) for source in document["sources"]]
            # A file of before there were targets has none.
            targets = document.get("targets", {}).items()
            self._targets = {name: KafkaTarget.from_json(target) for name, target in targets}
            self.catalog = Catalog.from_json(document["catalog"])
        except (ValueError, KeyError, TypeError, AttributeError, IvmError) as error:
            raise RegistryCorrupt(f"{self._path}: {error!r}; restore the file") from error
        self._sources = {spec.name: spec for spec in specs}


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RegistryNotWritten(
            f"{path}: {error.strerror}; nothing was changed. Make room, and try again"
        ) from error
