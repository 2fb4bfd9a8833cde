"""Certificates of one test: an authority, a server on the loopback, a client; PEM, by openssl."""

import subprocess
from pathlib import Path

_EXTENSIONS = {
    "server": "subjectAltName=IP:127.0.0.1,DNS:localhost",
    "client": "extendedKeyUsage=clientAuth",
}


class Certificates:
    """The files of a directory: `ca.pem`, and `.pem` and `.key` of the server and the client.

    The client's key is encrypted with `password`.
    """

    password = "a password of a key"

    def __init__(self, directory: Path) -> None:
        self.ca = directory / "ca.pem"
        self.client = directory / "client.pem"
        self.client_key = directory / "client.key"
        self.server = directory / "server.pem"
        self.server_key = directory / "server.key"
        # What a JVM wants: key and certificate in one file.
        self.server_store = directory / "server.store.pem"

    @classmethod
    def made(cls, directory: Path) -> "Certificates":
        """New ones, valid for some days."""
        directory.mkdir(parents=True)
        made = cls(directory)
        ca_key = directory / "ca.key"
        _openssl(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=tests"),
            *("-keyout", ca_key, "-out", made.ca),
        )
        for name, extension in _EXTENSIONS.items():
            request, extensions = directory / f"{name}.csr", directory / f"{name}.ext"
            extensions.write_text(extension)
            key = directory / f"{name}.plain.key"
            _openssl(
                *("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"),
                *("-keyout", key, "-out", request),
            )
            _openssl(
                *("x509", "-req", "-in", request, "-CA", made.ca, "-CAkey", ca_key, "-days", "30"),
                *("-CAcreateserial", "-extfile", extensions, "-out", directory / f"{name}.pem"),
            )
        key = directory / "server.plain.key"
        key.rename(made.server_key)
        made.server_store.write_text(made.server_key.read_text() + made.server.read_text())
        _openssl(
            *("pkcs8", "-topk8", "-in", directory / "client.plain.key", "-out", made.client_key),
            *("-passout", f"pass:{cls.password}"),
        )
        return made


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
