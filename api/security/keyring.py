"""The file of API keys: `ivm key` changes it, and a service that runs takes it up within a second.

A file that cannot be read lets nobody in; the keys that were known before are not trusted longer,
since the change may have revoked one of them.
"""

import time
from pathlib import Path

import structlog
from pydantic import TypeAdapter, ValidationError

from api.errors import KeysCorrupt, located, unknown
from api.security.keys import ApiKey, parts
from connectors.files import durable

# The file is looked at every so many seconds.
PERIOD = 1.0

_KEYS = TypeAdapter(list[ApiKey])

log = structlog.get_logger()


def read_keys(path: Path) -> list[ApiKey]:
    """The keys of a file, none if there is no such file (raises KeysCorrupt)."""
    try:
        return _KEYS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return []
    except ValidationError as error:
        raise KeysCorrupt(f"{path}: {located(error.errors(include_input=False))}") from error
    except OSError as error:
        raise KeysCorrupt(f"{path}: {error.strerror}") from error


def write_keys(path: Path, keys: list[ApiKey]) -> None:
    """Let these be the keys of a file that its owner alone can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(path, _KEYS.dump_json(keys, indent=2), 0o600)


def add_key(path: Path, key: ApiKey) -> None:
    """Add a key to a file (raises KeysCorrupt)."""
    write_keys(path, [*read_keys(path), key])


def revoke_key(path: Path, id: str) -> ApiKey:
    """Take a key out of a file (raises KeysCorrupt, UnknownName)."""
    keys = {key.id: key for key in read_keys(path)}
    if id not in keys:
        raise unknown("key", id, keys)
    revoked = keys.pop(id)
    write_keys(path, list(keys.values()))
    return revoked


class Keyring:
    """The keys of a file, as it is now."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._looked = -PERIOD
        self._keys: dict[str, ApiKey] = {}

    def find(self, text: str) -> ApiKey | None:
        """The key that this is, if it is one and is good."""
        self._look()
        if (found := parts(text)) is None:
            return None
        named, secret = found
        key = self._keys.get(named)
        return key if key is not None and key.accepts(secret) else None

    def _look(self) -> None:
        now = time.monotonic()
        if now < self._looked + PERIOD:
            return
        self._looked = now
        seen = self._stat()
        if seen == self._seen:
            return
        try:
            self._keys = {key.id: key for key in read_keys(self._path)}
        except KeysCorrupt as error:
            self._keys = {}
            log.error("the file of keys lets nobody in", error=str(error))
        self._seen = seen

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
