"""The catalog: the collections of a pool, their pieces, and the arrangements that others can find."""

from ivm.installed.assembly cimport Assembly
from ivm.installed.collection cimport Collection
from ivm.installed.references cimport Living
from ivm.physical.plan cimport PhysicalPlan
from ivm.installed.pieces cimport Index, Piece

from ivm.dataflow.nodes import Get
from ivm.dataflow.traversal import reads, renamed
from ivm.errors import DuplicateName, InUse, UnknownCollection, Unsupported


cdef class Catalog:
    """`collections` by name, `arrangements` by their nodes, and the pieces that are `living`."""

    cdef readonly dict collections
    cdef readonly dict arrangements
    cdef readonly Living living

    def __init__(self):
        self.collections = {}
        self.arrangements = {}
        self.living = Living()

    def find(self, name):
        """The input or dataflow `name` (raises UnknownCollection)."""
        return self._find(name, "input or dataflow")

    def find_input(self, name):
        """The input `name` (raises UnknownCollection)."""
        cdef Collection found = self._find(name, "input")
        if found.intake is None:
            raise UnknownCollection(f"there is no input {name!r}")
        return found

    def find_dataflow(self, name):
        """The dataflow `name` (raises UnknownCollection)."""
        cdef Collection found = self._find(name, "dataflow")
        if found.intake is not None:
            raise UnknownCollection(f"there is no dataflow {name!r}")
        return found

    cdef Collection _find(self, name, str kind):
        found = self.collections.get(name) if isinstance(name, str) else None
        if found is None:
            raise UnknownCollection(f"there is no {kind} {name!r}")
        return found

    def refuse_name(self, name):
        """Raises DuplicateName if there is a collection `name`, Unsupported if it is not a string."""
        if not isinstance(name, str):
            raise Unsupported(f"{name!r} is not a name: names are strings")
        known = self.collections.get(name)
        if known is not None:
            kind = "an input" if known.is_input else "a dataflow"
            raise DuplicateName(f"{name!r} is {kind} already: drop it first or choose another name")

    def refuse_in_use(self, str name):
        """Raises InUse if others read the collection `name`."""
        cdef Collection known = self.collections[name]
        if known.read_by:
            raise InUse(f"{name!r} is read by {', '.join(known.read_by)}: drop that first")

    def look(self, PhysicalPlan plan):
        """The arrangements that `plan` takes from here, by slot; None if the plan does not hold here."""
        cdef list found = []
        for node in plan.absent:
            if node in self.arrangements:
                return None
        for name, grows in plan.growing.items():
            collection = self.collections.get(name)
            if collection is None or (<Collection> collection).insert_only != grows:
                return None
        for node in plan.found:
            there = self.arrangements.get(node)
            if there is None:
                return None
            found.append(there)
        return found

    def has(self, found):
        """Whether all that were `found`, pieces with their indexes, are still there."""
        for piece, _ in found:
            if not self.living.has(<Piece> piece):
                return False
        return True

    def add(self, Collection collection, Assembly built):
        """Let others find a collection, and the arrangements built for it."""
        self.living.add(built.piece)
        self.collections[collection.name] = collection
        for read in collection.reads:
            (<Collection> self.collections[read]).read_by[collection.name] = None
        self.arrangements.update(built.arrangements)
        if collection.source is not None:
            self.arrangements[collection.source] = built.result
        for node, name in built.plan.indexing:
            (<Collection> self.collections[name]).indexes.append(built.arrangements[node])

    def remove(self, str name):
        """Forget a collection: the pieces that nothing needs any more, which nobody finds."""
        cdef Collection gone = self.collections.pop(name)
        cdef list unused = self.living.drop(gone.piece)
        for read in gone.reads:
            if read in self.collections:
                (<Collection> self.collections[read]).read_by.pop(name, None)
        self.arrangements.pop(gone.source, None)
        for piece in unused:
            self.forget(piece)
        return unused

    # Lets nobody find what a piece arranges, of which look-ups into a collection may know, too.
    cdef int forget(self, Piece piece) except -1:
        cdef Collection source
        node = piece.arranged
        if node is None:
            return 0
        there = self.arrangements.get(node)
        if there is not None and (<tuple> there)[0] is piece:    # none that took the place of its own
            del self.arrangements[node]
        source = self.collections.get(node.input.name) if isinstance(node.input, Get) else None
        if source is not None:
            source.indexes[:] = [entry for entry in source.indexes if entry[0] is not piece]
        return 0

    def take_over(self, dict names):
        """Let each dataflow of `names` have the name that it is mapped to, and the former one of that go.

        Returns the pieces that nothing needs any more, which nobody finds. Dataflows that read a
        former one and are not among `names` go on to read it, for as long as they are there.
        """
        cdef Collection collection
        cdef Piece piece
        cdef list unused = []
        gone = set(names.values())
        for name in reversed([name for name in self.collections if name in gone]):
            unused += self.remove(name)
        for node in [node for node in self.arrangements if not gone.isdisjoint(reads(node))]:
            del self.arrangements[node]
        for name in [name for name in self.collections if name in names]:
            self.collections[names[name]] = self.collections.pop(name)
        for collection in self.collections.values():
            collection.take_names(names)
        for piece in self.living:
            piece.take_names(names)
        for node, (piece, index) in list(self.arrangements.items()):
            (<Index> index).take_names(names)
            if not reads(node).isdisjoint(names):
                del self.arrangements[node]
                self.arrangements[renamed(node, names)] = piece, index
        return unused
