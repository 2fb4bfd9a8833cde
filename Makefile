# The project's commands. Each sets up what it needs (virtual environment, extensions), says what it
# does, and is quick when nothing changed.
#
#   make demo    generate change data, maintain five views through a kill, verify them with DuckDB
#   make mentions components of who mentions whom, in a window that moves forward and backward
#   make quick   in a minute: the law for each operator, views, plans, decoding
#   make test    every test, but for those of make faults and make containers
#   make faults  kills, stalls, refusals, full disks, short memory; Debezium with all that belongs to it
#   make containers  the image and the compose file of docker/, built and run without a registry
#   make serve   the service, on loopback
#   make kafka   a broker on localhost:9092, to try the service with
#   make check   formatting, lint, types, import direction, stubs of the extensions
#   make checked the engine's tests on extensions that check bounds, addresses and undefined behaviour
#   make races   those in which threads share work, on extensions whose accesses ThreadSanitizer watches
#   make soak    thousands of random queries; ten million updates; an hour at 50,000 changes/s; kills and freezes under a larger load
#   make fuzz    a million inputs to the front-ends, and as many records and constants: no crash, no hang
#   make bench   the engine's benchmarks beside differential-dataflow, and with two workers beside one: half an hour
#   make profile the engine's hottest functions in a workload of the benchmarks: WORKLOAD=bfs
#   make build   the extensions, in place
#   make audit   known vulnerabilities of what is shipped, by pip-audit; needs the JSON API of PyPI
#   make wheel   what is shipped: built, installed into an empty environment and tried from there
#   make jars    Kafka and what belongs to it, from Maven Central
#   make locks   the pins of all dependencies anew, with uv: .ci/*.lock and requirements.lock

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo mentions quick test faults containers serve kafka check checked races soak fuzz bench profile build audit wheel jars locks
.PHONY: extensions

# The architecture that the extensions are compiled for: `native`, or e.g. x86-64-v3 for an image.
IVM_MARCH ?= native
# Changes that the demo generates.
CHANGES ?= 500000

# Arguments of `ivm mentions`: a file, or options.
MENTIONS ?=

# Inputs that the fuzzer makes, records, and constants.
INPUTS ?= 1000000

# What `make audit` does where an index does not tell vulnerabilities; empty, it says so and goes on.
STRICT ?= --strict

# Random queries of each grammar in a soak.
QUERIES ?= 1000

# How long the whole service is under a steady load in a soak, and the changes a second.
MINUTES ?= 60
RATE ?= 50000

