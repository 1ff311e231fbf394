# The two commands of the README are `make ask` and `make test`; both make the environment when it is missing.
PYTHON ?= python3
BIN := .venv/bin
Q ?= which papers study MoE routing?
LIBRARY ?= .citewise

.PHONY: ask test check format lint types bench calibrate suite lock clean

ask: $(LIBRARY)/papers.sqlite  ## answer Q from the seeds
	@$(BIN)/citewise ask --library $(LIBRARY) "$(Q)"

test: .venv/dev  ## the tests
	$(BIN)/python -m pytest

check: .venv/dev format lint types test  ## everything that a change must pass

$(LIBRARY)/papers.sqlite: .venv/ready
	@$(BIN)/citewise ingest seeds --library $(LIBRARY)

.venv/ready: requirements.lock pyproject.toml
	@echo "Setting up .venv from requirements.lock (once; a minute or two, about 1 GB)"
	@$(PYTHON) -c 'import sys; sys.exit("citewise needs Python 3.11 or newer: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --progress-bar off -q -r requirements.lock
	@$(BIN)/python -m pip install -q --no-deps -e .
	@touch $@

.venv/dev: .venv/ready requirements-dev.lock
	@$(BIN)/python -m pip install --progress-bar off -q -r requirements-dev.lock
	@touch $@

format: .venv/dev
	$(BIN)/ruff format --check .

lint: .venv/dev
	$(BIN)/ruff check .

types: .venv/dev
	$(BIN)/mypy

lock:  ## resolve the locks again (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header pyproject.toml -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header requirements-dev.in -o requirements-dev.lock

clean:
	rm -rf .venv .citewise
