"""Envelopes: which rows a change record adds and takes away, each behind `Envelope`.

- `append`: every record is a row, and none is ever taken away
- `canal`: records of Canal, each with the rows of one statement
- `debezium`: change records of Debezium, with the images before and after
- `envelope`: the contract `Envelope`, and the tuple of those that there are
- `flat`: records of Debezium after its transform that leaves the new row alone
- `hints`: says what to declare where another envelope would read a record
- `images`: row images in the order of their records, and records without any
- `keys`: checks primary keys of declarations, and makes rows of records' keys
- `layout`: where an envelope has its images and the marks beside them, for native decoding
- `maxwell`: records of Maxwell, with the row and the former values of changed columns
- `mongodb`: records of Debezium's connector for MongoDB, with documents as texts
- `positions`: the place of a Debezium change in its database's log
- `recognition`: how records of an envelope are told from others, before anything is declared
- `transactions`: the ends of transactions, which Debezium writes to a topic of their own
- `upsert`: the record's key names a row, its value sets it, and no value deletes it
"""
