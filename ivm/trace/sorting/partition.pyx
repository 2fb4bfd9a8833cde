"""Partitioning: many rows move to the threads that own them, and threads share every pass.

The owner of a row follows from its key's hash, or, where one batch is built of all rows, from the range of
keys in which it lies. Splitters between ranges are chosen from a sample, so that ranges have about as many
rows each. Of many rows each range is simply a sequence of buckets, a few ranges for each thread.

An exchange moves each row once, and so does a sort of more rows than the cache holds, which first partitions
them by their leading varying bits into buckets (`ivm.trace.sorting.sort`). Here one pass does both: a row
goes to its bucket among those of its owner, whichever thread reads it. Its place is known, since the rows
were counted before, so that no thread waits for another within a pass. Threads take stripes of rows, a few
for each, so that a slow processor reads less. Each owner's thread then sorts its own buckets within the
cache, or they are left to the builder of a batch.

Fewer rows, which fit the caches, are collected by each thread in memory of its own, by owner: one pass less,
and no thread writes to lines in another's cache. Each owner's thread fetches them once.
"""

from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.rows.hashing cimport Partitioner, shard_of
from ivm.rows.updates cimport (
    Updates, append, compared_words, copy_update, empty_like, empty_updates, push, release, release_large,
    reserve, update_at,
)
from ivm.threads.team cimport share_work
from ivm.trace.counts cimport negate
from ivm.trace.sorting.bucket_sort cimport Sorting, begin_sorting, end_sorting, extract_bits, note_varying_bits
from ivm.trace.sorting.sort cimport are_leading, bits_to_deal, consolidate, leading_bits, sort_dealt
from ivm.trace.times cimport compare_words

cdef extern from *:
    int popcount "__builtin_popcountll"(unsigned long long) noexcept nogil
    void prefetch_to_write "__builtin_prefetch"(const void*, int) noexcept nogil

cdef enum:
    STRETCH = 512       # rows whose owners are found together
    AHEAD = 32          # rows whose places are prefetched before they are written
    PROBES = 64         # rows for each range that tell where ranges begin
    SAMPLED = 1 << 13   # rows that tell by which bits to deal, until counting shows others to vary
    MOST_PILES = 1 << 16
    WORTH_BUCKETS = 1 << 14     # rows of a range, above which the second-level cache does not hold them
    TURNS = 4           # stripes of rows, or ranges of buckets, for each thread


# The state that all passes share. Rows are divided into stripes of successive rows, which threads take one after
# another; pointers to the buffers of a pass are valid while it runs.
cdef struct Dealing:
    const Part* parts
    Py_ssize_t rows
    int threads
    int stripes
    int owners          # as many as threads, each of which sorts those of one; or 1, if buckets are enough
    int stride
    int compared        # words that tell rows apart
    int word            # a row's bucket is given by the bits `mask` of this word
    uint64_t mask
    Py_ssize_t buckets  # of each owner
    uint16_t* piles     # of each row: its owner and its bucket there, as one number
    const void* partitioner     # tells the owners; NULL: the ranges of keys do, if there are several
    int key_words               # words of a key there
    const uint64_t* splitters   # the first key of each range but the first
    uint64_t* varying           # of each stripe: the bits that vary in its rows
    int* others                 # of each stripe: not 0 if bits vary that come before those of the buckets
    Py_ssize_t* places          # of each stripe: how many rows it has in each pile, then where the next goes
    Updates* pieces             # of each stripe: the rows of each owner
    Updates* dealt              # to each owner, before they are sorted
    const Py_ssize_t* ends      # of their buckets
    Updates** queues            # sorted


# Some rows of one part, the first of which is the `first` of all.
cdef struct Stretch:
    const uint64_t* row
    const uint64_t* keyed
    int keyed_stride
    Py_ssize_t first
    Py_ssize_t length
    bint negated


