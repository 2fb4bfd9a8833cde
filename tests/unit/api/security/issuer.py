"""An issuer of OpenID Connect for tests: its two documents over HTTP, and tokens."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote_plus

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

AUDIENCE = "ivm"
# The client that it gives tokens to.
CLIENT, CLIENT_SECRET = "shop", "a secret of a client"


class TestIssuer:
    """An issuer with one key, which `rotate` changes."""

    __test__ = False

    def __init__(self) -> None:
        self.url = ""
        self.moved: str | None = None
        self.asked = 0
        self.rotate()

    def rotate(self) -> None:
        """Sign with another key from now on."""
        self.key = generate_private_key(65537, 2048)
        self.id = f"key-{id(self.key)}"

    def token(self, key: RSAPrivateKey | str | None = None, **claims: Any) -> str:
        """A token, good for a minute; claims of None are left out."""
        given = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ada",
            "role": "read",
            "exp": time.time() + 60,
            **claims,
        }
        body = {name: value for name, value in given.items() if value is not None}
        algorithm = "HS256" if isinstance(key, str) else "RS256"
        return jwt.encode(body, key or self.key, algorithm, headers={"kid": self.id})

    def document(self, path: str) -> dict[str, Any]:
        """What it answers."""
        if path.endswith("openid-configuration"):
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        self.asked += 1
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": self.id, "use": "sig", "alg": "RS256"}]}


@contextmanager
def listening() -> Iterator[TestIssuer]:
    """An issuer on a port of this machine."""
    issuer = TestIssuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if issuer.moved is not None:
                self.send_response(302)
                self.send_header("location", issuer.moved)
                self.end_headers()
                return
            body = json.dumps(issuer.document(self.path)).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            given = base64.b64decode(self.headers["authorization"].removeprefix("Basic "))
            is_known = unquote_plus(given.decode()) == f"{CLIENT}:{CLIENT_SECRET}"
            self.rfile.read(int(self.headers["content-length"]))
            answer = {"error": "invalid_client"}
            if is_known:
                token = issuer.token(sub=CLIENT, iat=int(time.time()), exp=int(time.time()) + 600)
                answer = {"access_token": token, "token_type": "bearer", "expires_in": "600"}
            body = json.dumps(answer).encode()
            self.send_response(200 if is_known else 401)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    yield issuer
    server.shutdown()
    server.server_close()
