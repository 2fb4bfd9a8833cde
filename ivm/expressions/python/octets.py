"""Functions of bytes, as PostgreSQL has them; positions count from 1, indexes from 0."""

import hashlib
from collections.abc import Callable

from ivm.expressions.python.script import Script
from ivm.values.encodings import codec


def _text(data: bytes, encoding: str) -> str:
    """`convert_from(bytes, encoding)`; a text has no NUL character."""
    if b"\0" in data:
        raise ValueError(data)
    return data.decode(codec(encoding))


def _part(data: bytes, start: int, count: int) -> bytes:
    """`substring(bytes from start for count)`."""
    if count < 0:
        raise ValueError(count)
    return data[max(start - 1, 0) : max(start - 1 + count, 0)]


def _index(data: bytes, index: int, bits: int = 1) -> int:
    if not 0 <= index < len(data) * bits:
        raise ValueError(index)
    return index // bits


def _set_byte(data: bytes, index: int, value: int) -> bytes:
    at = _index(data, index)
    return data[:at] + bytes([value & 0xFF]) + data[at + 1 :]


def _bit(data: bytes, index: int) -> int:
    return data[_index(data, index, 8)] >> index % 8 & 1


def _set_bit(data: bytes, index: int, value: int) -> bytes:
    if value not in (0, 1):
        raise ValueError(value)
    at, mask = _index(data, index, 8), 1 << index % 8
    return _set_byte(data, at, data[at] | mask if value else data[at] & ~mask)


def _digest(name: str) -> Script:
    return Script(lambda data: hashlib.new(name, data).digest(), ("binary",))


def _stripping(strip: Callable[[bytes, bytes], bytes]) -> Script:
    return Script(strip, ("binary", "binary"))


SCRIPTS: dict[str, Script] = {
    "bit_count": Script(lambda data: sum(byte.bit_count() for byte in data), ("binary",)),
    "byte_length": Script(len, ("binary",)),
    "bytes_part": Script(_part, ("binary", "signed", "signed")),
    "bytes_position": Script(lambda data, part: data.find(part) + 1, ("binary", "binary")),
    "bytes_text": Script(_text, ("binary", "text")),
    "concat_bytes": Script(lambda a, b: a + b, ("binary", "binary")),
    "get_bit": Script(_bit, ("binary", "signed")),
    "get_byte": Script(lambda data, index: data[_index(data, index)], ("binary", "signed")),
    "lstrip_bytes": _stripping(bytes.lstrip),
    "md5_bytes": Script(lambda data: hashlib.md5(data).hexdigest(), ("binary",)),
    "recode": Script(
        lambda data, a, b: data.decode(codec(a)).encode(codec(b)), ("binary", "text", "text")
    ),
    "rstrip_bytes": _stripping(bytes.rstrip),
    "set_bit": Script(_set_bit, ("binary", "signed", "signed")),
    "set_byte": Script(_set_byte, ("binary", "signed", "signed")),
    "sha224": _digest("sha224"),
    "sha256": _digest("sha256"),
    "sha384": _digest("sha384"),
    "sha512": _digest("sha512"),
    "strip_bytes": _stripping(bytes.strip),
    "text_bytes": Script(lambda text, name: text.encode(codec(name)), ("text", "text")),
}
