"""File topics: directories of append-only JSON-lines segments.

- `durable`: appending to files so that a crash leaves whole records and at most one torn tail
- `index`: where the lines of a partition are
- `layout`: how a file topic lies on disk
- `lines`: lines `crc32 json`: records of files that are read after any crash, and after damage
- `reader`: reads records of a file topic by offset
- `source`: A partition of a file topic as a source
- `writer`: appends records to one partition of a file topic, segment after segment
"""
