"""The base of every binding: scopes, conversions between types, literals, signatures.

- `arrays`: arrays made of values, whose inner arrays are equally long
- `binder`: the binder of scalar expressions: names, conversions and errors with their place
- `coercion`: implicit conversions, as PostgreSQL's, between Arrow's types
- `computations`: the subqueries, aggregates and window calls that a query collects while it binds
- `digits`: precision and scale of products, quotients and averages, within 38 digits
- `literals`: constants: unquoted numbers, exact conversions, and advice on refused texts
- `parameters`: names of functions' parameters, for arguments that are written with them
- `schemas`: checks the schema in a qualified name, which is `public`
- `scope`: name resolution: from names to columns, the innermost query first
- `signatures`: overload resolution: functions by name, with the signatures that a call chooses from
"""
