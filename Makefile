# `make demo` and `make test` set everything up by themselves; both are quick once .venv exists.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test chromium lint bench clean

demo: $(READY)
	$(BIN)/fullgraph run examples/tour.py
	@echo
	$(BIN)/fullgraph fix examples/tour.py

test: lint chromium
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
	$(BIN)/ruff check src tests bench examples
	$(BIN)/ruff format --check src tests bench examples
	$(BIN)/mypy

# The benchmarks need transformers as well, which tests and demo do not.
bench: $(READY)
	$(BIN)/pip install --quiet -e '.[bench]'
	$(BIN)/python -m bench

# torch comes first and pinned, so that nothing else decides which build is installed.
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
