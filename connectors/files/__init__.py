"""File topics: directories of append-only JSON-lines segments.

- `durable`: appends to files so that a crash leaves whole records and at most one torn tail
- `index`: finds the bytes of a partition's lines by their offsets
- `layout`: the directories and segments of a file topic
- `lines`: lines `crc32 json`, which show damage and can be read after any crash
- `listing`: lists a directory again only when it has changed
- `reader`: reads records of a file topic by offset
- `requests`: a file topic whose records come in requests, each written whole and once
- `retention`: finds the segments of a partition that are older, or more, than is to be kept
- `source`: a partition of a file topic behind the contract of a source
- `writer`: appends records to one partition of a file topic, segment after segment
"""
