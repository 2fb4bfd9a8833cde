# The project's commands. Each sets up what it needs (virtual environment, extensions), says what it
# does, and is quick when nothing changed.
#
#   make demo    generate change data, maintain five views through a kill, verify them with DuckDB
#   make test    every test
#   make serve   the service, on loopback
#   make check   formatting, lint, types, import direction, stubs of the extensions
#   make bench   the engine's benchmarks
#   make build   the extensions, in place

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test serve check bench build extensions

# The architecture that the extensions are compiled for: `native`, or e.g. x86-64-v3 for an image.
IVM_MARCH ?= native
# Changes that the demo generates.
CHANGES ?= 500000

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BUILT := build/.built
FLAGS := build/.flags
SOURCES := pyproject.toml $(shell find ivm -name '*.pyx' -o -name '*.pxd' -o -name '*.hpp')
export CXXFLAGS := -std=c++17 -O3 -DNDEBUG -fwrapv -march=$(IVM_MARCH)
say = @printf '\033[1m== %s\033[0m\n' "$(1)"

help:
	@sed -n 's/^#   //p' Makefile

demo: $(BUILT)
	$(call say,Running the demo with $(CHANGES) changes)
	@$(BIN)/python -m api demo --changes $(CHANGES)

test: $(BUILT)
	$(call say,Running the tests)
	@$(BIN)/python -m pytest

serve: $(BUILT)
	$(call say,Starting the service)
	@$(BIN)/python -m api serve

check: $(BUILT)
	$(call say,Lint)
	@$(BIN)/ruff check .
	$(call say,Formatting)
	@$(BIN)/ruff format --check .
	$(call say,Types)
	@$(BIN)/mypy
	$(call say,Import direction)
	@$(BIN)/lint-imports --no-logo
	$(call say,Stubs of the extensions)
	@$(BIN)/python -m mypy.stubtest --concise --ignore-disjoint-bases --ignore-unused-allowlist \
		--allowlist .ci/stubtest.allow $$(find ivm -name '*.pyi' | sed 's/\.pyi$$//; s|/|.|g')

bench: $(BUILT)
	$(call say,Running the benchmarks)
	@$(BIN)/python -m benchmarks

build: $(BUILT)

$(BUILT): $(INSTALLED) $(SOURCES) $(FLAGS)
	$(call say,Building the extensions for $(IVM_MARCH))
	@mkdir -p build
	@flock build/.lock $(MAKE) --no-print-directory extensions
	@touch $@

# The extensions that were built with other flags go.
ifneq ($(file < $(FLAGS)),$(CXXFLAGS))
.PHONY: $(FLAGS)
endif
$(FLAGS):
	@mkdir -p build
	@find ivm -name '*.so' -delete
	@echo '$(CXXFLAGS)' > $@

# Cython is not safe for threads: its own processes translate, the build's threads then compile.
# A file that does not translate keeps no other from being built; the second command fails on it.
extensions:
	@$(BIN)/python -c 'from Cython.Build import cythonize; \
		cythonize("ivm/**/*.pyx", language_level=3, nthreads=2)' || true
	@$(BIN)/python -W ignore -c 'import setuptools; setuptools.setup()' \
		build_ext --parallel 2 --build-lib . | sed -un '/^building .* extension$$/p'

$(INSTALLED): requirements.lock
	$(call say,Installing the dependencies into $(VENV))
	@test -x $(BIN)/python || for candidate in python3.11 python3.12 python3.13 python3; do \
		if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			$$candidate -m venv $(VENV) && break; \
		fi; \
	done
	@test -x $(BIN)/python || { \
		echo 'Python 3.11 or newer is needed, with venv; on Debian or Ubuntu:' >&2; \
		echo '  apt install python3 python3-venv python3-dev g++' >&2; exit 1; }
	@$(BIN)/python -m pip install --require-hashes --requirement requirements.lock
	@touch $@
