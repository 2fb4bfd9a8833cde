"""The declared sources and views, durable.

The file holds the catalog and the specs of its tables; it is replaced whole, so it always is one
state that was acknowledged.
"""

from collections.abc import Mapping
from pathlib import Path

import orjson

from api.errors import RegistryCorrupt
from connectors.files.durable import replace
from connectors.tables import TableSpec
from views.catalog import Catalog, Table, View


class Registry:
    """Sources and views by name; one writer at a time."""

    def __init__(self, path: Path) -> None:
        """Open the file `path`, if it is there (raises RegistryCorrupt)."""
        self._path = path
        self._sources: dict[str, TableSpec] = {}
        self.catalog = Catalog()
        if path.exists():
            self._load(path.read_bytes())

    @property
    def sources(self) -> Mapping[str, TableSpec]:
        """The specs by name, in the order they were declared."""
        return self._sources

    def view(self, name: str) -> View | None:
        """The view of this name, if there is one."""
        entry = self.catalog.get(name)
        return entry if isinstance(entry, View) else None

    def add_source(self, spec: TableSpec) -> None:
        """Declare a source durably (raises NameTaken)."""
        self.catalog.add_table(Table(spec.name, spec.schema, spec.key))
        self._sources[spec.name] = spec
        self._save()

    def replace_source(self, spec: TableSpec) -> None:
        """Change, durably, what of a declared source is no concern of the catalog."""
        self._sources[spec.name] = spec
        self._save()

    def add_view(self, view: View) -> None:
        """Declare a view durably (raises NameTaken)."""
        self.catalog.add_view(view)
        self._save()

    def drop(self, name: str) -> None:
        """Forget a source or view durably (raises UnknownName, StillUsed)."""
        self.catalog.drop(name)
        self._sources.pop(name, None)
        self._save()

    def _save(self) -> None:
        sources = [spec.to_json() for spec in self._sources.values()]
        replace(self._path, orjson.dumps({"sources": sources, "catalog": self.catalog.to_json()}))

    def _load(self, content: bytes) -> None:
        try:
            document = orjson.loads(content)
            specs = [TableSpec.from_json(source) for source in document["sources"]]
            self.catalog = Catalog.from_json(document["catalog"])
        except (ValueError, KeyError, TypeError) as error:
            raise RegistryCorrupt(f"{self._path}: {error!r}; restore the file") from error
        self._sources = {spec.name: spec for spec in specs}
