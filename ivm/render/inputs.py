"""Rendering of inputs: a queue, and the arrangement of its rows by their primary key.

Rows arrive in the format in which the arrangement's key and value lie, at the shard that owns their
key, so that no pass over them moves columns or rows.
"""

from functools import lru_cache

from ivm.dataflow import Arrange, Get
from ivm.operators.input import Input
from ivm.operators.operator import Region
from ivm.render.mechanics import Mechanics
from ivm.render.pieces import Collection, Index, Piece, shape_of
from ivm.render.scopes import Rendered
from ivm.rows.format import Format
from ivm.rows.layout import Layout
from ivm.rows.strings import Interner
from ivm.workers.intake import Intake


def render_input(
    node: Arrange, shards: int, interner: Interner, *, insert_only: bool
) -> Collection:
    """The input that `node` arranges (raises Unsupported for its columns)."""
    assert isinstance(node.input, Get)
    name, schema = node.input.name, node.input.schema
    shape, root = shape_of(node), Region(1)
    keys = ", ".join(node.schema.names[: len(node.key)])
    piece = Piece(f"{name}[{keys}]", node)
    mechanics = Mechanics(piece, root, shards, interner)
    inputs = mechanics.add_stage(lambda s: Input(root, shape.together.words))
    traces = mechanics.sealed(Rendered(inputs, shape.together), shape.key.words, shape.strings)
    arriving, layout = _arriving(node)
    return Collection(
        name,
        schema,
        node,
        piece,
        [(piece, Index(node, shape, traces))],
        Intake(inputs, layout, interner, node.key),
        arriving,
        insert_only=insert_only,
    )


@lru_cache
def _arriving(node: Arrange) -> tuple[Format, Layout]:
    """The format of an arrangement's key and value, with the places in the input's order."""
    together = shape_of(node).together
    width = range(len(node.input.schema))
    order = [*node.key, *(i for i in width if i not in node.key)]
    form = Format(together.words, tuple(together.places[order.index(i)] for i in width))
    return form, Layout(node.input.schema, form)
