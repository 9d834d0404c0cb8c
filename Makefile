# What a developer needs: `make help`. Each target fills .venv itself; a second run
# finds it ready. Needs Python 3.11 or newer, a C compiler and make.

PYTHON ?= python3
VENV ?= .venv
# Test processes at a time; 0 runs the tests in one process.
WORKERS ?= 2
# Tests that the debug build runs: all that reach kernels. Files, screens, pages and
# packages are left out; what kernels do there they do in the other tests too.
DEBUG_TESTS ?= tests $(patsubst %,--ignore=tests/%,cli datasets docs export packaging)
PYTEST_ARGS ?=
# Old packages beside new ones warn; what they are asked for must hold all the same. Left
# out are tests of words that newer packages say (scikit-learn on weights of zero and many
# classes), of their order in a schema (msgspec), of warnings as such, and of sparse
# dictionaries, which older SciPy makes look like frames.
IGNORE_AGE := $(patsubst %,-W ignore::%Warning,Deprecation PendingDeprecation Future) \
	-k 'not (check_estimator_sparse or another_warning_stays or weights_of_zero_only or \
	published_schema or odd_data_is_learned)'
# What `make changelog` does: `--draft` shows the next release, `--yes` writes it.
CHANGELOG_ARGS ?= --draft
# The sanitizers see what kernels read and write. Their runtime must be loaded before
# Python; every heap block is malloc's, so that its ends are watched. Leaks are not looked
# for: Python itself keeps much until it ends. A kernel that asks for more than there is
# must get MemoryError, as without them. Reports go to files, since a test may swallow what
# a child prints; a report fails the target whatever the tests say.
SANITIZE_REPORTS := $(abspath build/sanitize-reports)
SANITIZE := -Csetup-args=-Db_sanitize=address,undefined -Csetup-args=-Db_lundef=false \
	-Csetup-args=-Dc_args=-fsanitize=float-cast-overflow -Csetup-args=-Dbuildtype=debugoptimized
SANITIZE_ENV = PYTHONMALLOC=malloc ASKLESS_SANITIZED=1 \
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=$(SANITIZE_REPORTS)/address \
	UBSAN_OPTIONS=print_stacktrace=1:log_path=$(SANITIZE_REPORTS)/undefined
# Tests that the sanitized build runs: all, and the examples of docstrings, but those that
# look at files of the project, and those that start a browser, which would be watched as
# well. `SANITIZE_TESTS=tests/solve` goes on with a part.
SANITIZE_TESTS ?= tests src/askless $(patsubst %,--ignore=tests/%,docs packaging \
	export/test_page.py serve/test_browser.py serve/test_studio_page.py)
# How long the campaign tries, on every core.
HOURS ?= 1
# Empty to leave the page of the documentation as it is.
CAMPAIGN_PAGE ?= --page

BIN := $(abspath $(VENV))/bin
BUILD := $(abspath build/$(notdir $(VENV:.%=%)))
MESON_ARGS ?=
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check
# The build remembers these paths, so that importing Askless can compile again from any
# shell, whether or not the environment is active in it.
export PATH := $(BIN):$(PATH)
export CYTHON := $(BIN)/cython
export NINJA := $(BIN)/ninja

RECIPES := pyproject.toml meson.build meson.options \
	src/askless/meson.build $(shell find src/askless/_core -name meson.build)
# The editable package compiles what changed when it is imported, in silence. The
# targets do that first, so that errors show and parallel tests find nothing to do.
COMPILE := $(BIN)/ninja -C $(BUILD) --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench bench-quick bench-torch docs campaign debug-test \
	sanitize-test minimal-test coverage coverage-core sizes changelog sdist wheel dist-test serial-test \
	axe fuzz-api venv build clean

help:  ## Show this help
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | \
		while IFS="$$(printf '\t')" read -r name text; do \
			printf '  make %-13s %s\n' "$$name" "$$text"; done

demo: build  ## A tour: solve, learn, draw
	@$(BIN)/askless demo

test: build $(VENV)/.stamp-test  ## Run the tests and the examples of the docs
	$(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_ARGS)

check: $(patsubst %,$(VENV)/.stamp-%,package test check)  ## Lint, types, spelling, change note
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/cython-lint src/askless/_core
	$(BIN)/codespell
	$(BIN)/python .ci/fragments.py

format: $(VENV)/.stamp-check  ## Put the code into its format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: build $(VENV)/.stamp-bench  ## Run the benchmarks; BENCH_ARGS="grow forest" runs some
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

bench-quick: build $(VENV)/.stamp-bench  ## Run the benchmarks on smaller data
	$(BIN)/python benchmarks/run.py --quick $(BENCH_ARGS)

