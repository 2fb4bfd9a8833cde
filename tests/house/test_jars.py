"""`make` fetches jars once for each pom, whole or not at all; Spark's are of the Spark pinned."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# In Maven's place: it leaves a file where it is told to, and ends as it is told to.
MAVEN = """#!/bin/sh
for argument do
  case "$argument" in -Dinto=*) into=${argument#-Dinto=};; esac
done
mkdir -p "$into" && echo jar > "$into/some.jar" && echo run >> "$RUNS"
exit "$CODE"
"""


class Tree:
    """A tree with the project's Makefile, one pom, and a Maven that is none."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pom = directory / "docker" / "kafka" / "some.xml"
        self.jars = directory / "build" / "jars" / "some"
        self.runs = directory / "runs"
        self.pom.parent.mkdir(parents=True)
        self.pom.touch()
        self.runs.touch()
        shutil.copy(ROOT / "Makefile", directory)
        program = directory / "bin" / "mvn"
        program.parent.mkdir()
        program.write_text(MAVEN)
        program.chmod(0o755)

    def make(self, code: int) -> subprocess.CompletedProcess[str]:
        """Run `make jars` where Maven ends with `code`."""
        path = f"{self.directory / 'bin'}:{os.environ['PATH']}"
        more = {"PATH": path, "CODE": str(code), "RUNS": str(self.runs)}
        return subprocess.run(
            ["make", "jars"],
            cwd=self.directory,
            env=os.environ | more,
            capture_output=True,
            text=True,
        )


def test_the_kafka_source_is_of_the_version_of_spark() -> None:
    pom = (ROOT / "docker" / "kafka" / "spark.xml").read_text()
    source = re.search(r"<artifactId>spark-sql-kafka.*</artifactId>\s*<version>(.*)</version>", pom)
    assert source is not None
    assert f'"pyspark=={source[1]}"' in (ROOT / "pyproject.toml").read_text()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_jars_are_fetched_again_only_when_their_pom_changed(tree: Tree) -> None:
    for _ in range(2):
        assert tree.make(0).returncode == 0
    assert (tree.jars / "some.jar").exists()
    assert tree.runs.read_text() == "run\n"
    os.utime(tree.pom, (tree.jars.stat().st_mtime + 1,) * 2)
    assert tree.make(0).returncode == 0
    assert tree.runs.read_text() == "run\nrun\n"


def test_a_failure_names_the_pom_and_leaves_nothing_half_made(tree: Tree) -> None:
    finished = tree.make(1)
    assert finished.returncode != 0
    assert "docker/kafka/some.xml" in finished.stderr
    assert list(tree.jars.parent.glob("*")) == []
