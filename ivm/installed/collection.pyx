"""Collections: the inputs and the installed dataflows of a pool."""

cimport cython

from ivm.installed.assembly cimport Assembly

from ivm.dataflow.traversal import renamed
from ivm.errors import NotIndexed


@cython.freelist(16)    # they come and go with dataflows
cdef class Collection:
    """An input or an installed dataflow, maintained by the stages `built` for it.

    Its rows leave as `layout` says. Dataflows find them by their key as `source`, unless there is
    none: then its changes alone are kept. `indexes` lists their arrangements, `reads` the
    collections that it refers to, `read_by` those that refer to it; `insert_only` says that no row
    is ever retracted, and `pending_errors` are the (message, time, diff) that nobody has taken. An
    input has an `intake`; rows arrive in the format `arriving`.
    """

    def __init__(self, str name, Assembly built, layout, source, *, intake=None, arriving=None,
                 frozenset reads=frozenset(), bint insert_only=False):
        self.name = name
        self.layout = layout
        self.source = source
        self.built = built
        self.piece = built.piece
        self.indexes = [] if built.result is None else [built.result]
        self.intake = intake
        self.arriving = arriving
        self.captures = built.captures
        self.reads = reads
        self.read_by = {}
        self.insert_only = insert_only
        self.pending_errors = []

    cdef int take_names(self, dict names) except -1:
        self.name = names.get(self.name, self.name)
        if not self.reads.isdisjoint(names):
            self.reads = frozenset([names.get(read, read) for read in self.reads])
        if not names.keys().isdisjoint(self.read_by):
            self.read_by = {names.get(name, name): None for name in self.read_by}
        if self.source is not None:
            self.source = renamed(self.source, names)
        return 0

    @property
    def schema(self):
        """The columns of its rows."""
        return self.layout.schema

    @property
    def is_input(self):
        """Whether rows are fed to it."""
        return self.intake is not None

    def first_index(self):
        """The arrangement by its own key, with its piece (raises NotIndexed if it has none)."""
        if self.source is None:
            raise NotIndexed(f"dataflow {self.name!r} keeps its changes alone, and no rows to look up:"
                             " install it with a key")
        return self.indexes[0]

    def index_on(self, names):
        """The arrangement whose key is exactly these columns, in any order (raises NotIndexed)."""
        wanted = list(names)
        self.first_index()
        for _, index in self.indexes:
            if set(index.key_names) == set(wanted):
                return index
        keys = ", ".join([f"({', '.join(index.key_names)})" for _, index in self.indexes])
        raise NotIndexed(f"{self.name!r} is not indexed by ({', '.join(map(str, wanted))}), but by {keys}")
