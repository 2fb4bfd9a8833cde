"""Rendering of inputs: a queue, and the arrangement of its rows by their primary key.

Rows arrive in the format in which the arrangement's key and value lie, at the shard that owns their
key, so that no pass over them moves columns or rows.
"""

from ivm.dataflow import Arrange, Get
from ivm.operators.input import Input
from ivm.operators.operator import Region
from ivm.render.mechanics import Mechanics
from ivm.render.pieces import Collection, Index, arranged_formats
from ivm.render.scopes import Rendered
from ivm.rows.format import Format, row_format
from ivm.rows.layout import Layout
from ivm.rows.strings import Interner
from ivm.workers.intake import Intake


def render_input(
    node: Arrange, shards: int, interner: Interner, *, insert_only: bool
) -> Collection:
    """The input that `node` arranges (raises Unsupported for its columns)."""
    assert isinstance(node.input, Get)
    name, schema = node.input.name, node.input.schema
    key_format, val_format, together = arranged_formats(node)
    form = _in_columns_order(node, together)
    row_format(schema)  # as rows leave: it may have too many columns for that
    root = Region(1)
    keys = ", ".join(node.schema.names[: len(node.key)])
    mechanics = Mechanics(f"{name}[{keys}]", root, shards, interner)
    inputs = mechanics.add_stage(lambda s: Input(root, form.words))
    arranged = Rendered(inputs, together)
    traces = mechanics.sealed(arranged, key_format.words, node.schema.types)
    index = Index(node, key_format, val_format, traces)
    return Collection(
        name,
        schema,
        mechanics.piece,
        [(mechanics.piece, index)],
        Intake(inputs, Layout(schema, form), interner, node.key),
        form,
        insert_only=insert_only,
    )


def _in_columns_order(node: Arrange, together: Format) -> Format:
    """The format of an arrangement's key and value, with the places in the input's order."""
    width = range(len(node.input.schema))
    order = [*node.key, *(i for i in width if i not in node.key)]
    return Format(together.words, tuple(together.places[order.index(i)] for i in width))
