"""Envelopes: which rows a change record adds and takes away, each behind `Envelope`.

- `append`: append: every record is a row, and none is ever taken away
- `canal`: canal's flat records
- `debezium`: debezium envelopes: which rows a change record takes away and which it adds
- `envelope`: the envelopes of changes, and the contract that each keeps
- `flat`: flat
- `images`: what envelopes come to
- `keys`: primary keys
- `maxwell`: maxwell's records
- `positions`: where in its database's log a Debezium change stands
- `transactions`: the ends of transactions, as Debezium writes them to a topic of their own
- `upsert`: upsert
"""
