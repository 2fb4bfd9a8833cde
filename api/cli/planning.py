"""Plans what makes a service as a folder defines it: what is created, replaced and dropped.

The texts of views are compiled here, over the folder's sources and views and what else the service
has, which tells the order in which they read one another, and their keys.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from api.cli.apply import catalog_of, query_of, table_of
from api.cli.folder import Folder, Wanted
from api.models import SourceBody
from ivm.errors import IvmError
from ivm_client.errors import Problem
from ivm_client.service import ServiceClient, path
from views.builder import ViewDefinition
from views.catalog import Catalog, Table, View
from views.compile import compile_view
from views.errors import BadDefinition, SqlError, UnknownName, UnknownTable

Action = Literal["create", "replace", "recreate", "alter", "drop", "keep", "refuse"]
SIGNS: Mapping[Action, str] = {
    "create": "+",
    "replace": "~",
    "recreate": "-/+",
    "alter": "~",
    "drop": "-",
    "refuse": "!",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one source or view; `body` is what is put, `detail` says what differs, or why."""

    action: Action
    kind: Literal["source", "view"]
    name: str
    detail: str = ""
    body: dict[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, str]:
        """The change without its body, as JSON."""
        return {
            "action": self.action,
            "kind": self.kind,
            "name": self.name,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes in the order in which they are made, and the number of definitions that stay."""

    changes: Sequence[Change]
    unchanged: int

    def of(self, *actions: Action) -> list[Change]:
        """The changes that do one of these."""
        return [change for change in self.changes if change.action in actions]

    def summary(self) -> str:
        """The plan in numbers."""
        counted = {
            "to create": len(self.of("create", "recreate")),
            "to replace": len(self.of("replace", "alter")),
            "to drop": len(self.of("drop", "recreate")),
        }
        told = ", ".join(f"{count} {what}" for what, count in counted.items())
        return f"Plan: {told}; {self.unchanged} unchanged."


def plan(folder: Folder, service: ServiceClient, *, prune: bool) -> Plan:
    """The changes that make the service as `folder` defines it.

    With `prune` what the folder does not define is dropped, else it stays. Raises BadDefinition,
    which names the file or the source, and Problem.
    """
    there = catalog_of(service)
    known = {view["name"]: view for view in service.get("/v1/views")["views"]}
    declared = [_source(name, body, service) for name, body in folder.sources.items()]
    sources = [change for change, _ in declared]
    kept = [view for view in there.views if not prune and view.name not in folder.views]
    tables = [t for t in there.tables if not prune and t.name not in folder.sources]
    tables += [table for _, table in declared]
    views = [
        _view(wanted, view, known) for wanted, view in _compiled(folder, Catalog(tables), kept)
    ]
    changes = [*sources, *views]
    if prune:
        gone = [view.name for view in reversed(there.views) if view.name not in folder.views]
        changes += [Change("drop", "view", name) for name in gone]
        tables_gone = [t.name for t in there.tables if t.name not in folder.sources]
        changes += [Change("drop", "source", name) for name in tables_gone]
    stays = [change for change in changes if change.action == "keep"]
    return Plan([change for change in changes if change.action != "keep"], len(stays))


def _source(name: str, body: SourceBody, service: ServiceClient) -> tuple[Change, Table]:
    """The effect of a source, and its table, as the service foretells them.

    Raises BadDefinition where it refuses a source without columns, which only it can find.
    """
    members = body.model_dump(exclude_unset=True)
    try:
        found = service.put(path("sources", name), {**members, "dry_run": True})
    except Problem as error:
        if body.columns is None:
            raise BadDefinition(f"source {name!r}: {error}") from error
        spec = body.spec(name, "stall")
        refused = Change("refuse", "source", name, str(error))
        return refused, Table(name, spec.schema, spec.key)
    action: Action = "keep" if found["would"] == "nothing" else found["would"]
    return Change(action, "source", name, body=members), table_of(found)


def _compiled(
    folder: Folder, catalog: Catalog, kept: Sequence[View]
) -> Iterator[tuple[Wanted, View]]:
    """The wanted views, each after those that it reads, as the catalog has them by then."""
    waiting: list[Wanted | View] = [*kept, *folder.views.values()]
    while waiting:
        later: list[Wanted | View] = []
        fault: IvmError | None = None
        for one in waiting:
            try:
                view = one if isinstance(one, View) else _compile(one, catalog)
                catalog.add_view(view)
            except (BadDefinition, UnknownName) as error:
                if not isinstance(error.__cause__ or error, UnknownName | UnknownTable):
                    raise
                fault = fault or error
                later.append(one)
            else:
                if isinstance(one, Wanted):
                    yield one, view
        if fault is not None and len(later) == len(waiting):
            raise fault
        waiting = later


def _compile(wanted: Wanted, catalog: Catalog) -> View:
    """A view as its file defines it (raises BadDefinition)."""
    text, options = wanted.text, wanted.options
    if isinstance(text, ViewDefinition):
        text = query_of(text, wanted.file, catalog)
    try:
        made = compile_view(text, catalog, options.key, (), wanted.language)
    except SqlError as error:
        raise BadDefinition(f"{wanted.file}: {error}") from error
    return View(
        wanted.name,
        text,
        wanted.language,
        made.schema,
        made.key,
        made.dependencies,
        options.lookups,
        made.is_unique,
    )


def _view(wanted: Wanted, view: View, known: Mapping[str, Any]) -> Change:
    """The change that makes a view as it is wanted."""
    options = wanted.options.model_dump(exclude_unset=True)
    body = {"query": view.query, "language": view.language, **options}
    there = known.get(view.name)
    if there is None:
        return Change("create", "view", view.name, body=body)
    if moved := _moved(wanted, there):
        readers = [name for name, other in known.items() if view.name in other["reads"]]
        if readers:
            told = f"{moved} cannot change while it is read by {', '.join(readers)}"
            return Change("refuse", "view", view.name, told)
        return Change("recreate", "view", view.name, moved, body)
    former = {"query": there["query"], "language": there["language"], "key": tuple(there["key"])}
    later = {"query": view.query, "language": view.language, "key": view.key}
    differs = [member for member, value in later.items() if value != former[member]]
    if not differs:
        return Change("keep", "view", view.name)
    for member in ("sink", "lookups"):
        body.pop(member, None)
    return Change("replace", "view", view.name, ", ".join(differs), {**body, "replace": True})


def _moved(wanted: Wanted, there: Mapping[str, Any]) -> str:
    """The options that a replacement does not change, and that differ."""
    sink = wanted.options.sink
    target = None if sink is None else sink.target(wanted.name).to_json()
    published = there.get("sink")
    members = None if published is None else {name: published[name] for name in target or published}
    differs = {"sink": target != members, "lookups": wanted.options.lookups != there["lookups"]}
    return " and ".join(name for name, is_other in differs.items() if is_other)
