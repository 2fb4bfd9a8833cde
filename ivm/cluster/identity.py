"""The identity of a process: what has to be the same in all members of a cluster."""

import os
import platform
import socket
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import ivm
from ivm.rows.owners import owners_of

_FIELDS: list[pa.Field] = [pa.field("word", pa.int64()), pa.field("text", pa.string())]
_SAMPLE = pa.schema(_FIELDS)
_MEMBERS = 1 << 16
"""Owners to tell apart: so many that rows with other hashes have others."""


class Identity(NamedTuple):
    """A process: where it runs, and what it would have to have in common with others.

    `source` is a digest of the engine's modules, whose objects commands consist of. `owners` are
    those of some rows among very many members: they differ where rows are encoded or hashed in
    another way.
    """

    host: str
    process: int
    source: str
    python: str
    owners: tuple[int, ...]

    def differs(self, other: "Identity") -> str | None:
        """What tells two processes apart that cannot be of one cluster; None: nothing."""
        pairs = {
            "the code of ivm": (self.source, other.source),
            "Python": (self.python, other.python),
            "the encoding of rows": (self.owners, other.owners),
        }
        differing = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        if not differing:
            return None
        return ", ".join(f"{name} ({one} and {two})" for name, (one, two) in differing.items())


def identity() -> Identity:
    """The identity of this process.

    >>> identity().differs(identity()) is None
    True
    >>> identity().differs(identity()._replace(python="2.7"))[:8]
    'Python ('
    """
    python = platform.python_version()
    return Identity(socket.gethostname(), os.getpid(), _source(), python, _owners())


def _source() -> str:
    """A digest of all modules of the engine."""
    root, digest = Path(ivm.__file__).parent, sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(bytes(path.relative_to(root)) + path.read_bytes())
    return digest.hexdigest()[:12]


def _owners() -> tuple[int, ...]:
    words = pa.array([0, 1, -1, None, 1 << 62], pa.int64())
    texts = pa.array(["", "short", "a text of more than seven bytes", None, "\u00fc"], pa.string())
    sample = pa.record_batch([words, texts], schema=_SAMPLE)
    return tuple(owners_of(sample, _SAMPLE, (0, 1), _MEMBERS).tolist())
