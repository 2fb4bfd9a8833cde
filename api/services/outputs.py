"""Outputs: a declared view as its sinks know it."""

from hashlib import blake2b

import orjson

from connectors.sinks.sink import Output
from connectors.sinks.target import KafkaTarget
from views.catalog import Catalog, View


def output_of(
    view: View,
    target: KafkaTarget | None,
    published: str,
    catalog: Catalog,
    later: View | None = None,
) -> Output:
    """The output of a view that sinks know as `published`; `catalog` has what it reads.

    `later` is its definition to be, once a switch to that has begun.
    """
    plan = _plan(view, target)
    next_plan = None if later is None else _plan(later, target)
    sources = frozenset[str]().union(*map(catalog.tables_under, view.dependencies))
    return Output(
        *(view.name, view.schema, view.key, view.is_unique, plan),
        target=target,
        next_plan=next_plan,
        published=published,
        sources=sources,
    )


def _plan(view: View, target: KafkaTarget | None) -> str:
    definition = [view.query, view.language, view.key, view.schema.to_string(), target]
    return blake2b(orjson.dumps(definition), digest_size=16).hexdigest()
