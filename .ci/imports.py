"""Check the contracts of imports (`[tool.importlinter]` of pyproject.toml), in Cython as in Python.

    python .ci/imports.py

import-linter reads Python only. So the contracts are checked on an outline of the packages: for
each module one file, which holds the import statements of its `.py`, `.pyx` and `.pxd`, with
`cimport` read as `import`.
"""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

PACKAGES = ("api", "connectors", "ivm", "ivm_client", "views")
OUTLINE = Path("build/outline")
STATEMENT = re.compile(
    r"^[ \t]*(?:from[ ]+(?P<origin>[\w.]+)[ ]+c?import[ ]+(?P<names>\([^)]*\)|[^\n#]+)"
    r"|c?import[ ]+(?P<modules>[\w., ]+))",
    re.MULTILINE,
)


def main() -> None:
    """Write the outline anew, and run import-linter in it; its exit code is this program's."""
    shutil.rmtree(OUTLINE, ignore_errors=True)
    for module, statements in outline(Path.cwd()).items():
        path = OUTLINE / module
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{statement}\n" for statement in statements))
    shutil.copy("pyproject.toml", OUTLINE)
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    sys.exit(subprocess.run(command, cwd=OUTLINE, check=False).returncode)


def outline(root: Path) -> dict[Path, list[str]]:
    """The import statements of each module below `root`, by the path of the module's outline."""
    found: dict[Path, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.p*")):
            if path.suffix in {".py", ".pyx", ".pxd"}:
                module = path.relative_to(root).with_suffix(".py")
                found[module] += statements(path.read_text())
    return found


def statements(text: str) -> list[str]:
    """The statements that import, each on one line; `cimport` is `import`.

    >>> statements("from ivm.trace.times cimport (\\n    join_into,\\n    meet_into,\\n)")
    ['from ivm.trace.times import join_into, meet_into']
    """
    lines = []
    for match in STATEMENT.finditer(text):
        if match["origin"]:
            bare = re.sub(r"#[^\n]*", "", match["names"])
            names = ", ".join(re.findall(r"[\w*]+(?: as \w+)?", bare))
            lines.append(f"from {match['origin']} import {names}")
        else:
            lines.append(f"import {match['modules'].strip()}")
    return lines


if __name__ == "__main__":
    main()
