"""Records to columns natively, without an object for a record or a value.

- `avro`: scans values in Avro's binary form for those that somebody reads, and checks the rest
- `changes`: changes of rows out of the tokens of records, by the rules of each envelope
- `columns`: columns of typed values that grow by a token at a time, and become Arrow's
- `contents`: the bytes of records, or none, wherever they are
- `csv`: scans lines of fields with a delimiter between them
- `json_text`: scans JSON texts for the values that somebody reads, and checks the rest
- `positions`: positions in the logs of databases, out of the tokens that tell them
- `shapes`: shapes of columns, as Python describes them
- `tokens`: the values of one record that somebody reads, and the contract of what finds them
"""
