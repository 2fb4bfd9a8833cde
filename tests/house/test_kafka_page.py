"""docs/kafka.md: its commands work as they stand there, and its declarations are accepted.

The walk-through runs block after block against a service and a broker of the tests', in a directory
that holds the page's first configuration; an answer that follows a block is compared with what it
prints.
"""

import os
import re
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
import typer
from typer.main import get_command

from api.cli.main import app
from api.demo.ports import free_ports
from api.models import SourceBody
from api.settings import Settings
from tests.kafka.client import Kafka
from tests.kafka.java import NoJars, classpath

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "kafka.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)
WALK = re.findall(
    r"^```sh\n(?P<commands>.*?)^```$(?:\n\n```json\n(?P<answer>.*?)^```$)?", PAGE, re.M | re.S
)
CONFIGURATIONS = [text for kind, text in BLOCKS if kind == "toml"]
DECLARATIONS = [text for kind, text in BLOCKS if kind == "json" and '"columns"' in text]
COMMANDS = sorted(set(re.findall(r"`ivm ([a-z]+(?: [a-z]+)?)", PAGE)))
STARTS_WITHIN = 240.0


@dataclass(frozen=True)
class Running:
    """A service in a directory of its own."""

    directory: Path
    environment: dict[str, str]
    port: int


@pytest.fixture
def service(kafka: Kafka, tmp_path: Path) -> Iterator[Running]:
    try:
        classpath("spark")
    except NoJars as reason:
        pytest.skip(str(reason))
    (port,) = free_ports(1)
    (tmp_path / "ivm.toml").write_text(CONFIGURATIONS[0].replace("localhost:9092", kafka.address))
    environment = os.environ | {
        "IVM_PORT": str(port),
        "IVM_WAIT_SECONDS": "80",
        "IVM_SPARK_JARS": str(ROOT / "build" / "jars" / "spark"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    process = subprocess.Popen(["ivm", "serve"], cwd=tmp_path, env=environment)
    try:
        _wait_ready(process, f"http://127.0.0.1:{port}/readyz")
        yield Running(tmp_path, environment, port)
    finally:
        process.terminate()
        process.wait(120)


def test_the_walk_through_answers_as_it_says(service: Running, kafka: Kafka) -> None:
    for commands, answer in WALK:
        here = commands.replace("localhost:9092", kafka.address)
        here = here.replace("127.0.0.1:8080", f"127.0.0.1:{service.port}")
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", here],
            cwd=service.directory,
            env=service.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert finished.returncode == 0, f"{here}\n{finished.stdout}\n{finished.stderr}"
        if answer:
            assert finished.stdout.split() == answer.split()


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_a_configuration_is_accepted(text: str) -> None:
    given = tomllib.loads(text)
    assert given.keys() <= Settings(**given).model_fields_set


@pytest.mark.parametrize("text", DECLARATIONS)
def test_a_declaration_is_accepted(text: str) -> None:
    spec = SourceBody(**orjson.loads(text)).spec("name", "quarantine")
    assert spec.connection == "main"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_exists(command: str) -> None:
    found: Any = get_command(app)
    for word in command.split():
        found = found.get_command(typer.Context(found), word)
        assert found is not None, word


def test_every_member_of_a_source_is_described() -> None:
    section = PAGE[PAGE.index("## Sources") : PAGE.index("### Envelopes")]
    described = set(re.findall(r"^\| `(\w+)`", section, re.M))
    assert described == set(SourceBody.model_fields) - {"columns", "key"}


def _wait_ready(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline:
        assert process.poll() is None, "the service ended"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"the service was not ready within {STARTS_WITHIN} s")
