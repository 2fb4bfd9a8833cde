"""Brokers that take presigned requests for tokens, as those of Amazon MSK do."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kafka.java import classpath

REGION = "eu-west-1"
KEY = "AKIDEXAMPLE"
SETTINGS = {
    "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "OAUTHBEARER",
    "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": (
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
    ),
    "listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class": (
        "PresignedTokens"
    ),
}
OPTIONS = (f"-Dpresigned.region={REGION}", f"-Dpresigned.key={KEY}")


def compiled(directory: Path) -> Path:
    """The directory with the class of a broker that takes them; skips where none compiles it."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("no javac (Debian's package is openjdk-17-jdk-headless)")
    source = Path(__file__).with_name("PresignedTokens.java")
    command = [javac, "-cp", classpath("broker"), "-d", str(directory), str(source)]
    subprocess.run(command, check=True)
    return directory
