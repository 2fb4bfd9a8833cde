"""Rows to bytes natively, without an object for a value.

- `cells`: columns of Arrow, and what does not change from row to row, as cells that are written
- `digits`: numbers, dates and times as texts, and numbers in Avro's binary form
- `lines`: writes cells row by row, as bytes of Python or as a column of Arrow
"""
