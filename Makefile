# The tasks of this project. `make` lists the targets.
# You need Python >= 3.11 with pip, GCC 12 or Clang 16, and make. Everything else is installed into .venv.

PYTHON ?= python3
BIN := .venv/bin
BENCH := benchmarks/.venv
DESLIB := benchmarks/.venv-deslib
ENGINE := $(shell find engine -name '*.cpp' -o -name '*.h')
CPP_SOURCES := $(ENGINE) $(shell find tests/engine benchmarks -name '*.cpp' -o -name '*.h')
PY_SOURCES := src tests examples benchmarks docs .ci

# cmake looks for ninja in PATH.
WORKFLOW := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cmake --workflow --preset

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test members fuzz soak lint format bench sanitize docs clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/committee  ## Fit the automatic committee to a bundled table, score it on held-out rows, save it (a minute)
	$(BIN)/committee demo --out build/demo.committee

test: .venv/committee  ## Run the engine's tests (ctest), then the package's tests and doctests (pytest)
	$(WORKFLOW) release
	$(BIN)/pytest -n auto

members: $(BENCH)/committee  ## Test boosters of LightGBM, XGBoost and CatBoost as members, in the benchmarks' environment
	$(BENCH)/bin/python -m pytest tests/saving/test_foreign_boosters.py tests/assembling/test_committee_members.py \
		tests/automatic/test_libraries.py

fuzz: .venv/committee  ## Open 2,000 damaged and hostile files: none may crash, hang, or give a model with wrong predictions
	$(BIN)/python tests/support/hostile_files.py --files 2000

soak: .venv/committee  ## Kill a study 20 times at random moments: finished cells must be kept and must not run again
	PYTHONPATH=tests/support $(BIN)/python tests/evaluating/study/test_killed_studies.py --kills 200

lint: .venv/committee  ## Check style, types, formatting, imports, words and workflows; changes nothing
	$(BIN)/ruff check $(PY_SOURCES)
	$(BIN)/ruff format --check $(PY_SOURCES)
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CPP_SOURCES)
	$(BIN)/lint-imports --no-logo
	$(BIN)/python .ci/plain_english.py
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

format: .venv/committee  ## Rewrite the sources as lint wants them
	$(BIN)/ruff check --fix $(PY_SOURCES)
	$(BIN)/ruff format $(PY_SOURCES)
	$(BIN)/clang-format -i $(CPP_SOURCES)

sanitize: .venv/tools  ## Run the engine's tests under the address, undefined-behaviour and thread sanitizers
	$(WORKFLOW) asan
	$(WORKFLOW) tsan

bench: $(BENCH)/committee $(DESLIB)/deslib  ## Measure against other libraries in a separate environment; writes docs/benchmarks.md
	$(BENCH)/bin/python benchmarks/forest.py
	$(BENCH)/bin/python benchmarks/growth.py
	$(BENCH)/bin/python benchmarks/boosting.py
	$(BENCH)/bin/python benchmarks/sampling.py
	$(BENCH)/bin/python benchmarks/running.py
	$(BENCH)/bin/python benchmarks/c45_weka.py
	$(BENCH)/bin/python benchmarks/logitboost_weka.py
	$(BENCH)/bin/python benchmarks/saving.py
	$(BENCH)/bin/python benchmarks/explaining.py
	$(BENCH)/bin/python benchmarks/combining.py
	$(BENCH)/bin/python benchmarks/report.py

docs: .venv/docs  ## Build the pages, the reference and the examples into build/site; a warning is an error
	rm -rf docs/generated docs/gallery
	$(BIN)/sphinx-build --quiet --fail-on-warning docs build/site

clean:  ## Remove everything that the other targets made, including the virtual environments
	rm -rf build dist .venv $(BENCH) $(DESLIB) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# Stamps of the installations. Python sources are used in place (an editable install). When the engine or the build
# changes, the changed parts of the extension are built again.

.venv/tools:
	$(PYTHON) -m venv --without-pip .venv
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --upgrade pip scikit-build-core nanobind cmake ninja
	touch $@

.venv/committee: .venv/tools pyproject.toml CMakeLists.txt $(ENGINE)
	@echo "Building the extension and installing committee into .venv (a minute the first time)"
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[test,lint]'
	touch $@

.venv/docs: .venv/committee
	$(BIN)/pip install --quiet --group docs
	touch $@

$(BENCH)/committee: benchmarks/requirements.txt pyproject.toml CMakeLists.txt $(ENGINE)
	$(PYTHON) -m venv --without-pip $(BENCH)
	$(PYTHON) -m pip --python $(BENCH)/bin/python install --quiet --upgrade pip scikit-build-core nanobind cmake ninja
	$(BENCH)/bin/pip install --quiet --requirement benchmarks/requirements.txt
	$(BENCH)/bin/pip install --quiet --no-build-isolation --config-settings=build-dir=build/bench --editable .
	touch $@

# DESlib breaks with newer versions of scikit-learn.
$(DESLIB)/deslib:
	$(PYTHON) -m venv --without-pip $(DESLIB)
	$(PYTHON) -m pip --python $(DESLIB)/bin/python install --quiet 'deslib==0.3.7' 'scikit-learn<1.6'
	touch $@
