"""Functions of text and bytes, as PostgreSQL has them; positions count characters from 1."""

import hashlib
import unicodedata
from base64 import b64decode, encodebytes
from collections.abc import Callable

from ivm.dataflow.expressions import Call
from ivm.expressions.python.script import Script
from ivm.values.letter_case import lower, upper
from ivm.values.sql_texts import filled, quote_literal, quote_name
from ivm.values.unicode_escapes import unescaped

MOST_CHARACTERS = 1 << 28
_SURROGATES = range(0xD800, 0xE000)


def left(text: str, n: int) -> str:
    """The first `n` characters; of a negative `n`, all but the last `-n`."""
    return text[:n]


def right(text: str, n: int) -> str:
    """The last `n` characters; of a negative `n`, all but the first `-n`."""
    return text[-n:] if n else ""


def lpad(text: str, n: int, fill: str) -> str:
    """`text` in exactly `n` characters: filled on the left, or cut off on the right."""
    return _filling(len(text), n, fill) + text[: max(n, 0)]


def rpad(text: str, n: int, fill: str) -> str:
    """As `lpad`, filled on the right."""
    return text[: max(n, 0)] + _filling(len(text), n, fill)


def _filling(length: int, wanted: int, fill: str) -> str:
    missing = wanted - length
    if missing <= 0 or not fill:
        return ""
    _check_size(missing)
    return (fill * (missing // len(fill) + 1))[:missing]


def _check_size(characters: int) -> None:
    if characters > MOST_CHARACTERS:
        raise OverflowError


def repeat(text: str, n: int) -> str:
    _check_size(len(text) * n)
    return text * n


def initcap(text: str) -> str:
    """Words, runs of letters and digits, with their first letter in upper case."""
    out, inside = [], False
    for c in text:
        out.append(lower(c) if inside else upper(c))
        inside = c.isalnum()
    return "".join(out)


def ascii_(text: str) -> int:
    """The first character's code point, or 0."""
    return ord(text[0]) if text else 0


def chr_(code: int) -> str:
    if code == 0 or code in _SURROGATES:
        raise ValueError(code)
    return chr(code)


def join(head: str | None, separator: str, tail: str | None) -> str | None:
    """Both with `separator` between; the other where one is NULL."""
    if head is None or tail is None:
        return tail if head is None else head
    return head + separator + tail


def translate(text: str, old: str, new: str) -> str:
    """Each character of `old` by that of `new` at its place; by nothing where there is none."""
    table: dict[int, str] = {}
    for i, c in enumerate(old):
        table.setdefault(ord(c), new[i] if i < len(new) else "")
    return text.translate(table)


def to_hex(call: Call) -> Callable[[int], str]:
    mask = (1 << max(call.arguments[0].type.bit_width, 32)) - 1
    return lambda n: f"{n & mask:x}"


def normalize(text: str, form: str) -> str:
    """`normalize(text, form)`: NFC, NFD, NFKC or NFKD."""
    return unicodedata.normalize(form.upper(), text)  # type: ignore[arg-type]


def encode(data: bytes, form: str) -> str:
    """Bytes as text: `hex`, `base64` or `escape`."""
    match form.lower():
        case "hex":
            return data.hex()
        case "base64":
            return encodebytes(data).decode().rstrip("\n")
        case "escape":
            return "".join(_escaped(byte) for byte in data)
    raise ValueError(form)


def _escaped(byte: int) -> str:
    if byte == 0 or byte >= 0x80:
        return f"\\{byte:03o}"
    return "\\\\" if byte == 0x5C else chr(byte)


def decode(text: str, form: str) -> bytes:
    """The inverse of `encode`."""
    match form.lower():
        case "hex":
            return bytes.fromhex(text)
        case "base64":
            return b64decode("".join(text.split()), validate=True)
        case "escape":
            return _unescape(text)
    raise ValueError(form)


def _unescape(text: str) -> bytes:
    out, data, i = bytearray(), text.encode(), 0
    while i < len(data):
        if data[i] != 0x5C:
            out.append(data[i])
            i += 1
        elif data[i + 1 : i + 2] == b"\\":
            out.append(0x5C)
            i += 2
        else:
            digits = data[i + 1 : i + 4]
            if len(digits) < 3 or digits[0] > 0x33:
                raise ValueError(text)
            out.append(int(digits, 8))
            i += 4
    return bytes(out)


def bytes_text(data: bytes) -> str:
    """PostgreSQL's output of bytes: `\\x` and hexadecimal digits."""
    return "\\x" + data.hex()


def text_bytes(text: str) -> bytes:
    """PostgreSQL's input of bytes: hexadecimal after `\\x`, else escaped."""
    return bytes.fromhex(text[2:]) if text.startswith("\\x") else _unescape(text)


SCRIPTS: dict[str, Script] = {
    "left": Script(left, ("text", "signed")),
    "right": Script(right, ("text", "signed")),
    "lpad": Script(lpad, ("text", "signed", "text")),
    "rpad": Script(rpad, ("text", "signed", "text")),
    "repeat": Script(repeat, ("text", "signed")),
    "reverse": Script(lambda text: text[::-1], ("text",)),
    "initcap": Script(initcap, ("text",)),
    "ascii": Script(ascii_, ("text",)),
    "chr": Script(chr_, ("signed",)),
    "join": Script(join, ("text", "text", "text"), strict=False),
    "strip": Script(str.strip, ("text", "text")),
    "lstrip": Script(str.lstrip, ("text", "text")),
    "rstrip": Script(str.rstrip, ("text", "text")),
    "translate": Script(translate, ("text", "text", "text")),
    "md5": Script(lambda text: hashlib.md5(text.encode()).hexdigest(), ("text",)),
    "to_hex": Script(to_hex, ("signed",), made=True),
    "format": Script(filled, ("text", "list")),
    "normalize": Script(normalize, ("text", "text")),
    "quote_ident": Script(quote_name, ("text",)),
    "quote_literal": Script(quote_literal, ("text",)),
    "unistr": Script(lambda text: unescaped(text, lettered=True), ("text",)),
    "octet_length": Script(lambda text: len(text.encode()), ("text",)),
    "encode": Script(encode, ("binary", "text")),
    "decode": Script(decode, ("text", "text")),
}
