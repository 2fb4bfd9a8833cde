"""Build the extensions of a tree in place, as setup.py lists them; or of a checked copy.

    python .ci/build.py                       in the working directory
    python .ci/build.py --checked DIRECTORY   in this one, which becomes a copy of the tree

What is compiled how is said once: sources in setup.py, Cython's directives in pyproject.toml's
`[tool.distutils.build_ext]` (in a checked build, `CHECKS` over them), the compiler's flags in the
environment. What has not changed is not built again, unless one of these has.
"""

import logging
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from runpy import run_path

from setuptools import Distribution, Extension
from setuptools.command.build_ext import customize_compiler, new_compiler
from setuptools.logging import configure
from setuptools.modified import newer_group

CHECKS = {"boundscheck": True, "wraparound": True, "initializedcheck": True}
PACKAGES = ("ivm", "connectors")
COPIED = (*PACKAGES, "api", "tests", "pyproject.toml", "setup.py")
BUILT = {".so", ".cpp", ".c"}
FLAGS = ("CXXFLAGS", "LDFLAGS")
PXD_LINE = re.compile(rb"__PYX_ERR\([1-9]\d*, \d+,")
# Headers that nearly all of the C++ includes, precompiled.
PREFIX, PRECOMPILED = Path("build/prefix.hpp"), Path("build/prefix.hpp.gch")
HEADERS = ("Python.h", "cmath", "exception", "ios", "mutex", "new", "stdexcept", "vector")


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
    # It warns that an option is Cython's alone.
    logging.getLogger("setuptools.config").setLevel(logging.ERROR)
    distribution = Distribution({"src_root": str(Path.cwd())})
    distribution.parse_config_files(["pyproject.toml"])
    options = distribution.get_option_dict("build_ext")
    directives = options["cython_directives"][1] | checks
    shared = options["shared_utility_qualified_name"][1]
    flags = map(os.environ.get, FLAGS)
    forget_others(str([directives, shared, HEADERS, sys.version, *flags]))
    texts = [text for package in PACKAGES for text in Path(package).rglob("*.cpp")]
    before = {text: code_of(text) for text in texts if is_newer(built(text), [text])}
    recipe = run_path("setup.py")
    distribution.ext_modules = recipe["translate"](recipe["EXTENSIONS"], directives, shared)
    for extension in distribution.ext_modules:
        text = Path(extension.sources[0])
        if before.get(text) == code_of(text) and is_newer(built(text), extension.depends):
            built(text).touch()
    precompile_headers(distribution.ext_modules)
    for name, value in {"build_lib": ".", "parallel": recipe["JOBS"]}.items():
        options[name] = (__file__, value)
    configure()
    distribution.run_command("build_ext")


def code_of(text: Path) -> bytes:
    """C++ without the lines of .pxd files in tracebacks; file 0 is the extension's own .pyx."""
    return PXD_LINE.sub(b"", text.read_bytes())


def built(text: Path) -> Path:
    """The extension that is compiled from this C++."""
    return text.with_name(text.stem + EXTENSION_SUFFIXES[0])


def is_newer(target: Path, sources: list[Path] | list[str]) -> bool:
    """Whether a file exists, and none of these has changed since it was made."""
    return target.exists() and not newer_group(sources, target)


def precompile_headers(extensions: list[Extension]) -> None:
    """Let GCC read once what every extension includes; other compilers read it each time."""
    for extension in extensions:
        if extension.language == "c++":
            extension.extra_compile_args = ["-include", str(PREFIX)]
    if PRECOMPILED.exists():
        return
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    PREFIX.write_text(f"#define PY_SSIZE_T_CLEAN\n{includes}")
    compiler = new_compiler()
    customize_compiler(compiler)
    python = f"-I{sysconfig.get_path('include')}"
    command = [*compiler.compiler_so_cxx, python, "-x", "c++-header", PREFIX, "-o", PRECOMPILED]
    subprocess.run(command, check=True)


def forget_others(recipe: str) -> None:
    """Remove what was built by another recipe; so a build that was cut short can go on."""
    before = Path("build/.recipe")
    if before.exists() and before.read_text() == recipe:
        return
    PRECOMPILED.unlink(missing_ok=True)
    for package in PACKAGES:
        for path in Path(package).rglob("*"):
            if path.suffix in BUILT:
                path.unlink()
    before.parent.mkdir(exist_ok=True)
    before.write_text(recipe)


if __name__ == "__main__":
    main()
