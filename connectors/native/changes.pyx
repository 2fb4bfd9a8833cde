"""Changes of rows out of the tokens of records, by the rules of each envelope.

The rules are those of `connectors.envelopes`, for what records mostly are: whatever else a record
may be, it is refused, and to be read by these.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcmp
from libcpp.vector cimport vector

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE

import numpy as np

from connectors.native.columns cimport Column, append, append_null, buffers_of, cut, to_long, whole
from connectors.native.contents cimport Contents
from connectors.native.positions cimport log_place, pair_of
from connectors.native.shapes cimport shape_of
from connectors.native.tokens cimport (
    ABSENT,
    ARRAY,
    BYTES,
    FALSEHOOD,
    INTEGER,
    LONG,
    OBJECT,
    PLAIN,
    TRUTH,
    Scanner,
    Token,
    is_nothing,
    is_same,
    is_text,
    is_word,
)

cdef enum Rule:
    APPEND
    UPSERT
    FLAT
    DEBEZIUM
    MAXWELL
    CANAL

_RULES = {
    "append": Rule.APPEND,
    "upsert": Rule.UPSERT,
    "flat": Rule.FLAT,
    "debezium": Rule.DEBEZIUM,
    "maxwell": Rule.MAXWELL,
    "canal": Rule.CANAL,
}

# The marks of each rule, in the order of `connectors.envelopes.layout`.
cdef enum DebeziumMark:
    OP
    TS_MS
    SEQUENCE
    FILE
    POS
    GTID
    TRANSACTION

cdef enum FlatMark:
    DELETED
    FLAT_OP

cdef enum MaxwellMark:
    TYPE
    TS
    POSITION

cdef enum CanalMark:
    CANAL_TYPE
    IS_DDL
    ES
    CANAL_TS

ctypedef const Token* Picked

cdef class Changes:
    """Changes of a table, which grow by records; `tombstones` of these said nothing.

    `tree` reads values, and `key_tree` keys if rows have columns from there: then `in_key` says
    which. Without it no record may have a key, if there are keys. `images` has for each image the
    slot of its object and those of its columns; `marks` the slots of the envelope's other parts.
    `wrapping` are the slots of `schema` and `payload` in
    values and keys, where no record with both is to be read. `unlogged` are the texts, and the
    bytes, that stand for values which the database did not log.
    """

    cdef Rule rule
    cdef bint is_keyed
    cdef Scanner tree
    cdef Scanner key_tree
    cdef vector[Token] tokens
    cdef vector[Token] key_tokens
    cdef vector[Column] columns
    cdef vector[int] objects
    cdef vector[vector[int]] images
    cdef vector[int] in_key
    cdef int keys
    cdef vector[int] marks
    cdef vector[Picked] picked
    cdef int wrapping[2]
    cdef int key_wrapping[2]
    cdef bint has_transactions
    cdef vector[int64_t] owners
    cdef vector[int64_t] diffs
    cdef vector[int64_t] ts_ms
    cdef vector[uint64_t] order
    cdef vector[char] ids
    cdef vector[int32_t] id_ends
    cdef readonly Py_ssize_t tombstones
    cdef list held
    cdef vector[Token] unlogged
    cdef vector[int64_t] missing

    def __init__(
        self, str rule, bint is_keyed, Scanner tree, Scanner key_tree, list shapes, list images,
        list marks, tuple wrapping, tuple key_wrapping, bint has_transactions, list unlogged,
    ):
        cdef Column column
        cdef Token token
        self.rule = _RULES[rule]
        self.is_keyed = is_keyed
        self.tree, self.key_tree = tree, key_tree
        self.tokens.resize(tree.slots)
        self.key_tokens.resize(key_tree.slots if key_tree is not None else 1)
        for shape, in_key in shapes:
            column.shape = shape_of(shape)
            column.nulls = 0
            self.columns.push_back(column)
            self.in_key.push_back(in_key)
            self.keys += in_key > 0
        self.picked.resize(self.columns.size())
        for slot, slots in images:
            self.objects.push_back(slot)
            self.images.push_back(slots)
        self.marks = marks
        self.wrapping[0], self.wrapping[1] = wrapping
        self.key_wrapping[0], self.key_wrapping[1] = key_wrapping
        self.has_transactions = has_transactions
        self.held = [one.encode() if isinstance(one, str) else one for one in unlogged]
        for one, content in zip(unlogged, self.held):
            token.kind = PLAIN if isinstance(one, str) else BYTES
            token.start = PyBytes_AS_STRING(content)
            token.stop = token.start + PyBytes_GET_SIZE(content)
            self.unlogged.push_back(token)

    def read(
        self, values, keys, Py_ssize_t start, Py_ssize_t stop, bytes prefix, bytes key_prefix
    ):
        """Take the records from `start` to `stop`, up to the first that is refused; its index.

        Each value, and each key, begins with its prefix.
        """
        cdef Py_ssize_t i = start
        cdef size_t rows
        cdef Contents of_values = Contents(values)
        cdef Contents of_keys = Contents(keys) if keys is not None else None
        while i < stop:
            rows = self.diffs.size()
            if not self._take(i, of_values, of_keys, prefix, key_prefix):
                self._cut(rows)
                break
            i += 1
        return i

    def rows(self):
        """The number of changes."""
        return self.diffs.size()

    def column(self, Py_ssize_t index):
        """The number of NULLs in a column, and its buffers."""
        return buffers_of(&self.columns[index])

    def places(self):
        """The index of the record of each change, and the diff."""
        return _longs(self.owners), _longs(self.diffs)

    def left_out(self):
        """Pairs of a change and a column whose value it leaves as it is."""
        return _longs(self.missing).reshape(-1, 2)

    def stamps(self):
        """The time of each change, its position as two numbers, and its transaction's id."""
        cdef Py_ssize_t i
        order = np.frombuffer(_bytes(<char*> self.order.data(), 8 * self.order.size()), np.uint64)
        ids = None
        if self.has_transactions:
            whole, begin, ids = _bytes(self.ids.data(), self.ids.size()), 0, []
            for i in range(<Py_ssize_t> self.id_ends.size()):
                end = self.id_ends[i]
                ids.append(None if end < 0 else whole[begin:end].decode())
                begin = begin if end < 0 else end
        return _longs(self.ts_ms), order.reshape(-1, 2), ids

    cdef int _cut(self, size_t rows) except -1:
        """Leave the first rows alone."""
        cdef size_t i
        for i in range(self.columns.size()):
            cut(&self.columns[i], rows)
        while self.missing.size() and self.missing[self.missing.size() - 2] >= <int64_t> rows:
            self.missing.resize(self.missing.size() - 2)
        self.owners.resize(rows)
        self.diffs.resize(rows)
        self.ts_ms.resize(rows)
        self.order.resize(2 * rows)
        if self.has_transactions:
            self.id_ends.resize(rows)
            end = 0
            for i in range(rows):
                end = max(end, self.id_ends[i])
            self.ids.resize(end)
        return 0

    cdef bint _take(
        self, Py_ssize_t owner, Contents values, Contents keys, bytes prefix, bytes key_prefix
    ) except -1:
        """Append the changes of one record; False where it is refused."""
        cdef const char* start
        cdef const char* stop
        if self.key_tree is None:
            if keys is not None and keys.find(owner, &start, &stop):
                return False  # its row is that of the key
        else:
            if keys is None or not keys.find(owner, &start, &stop):
                return False
            if not self._scan(self.key_tree, start, stop, key_prefix, self.key_tokens.data()):
                return False
            if self._is_wrapped(self.key_tokens.data(), self.key_wrapping, key_prefix):
                return False
            if self.key_tokens[0].kind != OBJECT and self.keys != 1:
                return False
        if not values.find(owner, &start, &stop):
            return self._empty(owner)
        if not self._scan(self.tree, start, stop, prefix, self.tokens.data()):
            return False
        if self._is_wrapped(self.tokens.data(), self.wrapping, prefix):
            return False
        if self.rule == DEBEZIUM:
            return self._debezium(owner)
        if self.rule == FLAT:
            return self._flat(owner)
        if self.rule == UPSERT or self.rule == APPEND:
            return self._is_row() and self._add(owner, 1, 0, False)
        if self.rule == MAXWELL:
            return self._maxwell(owner)
        return self._canal(owner)

    cdef bint _scan(
        self, Scanner tree, const char* start, const char* stop, bytes prefix, Token* tokens
    ) except -1:
        cdef Py_ssize_t length = PyBytes_GET_SIZE(prefix)
        if length:
            if stop - start <= length or (tree.has_brace and stop[-1] != c"}"):
                return False
            if memcmp(start, PyBytes_AS_STRING(prefix), length) != 0:
                return False
            start, stop = start + length, stop - tree.has_brace
        return tree.scan(start, stop, tokens)

    cdef bint _is_wrapped(self, const Token* tokens, const int* slots, bytes prefix) except -1:
        """Whether a schema may stand beside the text's value, where none is looked for."""
        if PyBytes_GET_SIZE(prefix):
            return False
        return tokens[slots[0]].kind != ABSENT and tokens[slots[1]].kind != ABSENT

    cdef bint _empty(self, Py_ssize_t owner) except -1:
        """A record without a value."""
        if self.rule == UPSERT or self.rule == FLAT:
            return self.key_tree is not None and self._add(owner, -1, 0, True)
        if self.rule == APPEND:
            return False
        self.tombstones += 1
        return True

    cdef bint _is_row(self) noexcept:
        """Whether the value is an object that can stand for a row."""
        cdef int slot
        cdef size_t i
        cdef bint is_key_alone = True
        if self.tokens[0].kind != OBJECT:
            return False
        if self.tokens[0].members == 0:
            return True
        for i in range(self.columns.size()):
            slot = self.images[0][i]
            is_key_alone = is_key_alone and self.columns[i].shape.is_key
            if self.tokens[slot].kind != ABSENT:
                return True
        return is_key_alone

    # --- rows ---

    cdef bint _add(self, Py_ssize_t owner, int diff, int image, bint only_key) except -1:
        """Append the change of the row of an image, or of its key alone."""
        cdef size_t i
        for i in range(self.columns.size()):
            self.picked[i] = self._token(i, image)
        return self._add_picked(owner, diff, only_key)

    cdef inline const Token* _token(self, size_t column, int image) noexcept:
        """The token of a column in an image, or in the record's key."""
        if not self.in_key[column]:
            return &self.tokens[self.images[image][column]]
        if self.key_tokens[0].kind == OBJECT:
            return &self.key_tokens[self.in_key[column]]
        return &self.key_tokens[0]

    cdef bint _add_picked(self, Py_ssize_t owner, int diff, bint only_key) except -1:
        cdef size_t i
        cdef Column* column
        for i in range(self.columns.size()):
            column = &self.columns[i]
            if only_key and not column.shape.is_key:
                append_null(column)
            elif diff == 1 and self.is_keyed and not column.shape.is_key and self._is_unlogged(i):
                append_null(column)
                self.missing.push_back(self.diffs.size())
                self.missing.push_back(i)
            elif not append(column, self.picked[i]):
                return False
        self.owners.push_back(owner)
        self.diffs.push_back(diff)
        return self._stamp()

    cdef bint _is_unlogged(self, size_t column) noexcept:
        """Whether a column's value is one that the database did not log."""
        cdef size_t i
        for i in range(self.unlogged.size()):
            if is_same(self.picked[column], &self.unlogged[i]):
                return True
        return False

    cdef bint _stamp(self) except -1:
        """Append when and where the change happened."""
        cdef int64_t ts_ms = 0
        cdef uint64_t place[2]
        place[0] = place[1] = 0
        if self.rule == DEBEZIUM:
            if not self._debezium_time(&ts_ms) or not self._debezium_place(place):
                return False
            if self.has_transactions and not self._transaction():
                return False
        elif self.rule == MAXWELL:
            if not self._maxwell_time(&ts_ms) or not self._maxwell_place(place):
                return False
        elif self.rule == CANAL and not self._canal_time(&ts_ms):
            return False
        self.ts_ms.push_back(ts_ms)
        self.order.push_back(place[0])
        self.order.push_back(place[1])
        return True

    cdef inline const Token* _mark(self, int mark) noexcept:
        return &self.tokens[self.marks[mark]]

    cdef bint _same_key(self, int one, int other) noexcept:
        """Whether the key is surely the same in two images."""
        cdef size_t i
        for i in range(self.columns.size()):
            if self.columns[i].shape.is_key:
                if not is_same(self._token(i, one), self._token(i, other)):
                    return False
        return True

    # --- Debezium ---

    cdef bint _debezium(self, Py_ssize_t owner) except -1:
        cdef const Token* op = self._mark(OP)
        cdef const Token* before = &self.tokens[self.objects[0]]
        cdef const Token* after = &self.tokens[self.objects[1]]
        cdef char letter
        if self.tokens[0].kind != OBJECT or op.kind != PLAIN or op.stop - op.start != 1:
            return False
        letter = op.start[0]
        if letter == c"c" or letter == c"r":
            return after.kind == OBJECT and self._add(owner, 1, 1, False)
        if letter == c"d":
            return before.kind == OBJECT and self._add(owner, -1, 0, self.is_keyed)
        if letter != c"u" or after.kind != OBJECT:
            return False
        if not self.is_keyed:
            if before.kind != OBJECT or not self._add(owner, -1, 0, False):
                return False
        elif before.kind == OBJECT and not self._same_key(0, 1):
            return False
        return self._add(owner, 1, 1, False)

    cdef bint _debezium_time(self, int64_t* into) noexcept:
        cdef const Token* token = self._mark(TS_MS)
        return (token.kind != INTEGER and token.kind != LONG) or whole(token, into)

    cdef bint _debezium_place(self, uint64_t* place) noexcept:
        cdef const Token* op = self._mark(OP)
        cdef const Token* sequence = self._mark(SEQUENCE)
        cdef const Token* file = self._mark(FILE)
        if op.start[0] == c"r":
            return True
        if is_text(sequence):
            return pair_of(sequence, place)
        if not is_nothing(sequence):
            return False
        if is_nothing(file) or not is_nothing(self._mark(GTID)):
            return True
        return file.kind == PLAIN and log_place(
            file.start, file.stop, self._mark(POS), place
        )

    cdef bint _transaction(self) except -1:
        cdef const Token* id = self._mark(TRANSACTION)
        if id.kind == PLAIN:
            self.ids.insert(self.ids.end(), id.start, id.stop)
            self.id_ends.push_back(<int32_t> self.ids.size())
            return True
        if not is_nothing(id):
            return False
        self.id_ends.push_back(-1)
        return True

    # --- rows alone ---

    cdef bint _flat(self, Py_ssize_t owner) except -1:
        cdef const Token* deleted = self._mark(DELETED)
        cdef const Token* op = self._mark(FLAT_OP)
        cdef bint is_deleted
        if self.tokens[0].kind != OBJECT:
            return False
        if is_nothing(deleted) or deleted.kind == FALSEHOOD or is_word(deleted, b"false"):
            is_deleted = False
        elif deleted.kind == TRUTH or is_word(deleted, b"true"):
            is_deleted = True
        else:
            return False
        if is_word(op, b"d"):
            is_deleted = True
        elif not (is_nothing(op) or is_word(op, b"c") or is_word(op, b"r") or is_word(op, b"u")):
            return False
        if is_deleted:
            return self._add(owner, -1, 0, True)
        return self._is_row() and self._add(owner, 1, 0, False)

    # --- Maxwell ---

    cdef bint _maxwell(self, Py_ssize_t owner) except -1:
        cdef const Token* kind = self._mark(TYPE)
        cdef const Token* old = &self.tokens[self.objects[1]]
        cdef size_t i
        if self.tokens[0].kind != OBJECT or self.tokens[self.objects[0]].kind != OBJECT:
            return False
        if is_word(kind, b"insert") or is_word(kind, b"bootstrap-insert"):
            return self._add(owner, 1, 0, False)
        if is_word(kind, b"delete"):
            return self._add(owner, -1, 0, self.is_keyed)
        if not is_word(kind, b"update") or old.kind != OBJECT:
            return False
        return self._update(owner)

    cdef bint _update(self, Py_ssize_t owner) except -1:
        """The row of image 0, whose former values are those of image 1 where it has any."""
        cdef size_t i
        cdef const Token* former
        for i in range(self.columns.size()):
            former = self._token(i, 1)
            self.picked[i] = self._token(i, 0) if former.kind == ABSENT else former
            if self.is_keyed and self.columns[i].shape.is_key:
                if not is_same(self.picked[i], self._token(i, 0)):
                    return False
        if not self.is_keyed and not self._add_picked(owner, -1, False):
            return False
        return self._add(owner, 1, 0, False)

    cdef bint _maxwell_time(self, int64_t* into) noexcept:
        cdef const Token* token = self._mark(TS)
        cdef int64_t seconds = 0
        if token.kind != INTEGER:
            return True
        if not to_long(token.start, token.stop, &seconds) or not 0 <= seconds < (<int64_t> 1 << 50):
            return False
        into[0] = seconds * 1000
        return True

    cdef bint _maxwell_place(self, uint64_t* place) noexcept:
        cdef const Token* token = self._mark(POSITION)
        cdef const char* colon
        cdef Token pos
        if is_nothing(token):
            return True
        if token.kind != PLAIN:
            return False
        colon = token.stop
        while colon > token.start and colon[-1] != c":":
            colon -= 1
        if colon == token.start:
            return False
        pos.kind, pos.start, pos.stop = INTEGER, colon, token.stop
        return log_place(token.start, colon - 1, &pos, place)

    # --- Canal ---

    cdef bint _canal(self, Py_ssize_t owner) except -1:
        cdef const Token* kind = self._mark(CANAL_TYPE)
        if self.tokens[0].kind != OBJECT or self.tokens[self.objects[0]].kind != ARRAY:
            return False
        if self._mark(IS_DDL).kind == TRUTH:
            return False
        if is_word(kind, b"INSERT"):
            return self._add(owner, 1, 0, False)
        if is_word(kind, b"DELETE"):
            return self._add(owner, -1, 0, self.is_keyed)
        if not is_word(kind, b"UPDATE") or self.tokens[self.objects[1]].kind != ARRAY:
            return False
        return self._update(owner)

    cdef bint _canal_time(self, int64_t* into) noexcept:
        cdef const Token* token
        cdef int mark
        for mark in (ES, CANAL_TS):
            token = self._mark(mark)
            if token.kind == INTEGER:
                if not to_long(token.start, token.stop, into):
                    return False
                if into[0] > 0:
                    return True
                into[0] = 0
        return True


cdef object _longs(const vector[int64_t]& numbers):
    return np.frombuffer(_bytes(<const char*> numbers.data(), 8 * numbers.size()), np.int64)


cdef object _bytes(const char* start, size_t size):
    return PyBytes_FromStringAndSize(start, size) if size else b""
