# make demo   try it          make test   the checks          make help   the rest
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help install demo test test-first test-slow lint docs bench clean system

help:
	@echo "make install   a virtual environment in .venv with every extra"
	@echo "make demo      a simulated study from answers to a report"
	@echo "make test      style, types, architecture, tests and doctests, in four minutes"
	@echo "make test-slow the rest: long simulations, whole collections, the pages' examples"
	@echo "make lint      style, types and architecture alone"
	@echo "make docs      the documentation site, in site/"
	@echo "make bench     the benchmarks, ours beside the rivals"
	@echo "make clean     remove what the others made"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("trilens needs Python 3.11 or newer") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)

# one stamp per set of extras: pip runs again only when the requirements change
$(VENV)/installed-%: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	touch $@

install: $(VENV)/installed-all

demo: install
	$(BIN)/trilens demo

# Chromium opens the report and the survey in the tests, PostgreSQL keeps the survey's answers;
# installed where the system lets us
system:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
		&& { command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || { \
		if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
			apt-get update -qq && apt-get install -y -qq chromium chromium-driver postgresql >/dev/null; \
		else echo "chromium, chromedriver or postgresql is missing: the tests need them"; fi; }

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# what Python compiles is kept for the next process, whatever the environment says
test test-first test-slow: export PYTHONDONTWRITEBYTECODE =

# one process compiles tests and loops for the others, while another checks style and types
test: system $(VENV)/installed-test
	$(MAKE) --no-print-directory -j 2 -O lint test-first
	$(BIN)/pytest -n 3 --dist loadscope --no-loadscope-reorder -m 'not slow and not first'

test-first: $(VENV)/installed-test
	$(BIN)/pytest -m first

test-slow: system $(VENV)/installed-test
	$(BIN)/pytest -n 3 --dist loadscope --no-loadscope-reorder -m slow

docs: $(VENV)/installed-docs
	$(BIN)/python docs/fromcode.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs site
	rm -rf docs/plots docs/sg_execution_times.rst jupyter_execute

bench: $(VENV)/installed-bench
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) site docs/plots docs/sg_execution_times.rst jupyter_execute demo build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
