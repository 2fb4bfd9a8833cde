"""Build the extensions of a tree in place, as pyproject.toml describes them; or of a checked copy.

    python .ci/build.py                       in the working directory
    python .ci/build.py --checked DIRECTORY   in this one, which becomes a copy of the tree

What is compiled how is said once: sources in `[[tool.setuptools.ext-modules]]`, Cython's directives
in `[tool.distutils.build_ext]` (in a checked build, `CHECKS` over them), the compiler's flags in
the environment. What has not changed is not built again, unless one of these has.
"""

import os
import shutil
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Distribution
from setuptools.logging import configure

CHECKS = {"boundscheck": True, "wraparound": True, "initializedcheck": True}
COPIED = ("ivm", "api", "tests", "pyproject.toml")
BUILT = {".so", ".cpp"}
FLAGS = ("CXXFLAGS", "LDFLAGS")


def main() -> None:
    """Build; with `--checked`, in the copy."""
    match sys.argv[1:]:
        case []:
            build({})
        case ["--checked", directory]:
            copy_tree(Path.cwd(), Path(directory))
            os.chdir(directory)
            build(CHECKS)
        case _:
            sys.exit(__doc__)


def copy_tree(source: Path, target: Path) -> None:
    """Make `target` hold the sources of `source`, with their times; what was built there stays."""
    wanted = sources(source)
    for path in wanted:
        original, copy = source / path, target / path
        if not copy.exists() or copy.stat().st_mtime != original.stat().st_mtime:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(original, copy)
    for path in sources(target) - wanted:
        (target / path).unlink()


def sources(tree: Path) -> set[Path]:
    """The files of a tree that belong into a copy."""
    found = [path for name in COPIED for path in [tree / name, *(tree / name).rglob("*")]]
    return {
        path.relative_to(tree)
        for path in found
        if path.is_file() and path.suffix not in BUILT and "__pycache__" not in path.parts
    }


def build(checks: dict[str, bool]) -> None:
    """Translate and compile the extensions of the working directory."""
    distribution = Distribution({"src_root": str(Path.cwd())})
    distribution.parse_config_files(["pyproject.toml"])
    options = distribution.get_option_dict("build_ext")
    directives = options["cython_directives"][1] | checks
    for extension in distribution.ext_modules:
        extension.language = "c++"
    forget_others(str([directives, *map(os.environ.get, FLAGS)]))
    # Cython is not safe for threads: its own processes translate, the build's threads then compile.
    distribution.ext_modules = cythonize(
        distribution.ext_modules, nthreads=2, compiler_directives=directives
    )
    for name, value in {"build_lib": ".", "parallel": 2}.items():
        options[name] = (__file__, value)
    configure()
    distribution.run_command("build_ext")


def forget_others(recipe: str) -> None:
    """Remove what was built by another recipe; so a build that was cut short can go on."""
    before = Path("build/.recipe")
    if before.exists() and before.read_text() == recipe:
        return
    for path in Path("ivm").rglob("*"):
        if path.suffix in BUILT:
            path.unlink()
    before.parent.mkdir(exist_ok=True)
    before.write_text(recipe)


if __name__ == "__main__":
    main()
