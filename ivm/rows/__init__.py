"""Rows as 64-bit words: layouts, interned strings, hashes, and Arrow in and out.

- `arrow`: export of arrays by Arrow's C data interface
- `calendar`: the proleptic Gregorian calendar on days since 1970-01-01, without the GIL
- `codec`: Arrow record batches to updates and back, without the GIL
- `column_writer`: words of rows to the buffers of Arrow's columns
- `columns`: Arrow columns to words, read from Arrow's buffers
- `format`: row formats: the position of each column among a row's words
- `hashing`: hashes of keys that are equal in every process, to shard by
- `interner`: interned strings in a striped hash table whose entries never move
- `intervals`: intervals as strings of 24 bytes in the order of their spans
- `layout`: row formats as C structs, with the kinds of columns, for kernels
- `nested`: lists and structs as strings of bytes in PostgreSQL's order
- `owners`: the process of a cluster that owns each row of an Arrow batch
- `packing`: moves of columns between row formats, compiled to lists of moves
- `queue_writer`: rows of Arrow columns appended to the queues of an input
- `shims`: Python faces of threads, blocks, hashes and strings, for tests
- `updates`: buffers of updates, row-major: row, time, diff
- `words`: scalar values to order-preserving words and back
"""
