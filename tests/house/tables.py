"""`python -m tests.house.tables`: writes the tables of pages that are made of the code anew.

A table stands between the comments `<!-- NAME -->` and `<!-- end -->` of its page.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from api.app import create_app
from api.security.oidc import Oidc
from api.settings import ClusterSettings, Settings
from connectors.connections import Connection
from tests.unit.api.conftest import make_runtime

DOCS = Path(__file__).parents[2] / "docs"


def settings_of(model: type[BaseModel], variables: bool = False) -> list[str]:
    """A table of the fields of a model, with the variables that say them."""
    rows = []
    for name, field in model.model_fields.items():
        if name == "name":
            continue
        told = " ".join((field.description or "").split())
        row = [f"`{name}`"]
        if variables:
            row.append(f"`IVM_{name.upper()}`")
        rows.append([*row, _default(field), told])
    heads = ["setting", "variable", "default", "says"]
    return _table(heads if variables else [heads[0], *heads[2:]], rows)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    if field.default_factory is not None:
        return "by the machine"
    default: Any = field.default
    if default is None or isinstance(default, SecretStr) or default in ({}, frozenset()):
        return ""
    if isinstance(default, dict):
        default = ", ".join(default)
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, float):
        return f"`{default:g}`" if default < 1e6 else f"`{int(default)}`"
    return f"`{default}`"


def metrics() -> list[str]:
    """A table of all metrics of a service; those of Python's process are Prometheus' own."""
    with TemporaryDirectory() as directory:
        runtime = make_runtime(Path(directory))
        with TestClient(create_app(runtime)) as client:
            found = families(client.app.state.metrics)  # type: ignore[attr-defined]
    rows = [
        [f"`{_sample(f)}`", f.type, ", ".join(f"`{name}`" for name in labels), f.documentation]
        for f, labels in sorted(found, key=lambda one: one[0].name)
        if f.name.startswith("ivm_")
    ]
    return _table(["metric", "type", "labels", "tells"], rows)


def families(registry: CollectorRegistry) -> Iterator[tuple[Metric, tuple[str, ...]]]:
    """Every family of a registry, with its labels."""
    for collector in tuple(registry._collector_to_names):
        own = collector._labelnames if isinstance(collector, MetricWrapperBase) else ()
        for family in collector.collect():
            yield family, own or tuple(getattr(family, "_labelnames", ()))


def _sample(family: Metric) -> str:
    return f"{family.name}_total" if family.type == "counter" else family.name


def _table(heads: list[str], rows: Iterable[list[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines]


def tables() -> Mapping[str, Mapping[str, list[str]]]:
    """The lines of every table, by page and name."""
    return {
        "settings.md": {
            "settings": settings_of(Settings, variables=True),
            "connections": settings_of(Connection),
            "cluster": settings_of(ClusterSettings),
            "oidc": settings_of(Oidc),
        },
        "observability.md": {"metrics": metrics()},
    }


def written(page: str, name: str) -> list[str]:
    """The lines of a table as they stand in its page."""
    text = (DOCS / page).read_text()
    return text.partition(f"<!-- {name} -->\n")[2].partition("\n<!-- end -->")[0].splitlines()


def write() -> None:
    """Write every table into its page."""
    for page, found in tables().items():
        text = (DOCS / page).read_text()
        for name, lines in found.items():
            before, _, rest = text.partition(f"<!-- {name} -->\n")
            after = rest.partition("<!-- end -->")[2]
            text = f"{before}<!-- {name} -->\n" + "\n".join(lines) + f"\n<!-- end -->{after}"
        (DOCS / page).write_text(text)


if __name__ == "__main__":
    write()
