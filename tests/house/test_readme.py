"""Every command of README.md works as it stands there, and every target of CONTRIBUTING.md exists.

The `make` targets that take minutes have tests of their own; of them it is only checked that they
exist. The walk-through runs block after block against a service started for it, in an empty
directory and on a free port; an answer that follows a block is compared with what it prints.
"""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.demo.ports import free_ports

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(
    r"^```sh\n(?P<commands>.*?)^```$(?:\n\n```json\n(?P<answer>.*?)^```$)?", README, re.M | re.S
)
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
TARGETS = sorted(set(re.findall(r"\bmake ([a-z]+)\b", README + CONTRIBUTING)))
WALK = [(commands, answer) for commands, answer in BLOCKS if "make " not in commands]
ADDRESS = "127.0.0.1:8080"
STARTS_WITHIN = 240.0
# The command line of this checkout, wherever the service runs.
COMMAND_LINE = (".venv/bin/ivm", f"{sys.executable} -m api")


def environment(address: str) -> dict[str, str]:
    """The variables with which the service, and its command line, find one another."""
    port = address.split(":")[1]
    return os.environ | {"PYTHONPATH": str(ROOT), "IVM_PORT": port, "IVM_WAIT_SECONDS": "80"}


@pytest.fixture(scope="module")
def address() -> str:
    (port,) = free_ports(1)
    return f"127.0.0.1:{port}"


@pytest.fixture(scope="module")
def service(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory in which the service of `make serve` runs, once it is ready."""
    directory = tmp_path_factory.mktemp("readme")
    program = [sys.executable, "-m", "api", "serve"]
    process = subprocess.Popen(program, cwd=directory, env=environment(address))
    try:
        _wait_ready(process, f"http://{address}/readyz")
        yield directory
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.jvm
def test_the_walk_through_answers_as_it_says(service: Path, address: str) -> None:
    for commands, answer in WALK:
        here = commands.replace(ADDRESS, address).replace(*COMMAND_LINE)
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", here],
            cwd=service,
            env=environment(address),
            capture_output=True,
            text=True,
        )
        assert finished.returncode == 0, f"{commands}\n{finished.stdout}\n{finished.stderr}"
        if answer:
            assert finished.stdout.split() == answer.split()


@pytest.mark.parametrize("target", TARGETS)
def test_a_make_target_that_pages_name_exists(target: str) -> None:
    subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)


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
