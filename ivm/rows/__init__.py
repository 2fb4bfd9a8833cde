"""Rows as 64-bit words: layouts, interned strings, hashes, and Arrow in and out.

- `arrow`: arrays that are handed to Arrow by its C data interface
- `calendar`: the proleptic Gregorian calendar on days since 1970-01-01, after Hinnant, "chrono- …
- `codec`: arrow record batches to updates and back, straight from and to Arrow's buffers, …
- `columns`: arrow columns to words, straight from Arrow's buffers, without the GIL
- `format`: where each column of a row lies among its words
- `hashing`: stable hashes of keys
- `interner`: interned strings: a striped hash table whose entries never move
- `intervals`: intervals as strings of 24 bytes
- `layout`: the layout of a schema's rows, for kernels
- `nested`: lists and structs as strings of bytes that are equal and order as PostgreSQL's arrays …
- `packing`: moving columns between row formats, decided once and then a straight loop over moves
- `queue_writer`: rows of Arrow's columns behind those of queues
- `shims`: python's face of what the engine uses without the GIL, threads, blocks, hashes and …
- `updates`: updates in motion, row-major, so that they sort and exchange as whole rows
- `words`: values to words and back, one at a time; see `Kind` in layout.pxd
"""
