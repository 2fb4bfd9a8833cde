"""Collections: the inputs and the installed dataflows of a pool."""

from ivm.errors import NotIndexed
from ivm.render.pieces cimport Piece


cdef class Collection:
    """An input or an installed dataflow.

    Its rows leave as `layout` says. Dataflows find them by their key as `source`. `indexes` lists
    their arrangements, `reads` the collections that it refers to, `read_by` those that refer to it;
    `insert_only` says that no row is ever retracted, and `pending_errors` are the (message, time,
    diff) that nobody has taken. An input has an `intake`; rows arrive in the format `arriving`.
    """

    def __init__(self, str name, layout, source, Piece piece, list indexes, intake=None,
                 arriving=None, tuple captures=(), frozenset reads=frozenset(),
                 bint insert_only=False):
        self.name = name
        self.layout = layout
        self.source = source
        self.piece = piece
        self.indexes = indexes
        self.intake = intake
        self.arriving = arriving
        self.captures = captures
        self.reads = reads
        self.read_by = {}
        self.insert_only = insert_only
        self.pending_errors = []

    @property
    def schema(self):
        """The columns of its rows."""
        return self.layout.schema

    @property
    def is_input(self):
        """Whether rows are fed to it."""
        return self.intake is not None

    def index_on(self, names):
        """The arrangement whose key is exactly these columns, in any order (raises NotIndexed)."""
        wanted = list(names)
        for _, index in self.indexes:
            if set(index.key_names) == set(wanted):
                return index
        keys = ", ".join([f"({', '.join(index.key_names)})" for _, index in self.indexes])
        raise NotIndexed(f"{self.name!r} is not indexed by ({', '.join(wanted)}), but by {keys}")
