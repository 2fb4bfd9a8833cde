"""A packing moves columns between row formats by a list of moves that is compiled once."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from ivm.rows.interner cimport Interner, prefix_of

cdef enum:
    WORD = 0        # a word of a value
    BITS = 1        # bits of a mask that lie together in both
    MASK_TO_FLAG = 2
    FLAG_TO_MASK = 3
    FLAG_TO_FLAG = 4
    NOT_NULL = 5    # a flag of a column that is never NULL
    CLEAR = 6       # a mask word, before its bits
    PREFIX = 7      # the first bytes of a string
    RUN = 8         # words of values that lie together in both

cdef enum:
    SHORT_RUN = 6   # words, below which a loop beats a call
    FEW_WORDS = 8   # moved one by one


cdef class Packing:
    """Target column i is column `picks[i][1]` of source `picks[i][0]`; formats from `ivm.rows.format`.

    A NULL that meets a target column without NULLs becomes the zero value: only a plan that has
    filtered NULLs out declares such a column. A target with strings' first bytes needs `interner`.
    """

    def __init__(self, sources, picks, target, Interner interner=None):
        self.words = target.words
        self.interner = interner
        masks = {p.null_word for p in target.places if p.null_word >= 0 and p.null_bit >= 0}
        for word in sorted(masks):
            self.moves.push_back(Move(CLEAR, 0, 0, 0, word, 0, 0, 0))
        given = [(segment, sources[segment].places[column]) for segment, column in picks]
        for (segment, place), to in zip(given, target.places, strict=True):
            if to.null_word >= 0:
                self._move_null(segment, place, to)
        for (segment, place), to in zip(given, target.places, strict=True):
            if to.prefix >= 0:
                self._move_prefix(segment, place, to)
            for i in range(to.words):
                self._move_word(segment, place.word + i, to.word + i, place.flipped != to.flipped)
        self._move_plainly()
        self.of_first = all([segment == 0 for segment, _ in picks])
        self.identity = (
            len(sources) == 1 and sources[0] == target
            and [column for _, column in picks] == list(range(len(sources[0].places)))
        )

    def _move_plainly(self):
        cdef Move move
        cdef int i
        if all([m.kind == RUN for m in self.moves]) and sum([m.count for m in self.moves]) <= FEW_WORDS:
            for move in self.moves:
                for i in range(move.count):
                    self.plain.push_back(WordMove(
                        move.segment, move.source_word + i, move.target_word + i))

    def _move_word(self, segment, source_word, target_word, flipped):
        cdef Move* last = &self.moves.back() if not self.moves.empty() else NULL
        if flipped:
            self.moves.push_back(
                Move(WORD, segment, source_word, 0, target_word, 0, 0xFFFFFFFFFFFFFFFF, 1))
        elif (last != NULL and last.kind == RUN and last.segment == segment
                and last.source_word + last.count == source_word
                and last.target_word + last.count == target_word):
            last.count += 1
        else:
            self.moves.push_back(Move(RUN, segment, source_word, 0, target_word, 0, 0, 1))

    def _move_null(self, segment, place, to):
        if place.null_word < 0:
            if to.null_bit < 0:
                self.moves.push_back(Move(NOT_NULL, 0, 0, 0, to.null_word, 0, to.null_flipped, 0))
            return
        if place.null_bit >= 0 and to.null_bit >= 0:
            self._move_bit(segment, place, to)
            return
        if place.null_bit >= 0:
            kind = MASK_TO_FLAG
        else:
            kind = FLAG_TO_MASK if to.null_bit >= 0 else FLAG_TO_FLAG
        self.moves.push_back(Move(
            kind, segment, place.null_word, max(place.null_bit, 0), to.null_word,
            max(to.null_bit, 0), place.null_flipped != to.null_flipped, 0,
        ))

    def _move_bit(self, segment, place, to):
        cdef Move* last = &self.moves.back()    # at least the mask's CLEAR is before
        if (last.kind == BITS and last.segment == segment
                and last.source_word == place.null_word and last.target_word == to.null_word
                and last.source_bit + last.count == place.null_bit
                and last.target_bit + last.count == to.null_bit):
            last.flip |= <uint64_t> 1 << last.count
            last.count += 1
        else:
            self.moves.push_back(Move(
                BITS, segment, place.null_word, place.null_bit, to.null_word, to.null_bit, 1, 1))

    def _move_prefix(self, segment, place, to):
        flip = 0xFFFFFFFFFFFFFFFF if place.flipped != to.flipped else 0
        if place.prefix >= 0:
            self.moves.push_back(Move(WORD, segment, place.prefix, 0, to.prefix, 0, flip, 1))
            return
        assert self.interner is not None and not place.flipped
        self.moves.push_back(Move(PREFIX, segment, place.word, 0, to.prefix, 0, flip, 0))

    cdef void move_all(self, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                       uint64_t* target) noexcept nogil:
        cdef const uint64_t* segments[3]
        cdef const Move* m = self.moves.data()
        cdef const Move* end = m + self.moves.size()
        cdef const uint64_t* source
        cdef uint64_t* to
        cdef uint64_t word
        cdef int i
        segments[0] = a
        segments[1] = b
        segments[2] = c
        while m != end:
            if m.kind == RUN:
                source = segments[m.segment] + m.source_word
                to = target + m.target_word
                if m.count >= SHORT_RUN:
                    memcpy(to, source, m.count * sizeof(uint64_t))
                else:
                    for i in range(m.count):
                        to[i] = source[i]
                m += 1
                continue
            word = 0 if m.kind == NOT_NULL or m.kind == CLEAR else segments[m.segment][m.source_word]
            if m.kind == WORD or m.kind == FLAG_TO_FLAG:
                target[m.target_word] = word ^ m.flip
            elif m.kind == BITS:
                target[m.target_word] |= ((word >> m.source_bit) & m.flip) << m.target_bit
            elif m.kind == FLAG_TO_MASK:
                target[m.target_word] |= (word ^ m.flip) << m.target_bit
            elif m.kind == MASK_TO_FLAG:
                target[m.target_word] = ((word >> m.source_bit) & 1) ^ m.flip
            elif m.kind == PREFIX:
                target[m.target_word] = prefix_of(self.interner.strings, word) ^ m.flip
            else:
                target[m.target_word] = m.flip
            m += 1
