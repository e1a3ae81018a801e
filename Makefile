# `make demo` and `make test` set everything up by themselves; both are quick once .venv exists.
PYTHON ?= python3
TORCH ?= 2.13.0
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo setup test chromium lint check-generated check-manual mutate bench clean

CHECKED := src tests bench examples tools

demo: $(READY)
	$(BIN)/fullgraph run examples/tour.py
	@echo
	$(BIN)/fullgraph fix examples/tour.py

setup: $(READY)

test: lint check-generated chromium
	$(BIN)/pytest

# The browser tests use the system's Chromium; without one they are skipped.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  { apt-get install --yes --quiet=2 --no-install-recommends chromium || \
	    { apt-get update --quiet=2 && \
	      apt-get install --yes --quiet=2 --no-install-recommends chromium; }; } >/dev/null 2>&1; } || \
	echo "There is no chromium here: the browser tests are skipped."

lint: $(READY)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/mypy
	$(BIN)/mypy tools bench
	$(BIN)/lint-imports --no-logo
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms \
	  $(filter-out %/config.yml, $(wildcard .github/ISSUE_TEMPLATE/*.yml))

# The committed files that a command writes.
check-generated: $(READY)
	$(BIN)/python -m tools.check_generated

# The outputs in the manual; takes a minute, because it runs the commands.
check-manual: $(READY)
	$(BIN)/python -m tools.refresh_manual --check

# How many small mistakes the tests notice; takes hours, and continues after an interruption.
mutate: $(READY)
	$(BIN)/python -m tools.mutate
	$(BIN)/python -m tools.mutate --report

# The benchmarks need transformers as well, which tests and demo do not.
bench: $(READY)
	$(BIN)/pip install --quiet -e '.[bench]'
	$(BIN)/python -m bench

# torch comes first and pinned, so that nothing else decides which build is installed.
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/pip install --quiet torch==$(TORCH)
	$(BIN)/pip install --quiet -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