# The workload that is profiled, and its scale.
WORKLOAD ?= count
SCALE ?= small

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BUILT := build/.built
FLAGS := build/.flags
SOURCES := pyproject.toml setup.py .ci/build.py $(shell find ivm connectors -name '*.pyx' -o -name '*.pxd' -o -name '*.hpp')
# Integers wrap, and a product is rounded before it is added to: the same answers on all machines.
ARITHMETIC := -fwrapv -ffp-contract=off
export CXXFLAGS := -std=c++17 -O3 -DNDEBUG $(ARITHMETIC) -march=$(IVM_MARCH)
# A directory of jars for each pom of docker/kafka.
JARS := $(patsubst docker/kafka/%.xml,build/jars/%,$(wildcard docker/kafka/*.xml))
# What an edit is tried with, by fewer examples than in `make test`.
QUICK ?= tests/property/test_law.py::test_output_equals_recomputation_at_every_time tests/plans \
	tests/unit/views tests/property/test_decoding.py \
	$(wildcard tests/unit/connectors/test_*record*.py) \
	$(patsubst %,tests/unit/connectors/test_%.py,decode avro protobuf envelopes flat)
# What takes many processes and minutes.
FAULTS ?= tests/faults tests/e2e/kafka $(wildcard tests/e2e/test_cluster*.py) \
	tests/e2e/test_recovery.py tests/e2e/test_topic_patterns.py \
	$(patsubst %,tests/e2e/connectors/test_%.py,kafka kill topic_patterns)
# What builds images and runs containers.
CONTAINERS ?= tests/containers
# What runs on the checked build.
CHECKED ?= tests/unit/pool tests/unit/rows tests/unit/trace tests/unit/test_team.py \
	tests/property/test_law.py tests/property/test_temporal_filter.py \
	tests/unit/connectors/test_columnwise.py tests/property/test_decoding.py \
	tests/property/test_encoding.py
# And on the one that looks for races.
RACES ?= tests/unit/test_team.py tests/unit/trace/test_together.py tests/unit/pool
# Of the build's output, a line for each file.
SHOW := sed -un '/Cythonizing/p; /^building .* extension$$/p'
say = @printf '\033[1m== %s\033[0m\n' "$(1)"

help:
	@sed -n 's/^#   //p' Makefile

demo: $(BUILT)
	$(call say,Running the demo with $(CHANGES) changes)
	@$(BIN)/python -m api demo --changes $(CHANGES)

mentions: $(BUILT)
	$(call say,Following mentions in a window that moves)
	@$(BIN)/python -m api mentions $(MENTIONS)

quick: $(BUILT)
	$(call say,Running the quick tests)
	@$(BIN)/python -m pytest -q -n 2 --hypothesis-profile quick $(QUICK)

# Without Maven, or away from Maven Central, the tests of Kafka say why they skip. A process of tests that dies
# ends the run: one that takes its place is given nothing, and the run would wait for it.
test faults: $(BUILT)
	@! command -v mvn >/dev/null || $(MAKE) --no-print-directory --keep-going \
		jars build/jars/spark.jsa || true
	$(call say,Running the tests)
	@$(BIN)/python -m pytest -n 2 --max-worker-restart 0 --dist loadfile --no-loadscope-reorder \
		$(SELECTED)

test: SELECTED = $(addprefix --ignore=,$(FAULTS) $(CONTAINERS))
faults: SELECTED = $(FAULTS)

# The base images are made of Debian's packages and of the jars.
containers: $(BUILT) jars
	$(call say,Building and running containers)
	@$(BIN)/python -m pytest -n 0 --timeout 3600 -o faulthandler_timeout=0 $(CONTAINERS)

# Without the jars there are file topics only.
serve: $(BUILT)
	@! command -v mvn >/dev/null || $(MAKE) --no-print-directory build/jars/spark.jsa || true
	$(call say,Starting the service)
	@$(BIN)/python -m api serve

kafka: $(INSTALLED) build/jars/broker
	$(call say,Starting Kafka)
	@$(BIN)/python -m tests.kafka build/kafka

check: $(BUILT)
	$(call say,Lint)
	@$(BIN)/ruff check .
	$(call say,Formatting)
	@$(BIN)/ruff format --check .
	$(call say,Types)
	@$(BIN)/mypy
	$(call say,Import direction)
	@$(BIN)/python .ci/imports.py
	$(call say,Stubs of the extensions)
	@$(BIN)/python -m mypy.stubtest --concise --ignore-disjoint-bases --ignore-unused-allowlist \
		--allowlist .ci/stubtest.allow $$(find ivm connectors -name '*.pyi' | sed 's/\.pyi$$//; s|/|.|g')

soak: $(BUILT) build/jars/broker build/jars/spark.jsa
	$(call say,Maintaining $(QUERIES) random queries of each grammar beside PostgreSQL)
	@$(BIN)/python -m tests.property --queries $(QUERIES) --seed $$RANDOM
	$(call say,Trying a thousand examples of each property)
	@$(BIN)/python -m pytest -n 2 --timeout 0 -o faulthandler_timeout=0 --hypothesis-profile long \
		tests/property tests/unit/rows tests/unit/pool
	$(call say,Running ten million updates)
	@$(BIN)/python -m tests.soak
	$(call say,Following $(RATE) changes a second for $(MINUTES) minutes)
	@$(BIN)/python -m tests.soak.service --minutes $(MINUTES) --rate $(RATE) --page build/soak.md
	$(call say,Killing and freezing the service and its broker under load)
	@IVM_TEST_LOAD=long $(BIN)/python -m pytest --timeout 0 -o faulthandler_timeout=0 \
		tests/faults/test_service_under_load.py tests/faults/test_04_cluster.py

fuzz: $(BUILT)
	$(call say,Compiling $(INPUTS) inputs)
	@$(BIN)/python -m tests.fuzz --inputs $(INPUTS)
	$(call say,Decoding $(INPUTS) records)
	@$(BIN)/python -m tests.fuzz.records --records $(INPUTS)
	$(call say,Compiling $(INPUTS) constants)
	@$(BIN)/python -m tests.fuzz.constants --constants $(INPUTS)

bench: $(BUILT)
	$(call say,Running the benchmarks beside differential-dataflow)
	@$(BIN)/python -m benchmarks --peer differential --page benchmarks/results.md \
		--json build/benchmarks/results.json
	$(call say,Running them with two workers and with one)
	@$(BIN)/python -m benchmarks arrange install count bfs wcc scc --workers 2 --peer ivm \
		--page benchmarks/workers.md

# perf sees what profilers of Python frames cannot: compiled code, on all threads. It samples by a clock, since
# virtual machines often have no counters of cycles. Shown are the extensions; starting Python is left out.
profile: PROFILE = build/profile/$(WORKLOAD)
profile: $(BUILT)
	$(call say,Profiling $(WORKLOAD))
	@command -v perf >/dev/null || { echo 'perf is needed: apt install linux-perf' >&2; exit 1; }
	@mkdir -p build/profile
	@perf record --quiet --event cpu-clock --freq 999 --call-graph fp --output $(PROFILE).data -- \
		$(BIN)/python -m benchmarks $(WORKLOAD) --scale $(SCALE)
	@perf report --input $(PROFILE).data --stdio --no-children --call-graph none --percentage relative \
		--sort dso,symbol --dsos "$$(find $(CURDIR)/ivm $(CURDIR)/connectors -name '*.so' | paste -sd,)" >$(PROFILE).txt
	@sed '/^#/d; /^$$/d' $(PROFILE).txt | sed 30q
	@echo 'All of it: $(PROFILE).txt; who calls what: perf report --input $(PROFILE).data'

build: $(BUILT)

# An index that does not tell vulnerabilities, as most mirrors do not, fails it: nothing was audited.
audit: $(INSTALLED)
	$(call say,Asking for known vulnerabilities of the dependencies)
	@test -x build/audit/bin/pip-audit || { $(BIN)/python -m venv build/audit && \
		build/audit/bin/pip install --quiet pip-audit==2.10.1; }
	@build/audit/bin/pip-audit $(STRICT) --disable-pip --require-hashes --progress-spinner off \
		--requirement requirements.lock

# The wheel is built of the source distribution, so that this holds all that it needs.
wheel: $(INSTALLED)
	$(call say,Building the wheel)
	@rm -rf build/wheel && mkdir -p build/wheel
	@$(BIN)/python -W ignore -c 'from setuptools.build_meta import build_sdist; build_sdist("build/wheel")' \
		>build/wheel/log
	@rm -rf ivm.egg-info
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-index --no-build-isolation \
		--wheel-dir build/wheel build/wheel/ivm-*.tar.gz
	$(call say,Trying it)
	@.ci/trial build/wheel/ivm-*.whl

jars: $(JARS)

# One resolution for all: what a user gets is what the tests ran with.
LOCK := uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header
locks:
	@command -v uv >/dev/null || { echo 'uv is needed: pip install uv' >&2; exit 1; }
	@$(LOCK) pyproject.toml --group dev --output-file .ci/dev.lock
	@$(LOCK) pyproject.toml --constraint .ci/dev.lock --output-file requirements.lock
	@$(LOCK) --group build --constraint .ci/dev.lock --output-file .ci/build.lock

build/jars/%: docker/kafka/%.xml
	$(call say,Fetching the jars of $<)
	@command -v mvn >/dev/null || { echo 'Maven is needed: apt install maven' >&2; exit 1; }
	@rm -rf $@ $@.part
	@mvn --quiet --batch-mode -Dstyle.color=never --file $< -Dinto=$(CURDIR)/$@.part package || \
		{ rm -rf $@.part; echo 'No $@: something that $< names could not be fetched' >&2; exit 1; }
	@mv $@.part $@
	@touch $@

# What the JVM of Spark starts from, in half the time.
build/jars/spark.jsa: build/jars/spark $(INSTALLED)
	$(call say,Archiving the classes of Spark)
	@$(BIN)/python -m connectors.spark.archive $<

$(BUILT): $(INSTALLED) $(SOURCES) $(FLAGS)
	$(call say,Building the extensions for $(IVM_MARCH))
	@mkdir -p build
	@flock build/.lock $(MAKE) --no-print-directory extensions
	@touch $@

ifneq ($(file < $(FLAGS)),$(CXXFLAGS))
.PHONY: $(FLAGS)
endif
$(FLAGS):
	@mkdir -p build
	@echo '$(CXXFLAGS)' > $@

extensions:
	@$(BIN)/python -W ignore .ci/build.py | $(SHOW)

# A property has fewer examples than in `make test`: what is looked for here is in nearly every one of them.
# Leaks are not looked for: the interpreter leaves much at its exit. Arrow's own allocator is none of ours, and a
# child that was forked from several threads may start some of its own.
checked: SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all
checked: RUNTIME = libasan.so
checked: TESTS = $(CHECKED)
races: SANITIZE = -fsanitize=thread
races: RUNTIME = libtsan.so
races: TESTS = $(RACES)
checked races: export CXXFLAGS = -std=c++17 -O1 -g -fno-omit-frame-pointer $(ARITHMETIC) \
	-march=$(IVM_MARCH) -UNDEBUG -D_GLIBCXX_ASSERTIONS $(SANITIZE)
checked races: export LDFLAGS = $(SANITIZE)
checked races: $(INSTALLED)
	$(call say,Building extensions with $(SANITIZE))
	@$(BIN)/python -W ignore .ci/build.py --checked build/$@ | $(SHOW)
	$(call say,Running the engine's tests on them)
	@cd build/$@ && LD_PRELOAD=$$($(CXX) -print-file-name=$(RUNTIME)) PYTHONMALLOC=malloc \
		ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 \
		TSAN_OPTIONS=halt_on_error=1:die_after_fork=0 ARROW_DEFAULT_MEMORY_POOL=system \
		$(CURDIR)/$(BIN)/python -m pytest -p no:cacheprovider --capture=sys -n 2 \
		--hypothesis-profile quick $(TESTS)

$(INSTALLED): .ci/dev.lock
	$(call say,Installing the dependencies into $(VENV))
	@test -x $(BIN)/python || for candidate in python3.11 python3.12 python3.13 python3; do \
		if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			$$candidate -m venv $(VENV) && break; \
		fi; \
	done
	@test -x $(BIN)/python || { \
		echo 'Python 3.11 or newer is needed, with venv; on Debian or Ubuntu:' >&2; \
		echo '  apt install python3 python3-venv python3-dev g++' >&2; exit 1; }
	@$(BIN)/python -m pip install --require-hashes --requirement .ci/dev.lock
	@printf '#!%s\nimport sys\n\nsys.path.insert(0, "%s")\nfrom api.cli.main import app\n\napp()\n' \
		'$(CURDIR)/$(BIN)/python' '$(CURDIR)' > $(BIN)/ivm
	@chmod +x $(BIN)/ivm
	@touch $@