bench-torch:  ## Make .venv-torch, in which networks are trained to buy beside ours
	@test -d .venv-torch || $(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install -qq --disable-pip-version-check torch==2.13.0 numpy

docs: build $(VENV)/.stamp-docs  ## Build the documentation in docs/_build
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build
	@echo "See docs/_build/index.html"

campaign: build $(VENV)/.stamp-test $(VENV)/.stamp-campaign  ## Try to break the promises: HOURS=1, or SECONDS=300
	$(BIN)/python -m campaign.run $(CAMPAIGN_PAGE) $(if $(SECONDS),--seconds $(SECONDS),--hours $(HOURS)) $(CAMPAIGN_ARGS)

axe: build/npm/node_modules/axe-core  ## Fetch what looks for barriers in pages (needs npm)

build/npm/node_modules/axe-core:
	@mkdir -p build/npm
	npm install --silent --no-audit --no-fund --prefix build/npm axe-core

fuzz-api: build $(VENV)/.stamp-test  ## Send the service anything: SECONDS=60
	@test -d .venv-fuzz || $(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip install -qq --disable-pip-version-check schemathesis
	$(BIN)/python .ci/fuzz_api.py .venv-fuzz/bin/schemathesis --seconds $(or $(SECONDS),60)

debug-test:  ## Run all tests of kernels with bounds and divisions checked
	@$(MAKE) --no-print-directory test VENV=.venv-debug \
		MESON_ARGS="-Csetup-args=-Ddebug_checks=true -Csetup-args=-Dbuildtype=debugoptimized" \
		PYTEST_ARGS="$(DEBUG_TESTS) $(PYTEST_ARGS)"

sanitize-test:  ## Run the tests with kernels watched by the address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory build .venv-sanitize/.stamp-test VENV=.venv-sanitize \
		MESON_ARGS="$(SANITIZE)"
	@rm -rf $(SANITIZE_REPORTS) && mkdir -p $(SANITIZE_REPORTS)
	@$(SANITIZE_ENV) .venv-sanitize/bin/python -m pytest -n $(WORKERS) -p no:cacheprovider \
		$(SANITIZE_TESTS) $(PYTEST_ARGS); status=$$?; \
		cat $(SANITIZE_REPORTS)/* 2>/dev/null; \
		echo "$$(ls $(SANITIZE_REPORTS) | wc -l) processes with a report of a sanitizer"; \
		[ -z "$$(ls $(SANITIZE_REPORTS))" ] && exit $$status || exit 1

minimal-test:  ## Run the tests with the oldest packages that pyproject.toml allows
	@mkdir -p build
	@$(PYTHON) .ci/requires.py --lowest build package test > build/lowest.txt
	@PIP_CONSTRAINT=$(abspath build/lowest.txt) \
		$(MAKE) --no-print-directory test VENV=.venv-minimal \
		PYTEST_ARGS="$(IGNORE_AGE) $(PYTEST_ARGS)"

coverage-core:  ## Say which lines of the kernels the tests of kernels do not run
	@$(MAKE) --no-print-directory build $(patsubst %,.venv-coverage/.stamp-%,test coverage) \
		VENV=.venv-coverage \
		MESON_ARGS="-Csetup-args=-Dcoverage=true -Csetup-args=-Dbuildtype=debugoptimized"
	.venv-coverage/bin/python .ci/coverage_core.py build/venv-coverage tests/core $(PYTEST_ARGS)

coverage: build $(VENV)/.stamp-test $(VENV)/.stamp-coverage  ## Say which lines of Python no test runs
	$(BIN)/python -m pytest -n $(WORKERS) --cov=askless --cov-branch \
		--cov-report=term-missing:skip-covered --cov-report=html:build/coverage $(PYTEST_ARGS)

sizes:  ## Count lines, files and arguments; name what is long or said twice
	@$(PYTHON) .ci/sizes.py

changelog: $(VENV)/.stamp-changelog  ## Show what the next release brings
	@$(BIN)/towncrier build $(CHANGELOG_ARGS) \
		--version "$$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)"

sdist: $(VENV)/.stamp-build $(VENV)/.stamp-dist  ## Pack the sources of the last commit into dist
	$(BIN)/python -m build --sdist --no-isolation --outdir dist

wheel: $(VENV)/.stamp-build $(VENV)/.stamp-dist  ## Pack the sources, and build a wheel from them
	$(BIN)/python -m build --no-isolation --outdir dist

dist-test: $(VENV)/.stamp-build $(VENV)/.stamp-dist  ## Build what is published, look into it and use it
	$(BIN)/python .ci/dist_test.py

serial-test: $(VENV)/.stamp-build $(VENV)/.stamp-dist  ## The same, built without OpenMP
	$(BIN)/python .ci/dist_test.py --serial

build: $(BUILD)/.stamp-editable  ## Compile what changed
	@$(COMPILE)

venv: $(patsubst %,$(VENV)/.stamp-%,build package plot parquet test check bench docs coverage dist changelog)  ## Fill the environment with everything but Askless

clean:  ## Remove every environment, build and cache
	rm -rf .venv .venv-debug .venv-sanitize .venv-minimal .venv-coverage .venv-fuzz build dist docs/_build docs/generated docs/auto_examples
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples docs -name __pycache__ -prune \
		-exec rm -rf {} + 2>/dev/null || true

$(VENV)/.stamp-venv:
	@echo "Making $(VENV)"
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Askless needs Python 3.11 or newer. Got %d.%d. Try: make PYTHON=python3.11" % sys.version_info[:2])'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) --upgrade pip
	@touch $@

# One stamp for each list of requirements in pyproject.toml.
$(VENV)/.stamp-%: $(VENV)/.stamp-venv pyproject.toml
	@echo "Installing what '$*' needs"
	@$(BIN)/python .ci/requires.py $* > $@.txt
	@$(PIP_INSTALL) -r $@.txt
	@touch $@

# Where there is no package for this Python, the campaign goes on without.
$(VENV)/.stamp-campaign: $(VENV)/.stamp-venv pyproject.toml
	@echo "Installing what 'campaign' needs"
	@$(BIN)/python .ci/requires.py campaign > $@.txt
	@$(PIP_INSTALL) -r $@.txt || echo "There is none for this Python: damage is made at random."
	@touch $@

# In the folder of the build, so that whoever removes that folder gets it again.
$(BUILD)/.stamp-editable: $(VENV)/.stamp-build $(VENV)/.stamp-package $(RECIPES)
	@echo "Building Askless"
	@$(PIP_INSTALL) --no-build-isolation --no-deps -Cbuild-dir=$(BUILD) -Csetup-args=-Dstrip=false $(MESON_ARGS) -e .
	@touch $@
