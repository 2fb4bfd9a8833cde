"""Security: keys and tokens, roles, grants by name, and the checks of every request.

- `access`: whether the service is open, from its settings; which hosts it answers for
- `guard`: middleware that finds out who asks, refuses the rest, and keeps the audit log
- `keyring`: the file of API keys, which may change while the service runs
- `keys`: one API key, of which the file has a hash
- `oidc`: verifies the tokens of an OpenID Connect issuer
- `principal`: a caller: its name, its role, and the sources and views that it may read
- `rates`: bounds how often someone asks
- `rules`: the role that each operation needs
"""
