"""Normalises quoted texts to '…': E'…' with escapes, and $tag$…$tag$ without any.

As PostgreSQL reads them (section 4.1.2 of its manual).
"""

import re

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

_ESCAPED = re.compile(
    rb"''|\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.DOTALL
)
_CONTROLS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def as_text(token: Token, sql: str) -> Token:
    """Rewrites `token` of `sql` to one of '…' if it is a text (raises ParseError)."""
    match token.token_type:
        case TokenType.BYTE_STRING:
            text = _unescaped(token, sql[token.start + 2 : token.end])
        case TokenType.HEREDOC_STRING:
            text = token.text
        case _:
            return token
    place = token.line, token.col, token.start, token.end
    return Token(TokenType.STRING, text, *place, token.comments)


def _unescaped(token: Token, inside: str) -> str:
    """Decodes the inside of an E'…'; escapes may spell the bytes of UTF-8."""
    try:
        whole = _ESCAPED.sub(_character, inside.encode()).decode("utf-8", "surrogatepass")
        text = whole.encode("utf-16", "surrogatepass").decode("utf-16")  # pairs are one character
    except (ValueError, OverflowError) as error:
        raise _fault(token, "an escape is no character") from error
    if "\0" in text:
        raise _fault(token, "an escape is no character")
    return text


def _character(escaped: re.Match[bytes]) -> bytes:
    four, eight, hexadecimal, octal, plain = escaped.groups()
    if code := four or eight:
        return chr(int(code, 16)).encode("utf-8", "surrogatepass")
    if hexadecimal:
        return bytes([int(hexadecimal, 16)])
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    if plain in (b"u", b"U"):
        raise ValueError("too few digits")
    return b"'" if plain is None else _CONTROLS.get(plain, plain)


def _fault(token: Token, message: str) -> ParseError:
    return ParseError.new(message, description=message, line=token.line, col=token.col)
