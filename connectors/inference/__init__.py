"""Inference: what a topic holds, found out by its schemas or by its first records.

- `assemble`: a proposal out of the columns of a topic's rows and keys
- `guess`: the type of one column, as far as it is known, and what is in doubt
- `infer`: finds the format of a topic, and its columns by schema or by values
- `lines`: cuts records into the fields of a format without schemas or names
- `proposal`: the members of a declaration that were found, and what is in doubt
- `schemas`: columns by the schema of the writer
- `topics`: the first records of a topic, its schemas, and how it is kept
- `values`: columns by the values of the first records
"""
