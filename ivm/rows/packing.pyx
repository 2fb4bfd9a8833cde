"""Moving columns between row formats, decided once and then a straight loop over moves."""

from libc.stdint cimport uint64_t

from ivm.rows.strings cimport Interner, prefix_of

cdef enum:
    WORD = 0        # a word of a value
    MASK_TO_MASK = 1
    MASK_TO_FLAG = 2
    FLAG_TO_MASK = 3
    FLAG_TO_FLAG = 4
    NOT_NULL = 5    # a flag of a column that is never NULL
    CLEAR = 6       # a mask word, before its bits
    PREFIX = 7      # the first bytes of a string


cdef class Packing:
    """Target column i is column `picks[i][1]` of source `picks[i][0]`; formats from `ivm.rows.format`.

    A NULL that meets a target column without NULLs becomes the zero value: only a plan that has
    filtered NULLs out declares such a column. A target with strings' first bytes needs `interner`.
    """

    def __init__(self, sources, picks, target, Interner interner=None):
        cdef Move move
        self.words = target.words
        self.interner = interner
        masks = {p.null_word for p in target.places if p.null_word >= 0 and p.null_bit >= 0}
        for word in sorted(masks):
            self.moves.push_back(Move(CLEAR, 0, 0, 0, word, 0, 0))
        for (segment, column), to in zip(picks, target.places, strict=True):
            place = sources[segment].places[column]
            if to.null_word >= 0:
                self._move_null(segment, place, to)
            if to.prefix >= 0:
                self._move_prefix(segment, place, to)
            for i in range(to.words):
                flip = 0xFFFFFFFFFFFFFFFF if place.flipped != to.flipped else 0
                move = Move(WORD, segment, place.word + i, 0, to.word + i, 0, flip)
                self.moves.push_back(move)
        self.identity = (
            len(sources) == 1 and sources[0] == target
            and [column for _, column in picks] == list(range(len(sources[0].places)))
        )

    def _move_null(self, segment, place, to):
        if place.null_word < 0:
            if to.null_bit < 0:
                self.moves.push_back(Move(NOT_NULL, 0, 0, 0, to.null_word, 0, to.null_flipped))
            return
        if place.null_bit >= 0:
            kind = MASK_TO_MASK if to.null_bit >= 0 else MASK_TO_FLAG
        else:
            kind = FLAG_TO_MASK if to.null_bit >= 0 else FLAG_TO_FLAG
        self.moves.push_back(Move(
            kind, segment, place.null_word, max(place.null_bit, 0), to.null_word,
            max(to.null_bit, 0), place.null_flipped != to.null_flipped,
        ))

    def _move_prefix(self, segment, place, to):
        flip = 0xFFFFFFFFFFFFFFFF if place.flipped != to.flipped else 0
        if place.prefix >= 0:
            self.moves.push_back(Move(WORD, segment, place.prefix, 0, to.prefix, 0, flip))
            return
        assert self.interner is not None and not place.flipped
        self.moves.push_back(Move(PREFIX, segment, place.word, 0, to.prefix, 0, flip))

    cdef void pack(self, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                   uint64_t* target) noexcept nogil:
        cdef const uint64_t* segments[3]
        cdef const Move* m = self.moves.data()
        cdef const Move* end = m + self.moves.size()
        cdef uint64_t word
        segments[0] = a
        segments[1] = b
        segments[2] = c
        while m != end:
            word = 0 if m.kind == NOT_NULL or m.kind == CLEAR else segments[m.segment][m.source_word]
            if m.kind == WORD or m.kind == FLAG_TO_FLAG:
                target[m.target_word] = word ^ m.flip
            elif m.kind == MASK_TO_MASK or m.kind == FLAG_TO_MASK:
                target[m.target_word] |= (((word >> m.source_bit) & 1) ^ m.flip) << m.target_bit
            elif m.kind == MASK_TO_FLAG:
                target[m.target_word] = ((word >> m.source_bit) & 1) ^ m.flip
            elif m.kind == PREFIX:
                target[m.target_word] = prefix_of(self.interner.strings, word) ^ m.flip
            else:
                target[m.target_word] = m.flip
            m += 1
