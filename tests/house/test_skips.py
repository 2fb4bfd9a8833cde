"""In CI a test may not skip: a run that passes has run everything."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFTEST = ROOT / "tests" / "conftest.py"


@pytest.mark.parametrize(
    ("ci", "code"), [("true", pytest.ExitCode.TESTS_FAILED), ("", pytest.ExitCode.OK)]
)
def test_a_skipped_test_fails_in_ci_only(tmp_path: Path, ci: str, code: int) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_it.py").write_text("import pytest\ndef test_it(): pytest.skip('no broker')\n")
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"CI": ci, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert finished.returncode == code, finished.stdout
    assert ("no broker" in finished.stdout) == (ci == "true")
