"""Top-k with ties: keeps also the rows that equal the last one.

The last row of each group is a top-k of its own; the rows that equal it are found by a join on the
group and the ordering. Of the plain top-k those rows are taken away, and all of them put in, less
those that the offset leaves out.
"""

from ivm.dataflow import nodes as df
from views.lowering.lowered import projected


def topk_with_ties(top: df.TopK) -> df.Node:
    """Adds to `top`, whose limit is at least 1, all rows that equal its last one."""
    assert top.limit is not None
    columns = tuple(dict.fromkeys((*top.key, *(o.column for o in top.order))))
    last = df.TopK(top.input, top.key, top.order, 1, top.offset + top.limit - 1)
    tied = df.Arrange(projected(last, columns), tuple(range(len(columns))))
    plain = df.Union((top, df.Negate(_equal(top, tied, columns))))
    if not top.offset:
        return df.Union((plain, _equal(top.input, tied, columns)))
    skipped = df.TopK(top.input, top.key, top.order, top.offset)
    left_out = df.Negate(_equal(skipped, tied, columns))
    return df.Union((plain, _equal(top.input, tied, columns), left_out))


def _equal(rows: df.Node, tied: df.Arrange, columns: tuple[int, ...]) -> df.Node:
    """The rows whose `columns` are those of the one row of `tied`."""
    arranged = df.Arrange(rows, columns)
    order = (*columns, *(i for i in range(len(rows.schema)) if i not in columns))
    outputs = tuple((f.name, order.index(i)) for i, f in enumerate(rows.schema))
    return df.Join(arranged, tied, outputs)
