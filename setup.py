"""The extensions: one for each .pyx of the tree, named by its path. All else is in pyproject.toml.

The compiler's flags come from the environment (see Makefile), so that one tree builds for this
machine and for an image.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGES = ("connectors", "ivm")
JOBS = os.cpu_count() or 1


def extension(source: Path) -> Extension:
    """The extension of one .pyx."""
    return Extension(".".join(source.with_suffix("").parts), [str(source)], language="c++")


def translate(
    extensions: list[Extension], directives: dict[str, object], shared: str
) -> list[Extension]:
    """The extensions in C++; `shared` names the one that holds what Cython adds to every module."""
    return cythonize(
        extensions,
        nthreads=JOBS,
        compiler_directives=directives,
        shared_utility_qualified_name=shared,
    )


class BuildTogether(build_ext):
    """Builds as many extensions at once as there are processors.

    Cython is not safe for threads: its own processes translate, the build's threads then compile.
    """

    def build_extensions(self) -> None:
        """Translate all, then compile all."""
        translated = translate(
            self.extensions, self.cython_directives, self.shared_utility_qualified_name
        )
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        self.parallel = JOBS
        super().build_extensions()


SOURCES = sorted(path for package in PACKAGES for path in Path(package).rglob("*.pyx"))
# The first one holds what Cython adds to every module (`shared-utility-qualified-name`).
EXTENSIONS = [Extension("ivm._cyutility", []), *map(extension, SOURCES)]

if __name__ == "__main__":
    setup(ext_modules=EXTENSIONS, cmdclass={"build_ext": BuildTogether})
