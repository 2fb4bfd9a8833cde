"""Credentials of a cluster: by what its processes know each other, and encrypt if they do.

They are made for one start of a cluster and handed to its members. Both ends of a connection show
that they know the secret. Where there is a certificate they speak TLS 1.3 before that: each shows
the certificate's key, and trusts no other certificate, so that no name has to be checked.
"""

import os
import secrets
import socket
import ssl
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

NAME = "cluster.ivm"
"""The name of all that has a certificate, for those that check one."""

_SECRET_BYTES = 32
_SUBJECT = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
_BEGIN, _END = datetime(2000, 1, 1), datetime(9999, 12, 31)
"""Hosts need not agree on the time: a certificate ends with the processes that know it."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate of `NAME` that signs itself, and its key, both in PEM."""

    public: str
    key: str = field(repr=False)

    @classmethod
    def new(cls) -> Self:
        """A certificate whose key nobody has yet."""
        key = generate_private_key(SECP256R1())
        made = (
            x509.CertificateBuilder()
            .subject_name(_SUBJECT)
            .issuer_name(_SUBJECT)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_BEGIN)
            .not_valid_after(_END)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
            .sign(key, hashes.SHA256())
        )
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return cls(made.public_bytes(Encoding.PEM).decode(), private.decode())


@dataclass(frozen=True, slots=True)
class Credentials:
    """A secret, and the certificate with which connections are encrypted, if they are.

    >>> Credentials.new(encrypted=False)
    Credentials(certificate=None)
    """

    secret: bytes = field(repr=False)
    certificate: Certificate | None = None

    @classmethod
    def new(cls, *, encrypted: bool) -> Self:
        """Credentials that nobody has yet."""
        return cls(secrets.token_bytes(_SECRET_BYTES), Certificate.new() if encrypted else None)

    def secured(self, connected: socket.socket, *, is_server: bool) -> socket.socket:
        """The socket, which speaks TLS if it is to; it has a timeout (raises OSError).

        One that speaks TLS takes the place of `connected`, and is closed where the other end does
        not have the certificate.
        """
        if self.certificate is None:
            return connected
        return _context(self.certificate, is_server).wrap_socket(connected, server_side=is_server)


@lru_cache(maxsize=2)
def _context(certificate: Certificate, is_server: bool) -> ssl.SSLContext:
    """One side of connections whose ends both have this certificate, and no other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=certificate.public)
    if is_server:
        context.num_tickets = 0  # no session is resumed
    # A key is taken from a file alone: this one is in memory, and no other process can open it.
    with os.fdopen(os.memfd_create("certificate"), "w") as file:
        file.write(certificate.key + certificate.public)
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
    return context