cdef int deal_out(Part* parts, int count, Partitioner partitioner, Updates** queues,
                  int shards) except -1 nogil:
    cdef Dealing dealing
    cdef vector[Updates] dealt      # to each shard, before they are sorted
    cdef vector[Py_ssize_t] ends
    cdef int shard
    if not begin_dealing(&dealing, parts, count, shards):
        return 0
    dealing.partitioner = <const void*> partitioner
    dealt.resize(shards, empty_like(parts[0].rows))
    try:
        if bits_to_deal(dealing.rows // shards) == 0:   # each shard's are one bucket
            deal_few(&dealing, parts, count, dealt.data(), &ends)
        else:
            deal_many(&dealing, parts, count, dealt.data(), &ends)
        dealing.ends = ends.data()
        dealing.queues = queues
        share_work(sort_shard, &dealing, shards, shards)
    finally:
        for shard in range(shards):
            release(&dealt[shard])
    return 0


cdef int deal_ranges(Part* parts, int count, int key_words, Ranges* ranges, int threads) except -1 nogil:
    cdef Dealing dealing
    cdef vector[uint64_t] splitters
    cdef int t
    ranges.rows.resize(threads, empty_like(parts[0].rows))
    ranges.dealt.resize(threads, empty_like(parts[0].rows))
    ranges.first.resize(threads + 1, 0)
    if not begin_dealing(&dealing, parts, count, threads):
        return 0
    dealing.key_words = key_words
    if dealing.rows > threads * WORTH_BUCKETS:
        dealing.owners = 1
        deal_many(&dealing, parts, count, ranges.dealt.data(), &ranges.ends)
        share_buckets(&dealing, ranges)
        return 0
    choose_splitters(&dealing, &splitters)
    dealing.splitters = splitters.data()
    deal_few(&dealing, parts, count, ranges.dealt.data(), &ranges.ends)
    for t in range(threads):
        ranges.first[t + 1] = t + 1
        view(&ranges.dealt[t], 0, ranges.dealt[t].length, &ranges.rows[t])
    return 0


# Makes ranges of the next buckets each, about as many rows; or one of all, if they divide the rows of one key.
cdef int share_buckets(const Dealing* dealing, Ranges* ranges) except -1 nogil:
    cdef Py_ssize_t bucket = 0, start = 0, end, i
    cdef int count = <int> max(dealing.threads, min(<Py_ssize_t> dealing.threads * TURNS, dealing.buckets // 2)), r
    ranges.rows.resize(count)
    ranges.first.resize(count + 1)
    for r in range(count):
        ranges.first[r] = bucket
        end = start
        while bucket < dealing.buckets and (
                dealing.word >= dealing.key_words or r + 1 == count
                or end * count < (r + 1) * dealing.rows):
            end = ranges.ends[bucket]
            bucket += 1
        view(&ranges.dealt[0], start, end, &ranges.rows[r])
        for i in range(ranges.first[r], bucket):
            ranges.ends[i] -= start
        start = end
    ranges.first[count] = bucket
    return 0


cdef void view(const Updates* updates, Py_ssize_t start, Py_ssize_t end, Updates* part) noexcept nogil:
    part[0] = updates[0]
    part.words = update_at(updates, start)
    part.length = end - start
    part.capacity = 0


cdef void release_ranges(Ranges* ranges) noexcept nogil:
    cdef size_t t
    for t in range(ranges.dealt.size()):
        release(&ranges.dealt[t])


# Prepares the partitioning of all parts; False if they have no rows.
cdef bint begin_dealing(Dealing* dealing, const Part* parts, int count, int threads) noexcept nogil:
    dealing.parts = parts
    dealing.rows = total_of(parts, count)
    dealing.threads = dealing.owners = dealing.stripes = threads
    dealing.stride = parts[0].rows.stride
    dealing.compared = compared_words(parts[0].rows)
    dealing.word = 0
    dealing.mask = 0
    dealing.buckets = 1
    dealing.partitioner = NULL
    return dealing.rows > 0


# Chooses ranges of keys that have about as many of some rows each.
cdef int choose_splitters(const Dealing* dealing, vector[uint64_t]* splitters) except -1 nogil:
    cdef Updates keys = empty_updates(dealing.key_words, 0)
    cdef Py_ssize_t probes = min(dealing.rows, <Py_ssize_t> PROBES * dealing.threads), i, at, before = 0
    cdef uint64_t* probe
    cdef Stretch stretch
    cdef size_t words = dealing.key_words
    splitters.resize((dealing.threads - 1) * words)
    try:
        if reserve(&keys, probes) < 0:
            no_memory()
        for i in range(probes):
            at = i * dealing.rows // probes
            next_stretch(dealing, &at, at + 1, &stretch)
            probe = push(&keys)
            memcpy(probe, stretch.row, words * sizeof(uint64_t))
            probe[words] = 1
        if consolidate(&keys) < 0:
            no_memory()
        at = 0
        for i in range(dealing.threads - 1):
            while at + 1 < keys.length and before * dealing.threads < (i + 1) * probes:
                before += <Py_ssize_t> update_at(&keys, at)[words]
                at += 1
            memcpy(splitters.data() + i * words, update_at(&keys, at), words * sizeof(uint64_t))
    finally:
        release(&keys)
    return 0


# Deals rows out into buckets, and says where these end.
cdef int deal_many(Dealing* dealing, Part* parts, int count, Updates* dealt,
                   vector[Py_ssize_t]* ends) except -1 nogil:
    cdef Updates piles = empty_updates(0, 0)    # four to a word; a block if they are many
    try:
        if reserve(&piles, 1 + dealing.rows * sizeof(uint16_t) // sizeof(uint64_t)) < 0:
            no_memory()
        dealing.piles = <uint16_t*> piles.words
        dealing.dealt = dealt
        dealing.stripes = dealing.threads * TURNS
        move_all(dealing, parts, count, ends)
    finally:
        release(&piles)
    return 0


# Deals rows out, each owner's into one bucket.
cdef int deal_few(Dealing* dealing, Part* parts, int count, Updates* dealt,
                  vector[Py_ssize_t]* ends) except -1 nogil:
    cdef vector[Updates] pieces
    cdef int threads = dealing.threads, t
    cdef size_t i
    pieces.resize(threads * threads, empty_like(parts[0].rows))
    ends.resize(threads)
    dealing.pieces = pieces.data()
    dealing.dealt = dealt
    try:
        share_work(collect_rows, dealing, threads, threads)
        give_back(parts, count)
        share_work(fetch_rows, dealing, threads, threads)
    finally:
        for i in range(pieces.size()):
            release(&pieces[i])
    for t in range(threads):
        ends[0][t] = dealt[t].length
    return 0


# Copies a stripe's rows to the piece of their owner.
cdef int collect_rows(void* context, Py_ssize_t stripe) except -1 nogil:
    cdef const Dealing* dealing = <const Dealing*> context
    cdef Updates* pieces = dealing.pieces + stripe * dealing.owners
    cdef Py_ssize_t at = first_row(dealing, stripe), end = first_row(dealing, stripe + 1), i
    cdef uint32_t owners[STRETCH]
    cdef int stride = dealing.stride, s
    cdef Updates* piece
    cdef uint64_t* target
    cdef Stretch stretch
    for s in range(dealing.owners):
        if reserve(&pieces[s], end - at) < 0:
            no_memory()
    while next_stretch(dealing, &at, end, &stretch):
        find_owners(dealing, &stretch, owners)
        for i in range(stretch.length):
            piece = &pieces[owners[i]]
            target = update_at(piece, piece.length)
            piece.length += 1
            copy_update(target, stretch.row + i * stride, stride)
            if stretch.negated:
                negate(&target[stride - 1])
    return 0


# Copies the rows collected for an owner from all stripes to its partition.
cdef int fetch_rows(void* context, Py_ssize_t owner) except -1 nogil:
    cdef const Dealing* dealing = <const Dealing*> context
    cdef Updates* rows = &dealing.dealt[owner]
    cdef const Updates* piece
    cdef Py_ssize_t total = 0
    cdef int t
    for t in range(dealing.stripes):
        total += dealing.pieces[t * dealing.owners + owner].length
    if reserve(rows, total) < 0:
        no_memory()
    for t in range(dealing.stripes):
        piece = &dealing.pieces[t * dealing.owners + owner]
        append(rows, piece.words, piece.length)
    return 0


# Finds the owner of each row of a stretch.
cdef void find_owners(const Dealing* dealing, const Stretch* stretch, uint32_t* owners) noexcept nogil:
    cdef uint64_t hashes[STRETCH]
    cdef Py_ssize_t i
    if dealing.partitioner == NULL:
        if dealing.key_words == 1:
            find_ranges(dealing, stretch, 1, owners)
        else:
            find_ranges(dealing, stretch, dealing.key_words, owners)
        return
    (<Partitioner> dealing.partitioner).hash_rows(
        stretch.keyed, stretch.length, stretch.keyed_stride, hashes)
    for i in range(stretch.length):
        owners[i] = <uint32_t> shard_of(hashes[i], dealing.owners)


# Finds the range of each row of a stretch by its splitters.
cdef inline void find_ranges(const Dealing* dealing, const Stretch* stretch, int key_words,
                             uint32_t* owners) noexcept nogil:
    cdef Py_ssize_t i
    cdef int s
    cdef const uint64_t* row = stretch.row
    cdef uint32_t owner
    for i in range(stretch.length):
        owner = 0
        for s in range(dealing.threads - 1):
            if key_words == 1:
                owner += row[0] >= dealing.splitters[s]
            else:
                owner += compare_words(row, dealing.splitters + s * key_words, key_words) >= 0
        owners[i] = owner
        row += dealing.stride


cdef Py_ssize_t total_of(const Part* parts, int count) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef int p
    for p in range(count):
        total += parts[p].rows.length
    return total


# Partitions all rows, and gives their sources' memory back.
cdef int move_all(Dealing* dealing, Part* parts, int count, vector[Py_ssize_t]* ends) except -1 nogil:
    cdef vector[Py_ssize_t] places
    cdef int t
    count_all(dealing, &places)
    ends.resize(dealing.owners * dealing.buckets)
    find_places(dealing, places.data(), ends.data())
    for t in range(dealing.owners):
        if reserve(&dealing.dealt[t], ends[0][(t + 1) * dealing.buckets - 1]) < 0:
            no_memory()
    for t in range(dealing.owners):
        dealing.dealt[t].length = ends[0][(t + 1) * dealing.buckets - 1]
    share_work(move_rows, dealing, dealing.stripes, dealing.threads)
    give_back(parts, count)
    return 0


cdef void give_back(Part* parts, int count) noexcept nogil:
    cdef int p
    for p in range(count):
        if parts[p].rows != parts[p].keyed:
            release_large(parts[p].rows)
        if parts[p].read_alone:
            release_large(parts[p].keyed)


cdef int no_memory() except -1 nogil:
    with gil:
        raise MemoryError("no memory to exchange updates")


# Finds the next rows of a stripe, from the `at`-th of all to before `end`; False if there are none.
cdef bint next_stretch(const Dealing* dealing, Py_ssize_t* at, Py_ssize_t end,
                       Stretch* stretch) noexcept nogil:
    cdef const Part* part = dealing.parts
    cdef Py_ssize_t i = at[0]
    if i >= end:
        return False
    while i >= part.rows.length:
        i -= part.rows.length
        part += 1
    stretch.row = update_at(part.rows, i)
    stretch.keyed = update_at(part.keyed, i)
    stretch.keyed_stride = part.keyed.stride
    stretch.first = at[0]
    stretch.length = min(min(part.rows.length - i, end - at[0]), <Py_ssize_t> STRETCH)
    stretch.negated = part.negated
    at[0] += stretch.length
    return True


cdef inline Py_ssize_t first_row(const Dealing* dealing, Py_ssize_t stripe) noexcept nogil:
    return stripe * dealing.rows // dealing.stripes


# Chooses the bits that select a bucket: some leading ones of the varying bits, `masks`.
cdef void choose_buckets(Dealing* dealing, uint64_t* masks) noexcept nogil:
    cdef int bits = bits_to_deal(dealing.rows // dealing.owners)
    while dealing.owners << bits > MOST_PILES and bits > 0:
        bits -= 1
    leading_bits(masks, dealing.compared, bits, &dealing.word)
    dealing.mask = masks[dealing.word]
    dealing.buckets = <Py_ssize_t> 1 << popcount(dealing.mask)


# Notes the bits that vary in one of `step` stretches of rows from the `at`-th to before `end`.
cdef void note_bits(const Dealing* dealing, Py_ssize_t at, Py_ssize_t end, Py_ssize_t step,
                    uint64_t* masks) noexcept nogil:
    cdef Py_ssize_t start = 0
    cdef Stretch first, stretch
    next_stretch(dealing, &start, 1, &first)
    while next_stretch(dealing, &at, end, &stretch):
        note_varying_bits(first.row, stretch.row, stretch.length, dealing.stride, dealing.compared,
                          masks)
        at += (step - 1) * STRETCH


# Counts each stripe's rows by pile. The bits that select a bucket are guessed from some of the rows first; if
# the counting shows that others vary before them, they are chosen again and all rows are recounted.
cdef int count_all(Dealing* dealing, vector[Py_ssize_t]* counts) except -1 nogil:
    cdef vector[uint64_t] masks
    cdef size_t i, compared = dealing.compared
    masks.resize(dealing.stripes * compared)
    dealing.varying = masks.data()
    note_bits(dealing, 0, dealing.rows, 1 + dealing.rows // SAMPLED, masks.data())
    choose_buckets(dealing, masks.data())
    if count_stripes(dealing, counts) == 0:
        return 0
    share_work(note_all_bits, dealing, dealing.stripes, dealing.threads)
    for i in range(compared, masks.size()):
        masks[i % compared] |= masks[i]
    choose_buckets(dealing, masks.data())
    count_stripes(dealing, counts)
    return 0


# Notes the bits that vary in a stripe's rows.
cdef int note_all_bits(void* context, Py_ssize_t stripe) except -1 nogil:
    cdef const Dealing* dealing = <const Dealing*> context
    note_bits(dealing, first_row(dealing, stripe), first_row(dealing, stripe + 1), 1,
              dealing.varying + stripe * dealing.compared)
    return 0


# Counts the rows of all stripes; above 0 if bits vary that come before those of the buckets.
cdef int count_stripes(Dealing* dealing, vector[Py_ssize_t]* counts) except -1 nogil:
    cdef vector[int] others
    cdef int any_others = 0, t
    counts.clear()
    counts.resize(dealing.stripes * dealing.owners * dealing.buckets)
    others.resize(dealing.stripes)
    dealing.places = counts.data()
    dealing.others = others.data()
    share_work(count_rows, dealing, dealing.stripes, dealing.threads)
    for t in range(dealing.stripes):
        any_others |= others[t]
    return any_others


# Counts a stripe's rows by pile.
cdef int count_rows(void* context, Py_ssize_t stripe) except -1 nogil:
    cdef const Dealing* dealing = <const Dealing*> context
    cdef Py_ssize_t* counts = places_of(dealing, stripe)
    cdef Py_ssize_t at = first_row(dealing, stripe), end = first_row(dealing, stripe + 1), start = 0, i
    cdef uint32_t owners[STRETCH]
    cdef bint owned = dealing.owners > 1
    cdef uint64_t mask = dealing.mask, buckets = dealing.buckets, varying = 0, before = 0, pile
    cdef uint16_t* piles
    cdef const uint64_t* row
    cdef Stretch first, stretch
    cdef int word = dealing.word, stride = dealing.stride, w
    next_stretch(dealing, &start, 1, &first)
    while next_stretch(dealing, &at, end, &stretch):
        if owned:
            find_owners(dealing, &stretch, owners)
        row = stretch.row
        piles = dealing.piles + stretch.first
        for i in range(stretch.length):
            for w in range(word):
                before |= row[w] ^ first.row[w]
            varying |= row[word] ^ first.row[word]
            pile = extract_bits(row[word], mask)
            if owned:
                pile += owners[i] * buckets
            piles[i] = <uint16_t> pile
            counts[pile] += 1
            row += stride
    dealing.others[stripe] = not are_leading(mask, varying, before)
    return 0


# The counts of a stripe, or the places of its next rows, of all piles.
cdef inline Py_ssize_t* places_of(const Dealing* dealing, Py_ssize_t stripe) noexcept nogil:
    return dealing.places + stripe * dealing.owners * dealing.buckets


# Replaces each stripe's counts by the places of its first rows.
cdef void find_places(const Dealing* dealing, Py_ssize_t* places, Py_ssize_t* ends) noexcept nogil:
    cdef Py_ssize_t total = 0, count, pile, piles = dealing.owners * dealing.buckets
    cdef int t
    for pile in range(piles):
        if pile % dealing.buckets == 0:
            total = 0
        for t in range(dealing.stripes):
            count = places[t * piles + pile]
            places[t * piles + pile] = total
            total += count
        ends[pile] = total


# Copies a stripe's rows to their places.
cdef int move_rows(void* context, Py_ssize_t stripe) except -1 nogil:
    cdef const Dealing* dealing = <const Dealing*> context
    cdef Py_ssize_t at = first_row(dealing, stripe), end = first_row(dealing, stripe + 1)
    cdef Stretch stretch
    while next_stretch(dealing, &at, end, &stretch):
        if dealing.stride == 2:     # two words of an arrangement, bare
            move_stretch(dealing, &stretch, places_of(dealing, stripe), end, 2)
        else:
            move_stretch(dealing, &stretch, places_of(dealing, stripe), end, dealing.stride)
    return 0


# Copies a stretch of rows, of a stripe that has those before `end`, to the `places` of the next ones.
cdef inline void move_stretch(const Dealing* dealing, const Stretch* stretch, Py_ssize_t* places,
                              Py_ssize_t end, int stride) noexcept nogil:
    cdef const Updates* dealt = dealing.dealt
    cdef const uint16_t* pile = dealing.piles + stretch.first
    cdef Py_ssize_t prefetched = end - stretch.first - AHEAD, i
    cdef int shift = popcount(dealing.buckets - 1)
    cdef const uint64_t* row = stretch.row
    cdef bint negated = stretch.negated
    cdef uint64_t* target
    cdef uint16_t next
    for i in range(stretch.length):
        if i < prefetched:
            next = pile[i + AHEAD]
            prefetch_to_write(dealt[next >> shift].words + places[next] * stride, 1)
        next = pile[i]
        target = dealt[next >> shift].words + places[next] * stride
        places[next] += 1
        copy_update(target, row, stride)
        row += stride
        if negated:
            negate(&target[stride - 1])


# Sorts the rows of a shard into its queue.
cdef int sort_shard(void* context, Py_ssize_t shard) except -1 nogil:
    cdef const Dealing* dealing = <const Dealing*> context
    cdef Updates* dealt = &dealing.dealt[shard]
    cdef Updates* queue = dealing.queues[shard]
    cdef Sorting sorting
    cdef int failed = reserve(queue, dealt.length)
    failed |= begin_sorting(&sorting, dealing.stride, dealing.compared, dealt.length)
    if failed == 0 and dealt.length > 0:
        queue.length = sort_dealt(&sorting, dealt.words, dealing.ends + shard * dealing.buckets,
                                  dealing.buckets, False, queue.words)
    end_sorting(&sorting)
    release(dealt)
    if failed != 0:
        no_memory()
    return 0
