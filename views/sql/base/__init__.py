"""What binding any expression needs: scopes, types that meet, literals, signatures.

- `binder`: what binding any scalar expression needs: scopes, coercion and faults
- `coercion`: how types meet: PostgreSQL's implicit conversions over Arrow's types
- `digits`: the scales of products, quotients and averages: as many digits as 38 have place for
- `literals`: unquoted numbers as constants, and constants in other number types where they fit …
- `scope`: which names mean which columns, from the innermost query outwards
- `signatures`: functions by name
"""
