"""Compiles queries over the declared sources and views, and explains what they would cost."""

from collections.abc import Sequence
from functools import lru_cache

from api.errors import CartesianProduct, LimitTooHigh
from api.services.parts import Parts
from ivm.dataflow.nodes import Iterate, Node
from ivm.dataflow.traversal import walk
from ivm.results import Forecast
from views.catalog import Catalog, View
from views.compile import CompiledQuery, CompiledView, compile_query, compile_view
from views.explain import explain
from views.plan.bound import Stage

# Queries that are asked again need not be compiled again, as those of dashboards: so many of late
# are known, each of a text of so many characters at most.
KNOWN_QUERIES = 200
KNOWN_CHARACTERS = 4_000


class Compiler:
    """Reads the catalog and the arrangements of the pool as they are at the call."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._limits = parts.settings.query_limits
        self._known = lru_cache(KNOWN_QUERIES)(self._read)

    def compile(self, query: str, language: str, key: Sequence[str] | None) -> CompiledView:
        """The view that a query makes (raises a kind of SqlError)."""
        catalog = self._parts.registry.catalog
        return compile_view(query, catalog, key, self._arranged(), language, self._limits)

    def query(self, query: str, language: str) -> CompiledQuery:
        """A query that is answered once.

        Raises a kind of SqlError, CartesianProduct and LimitTooHigh.
        """
        catalog = self._parts.registry.catalog
        read = self._known if len(query) <= KNOWN_CHARACTERS else self._read
        compiled = read(query, language, catalog, catalog.version, self._arranged())
        self._refuse_pairs(compiled.node, ())
        self._refuse_rounds(compiled.node)
        return compiled

    def _read(
        self, query: str, language: str, catalog: Catalog, version: int, arranged: frozenset[str]
    ) -> CompiledQuery:
        """A query compiled over a version of a catalog, and the arrangements that there are."""
        return compile_query(query, catalog, arranged, language, self._limits)

    def seen(self, view: View, catalog: Catalog) -> CompiledView:
        """A view compiled as it was declared, though tables may have more columns by now."""
        seen = catalog.seen_by(view)
        return compile_view(
            view.query, seen, view.key, self._arranged(), view.language, self._limits
        )

    def explain(
        self, query: str, language: str, key: Sequence[str] | None, *, lookups: bool = True
    ) -> tuple[CompiledView, Forecast, tuple[Stage, ...]]:
        """A view over `query`: its dataflow, the arrangements it would share or make, its stages.

        Without `lookups` none is made of its own rows. Raises a kind of SqlError.
        """
        compiled = self.compile(query, language, key)
        catalog, pool = self._parts.registry.catalog, self._parts.pool
        stages = explain(query, catalog, self._arranged(), language, self._limits)
        made = (compiled.node, compiled.key if lookups else None)
        physical = Stage("physical", pool.plan_text(*made))
        return compiled, pool.explain(*made), (*stages, physical)

    def refuse_product(self, compiled: CompiledView) -> None:
        """See that a view pairs no more rows than the operator allows (raises CartesianProduct)."""
        self._refuse_pairs(compiled.node, compiled.key)

    def _refuse_pairs(self, node: Node, key: Sequence[str]) -> None:
        pairs = self._parts.pool.explain(node, key).pairs
        most = self._parts.settings.max_pairs
        if pairs > most:
            raise CartesianProduct(
                f"a join without an equality would make about {pairs:,} pairs of rows, more than "
                f"max_pairs, which is {most:,}; join by an equality, filter before the join, or "
                "let the operator raise max_pairs"
            )

    def refuse_rounds(self, compiled: CompiledView) -> None:
        """See that a recursion asks for no more rounds than are allowed (raises LimitTooHigh)."""
        self._refuse_rounds(compiled.node)

    def _refuse_rounds(self, node: Node) -> None:
        most = self._parts.settings.max_rounds
        for part in walk(node):
            if isinstance(part, Iterate) and (part.max_rounds or 0) > most:
                raise LimitTooHigh(
                    f"a recursion limit of {part.max_rounds:,} rounds is more than max_rounds, "
                    f"which is {most:,}; lower the limit, or let the operator raise max_rounds"
                )

    def _arranged(self) -> frozenset[str]:
        return self._parts.pool.arranged()
