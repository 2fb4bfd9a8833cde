"""The service speaks HTTPS with a certificate, and the client trusts what it is told to trust."""

import datetime
import socket
import threading
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.x509.oid import NameOID
from pydantic import ValidationError

from api.app import create_app
from api.security.principal import Role
from api.serve import server
from api.settings import Settings
from ivm_client import Client
from ivm_client.errors import Problem, Unreachable
from tests.unit.api.conftest import make_runtime
from tests.unit.api.security.conftest import make_key


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that signs itself, and its key."""
    key = generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ivm")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = tmp_path / "tls.crt", tmp_path / "tls.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return files


@pytest.fixture
def url(tmp_path: Path, certificate: tuple[Path, Path]) -> Iterator[str]:
    runtime = make_runtime(tmp_path, access="keys")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = server(create_app(runtime), *certificate)
        thread = threading.Thread(target=serving.run, args=([listener],))
        thread.start()
        runtime.readiness.wait()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        serving.should_exit = True
        thread.join()


def test_a_client_that_trusts_the_certificate_is_answered(
    url: str, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    key = make_key(tmp_path, Role.read)
    with Client(url, key=key, ca=certificate[0]) as client:
        assert client.views() == []
    with Client(url, ca=certificate[0]) as client, pytest.raises(Problem, match="Bearer"):
        client.views()


def test_one_that_does_not_sends_it_nothing(url: str) -> None:
    with Client(url, key="ivm_1_secret") as client, pytest.raises(Unreachable, match="certificate"):
        client.views()


def test_a_certificate_without_its_key_is_refused(certificate: tuple[Path, Path]) -> None:
    with pytest.raises(ValidationError, match="belong together"):
        Settings(tls_certificate=certificate[0])
    with pytest.raises(ValidationError, match="tls_key: there is no file"):
        Settings(tls_certificate=certificate[0], tls_key=Path("nowhere"))
