# The commands of partwise. Each installs what it needs into $(VENV) first; Python 3.11 or newer,
# pip and make are all that a fresh machine has to have.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.PHONY: help chat test check bench lock docs docs-picture clean

VENV ?= .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.partwise
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq --no-input
ARGS ?=

# Everything an install says goes to stderr, and it never reads stdin: both belong to the command.
define install
@echo "partwise: installing $(1) into $(VENV) ..." >&2
@$(PIP) install $(2) </dev/null >&2 || { \
	echo "partwise: could not install $(1); see the message of pip above." >&2; exit 1; }
@touch $@
endef

help: ## list the commands
	@echo "usage: make COMMAND [ARGS='...']"
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
		|| sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1  \2/p' $(MAKEFILE_LIST)

chat: $(STAMPS)/chat ## chat in the terminal; ARGS='--plain --no-history' for pipes, ARGS=--help for the rest
	@exec $(BIN)/partwise chat $(ARGS)

test: $(STAMPS)/test $(STAMPS)/test-node ## run the tests; ARGS are given to pytest
	@exec $(BIN)/python -m pytest $(ARGS)

check: $(STAMPS)/dev ## lint, format check, both type checkers, import contracts
	@failed=''; run() { echo "$$*" >&2; "$(BIN)/$$@" || failed="$$failed $$1"; }; \
	run ruff check . ; \
	run ruff format --check . ; \
	run basedpyright ; \
	run mypy ; \
	run lint-imports --no-logo --no-cache ; \
	if [ -n "$$failed" ]; then echo "partwise: not clean:$$failed" >&2; exit 1; fi

bench: $(STAMPS)/bench $(STAMPS)/bench-node ## measure partwise beside its peers and against its budgets; ARGS='--only fanout'
	@exec $(BIN)/python -m bench $(ARGS)

docs: $(STAMPS)/docs ## build the pages of docs/ into site/
	@exec $(BIN)/mkdocs build --strict --quiet

docs-picture: $(STAMPS)/chat ## draw the picture of the terminal chat for the README
	@exec $(BIN)/python scripts/picture.py $(ARGS)

lock: $(STAMPS)/venv ## resolve uv.lock anew
	@$(PIP) install uv </dev/null >&2
	@exec $(BIN)/uv lock

clean: ## remove the virtual environment and caches
	@rm -rf $(VENV) site .pytest_cache .ruff_cache .mypy_cache .hypothesis .benchmarks .import_linter_cache

$(STAMPS)/venv:
	@python=''; for name in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
		if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python="$$name"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "partwise: Python 3.11 or newer is needed, but $$(python3 --version 2>&1 || echo 'no python3') was found;" >&2; \
		echo "partwise: install one and name it: make PYTHON=/path/to/python ..." >&2; exit 1; \
	fi; \
	echo "partwise: making the virtual environment $(VENV) with $$("$$python" --version) ..." >&2; \
	"$$python" -m venv $(VENV) </dev/null >&2 || { \
		echo "partwise: 'python -m venv' failed; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PIP) install --upgrade 'pip>=25.1' </dev/null >&2 || { \
		echo "partwise: could not bring pip to 25.1 or newer inside $(VENV)." >&2; exit 1; }
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/chat: pyproject.toml | $(STAMPS)/venv
	$(call install,partwise with its extras,--editable '.[all]')

$(STAMPS)/test: pyproject.toml | $(STAMPS)/chat
	$(call install,what the tests need,--editable '.[all]' --group test)

$(STAMPS)/bench: pyproject.toml | $(STAMPS)/test
	$(call install,the peers of the bench,--editable '.[all]' --group bench)

# Without npm, or without its registry, the peers on node are left out; the bench says so.
$(STAMPS)/bench-node: bench/package-lock.json | $(STAMPS)/venv
	@if command -v npm >/dev/null; then \
		echo "partwise: installing the peers on node into bench/node_modules ..." >&2; \
		npm ci --prefix bench --no-audit --no-fund --loglevel=error </dev/null >&2 && touch $@ || \
			echo "partwise: npm failed; the peers on node are left out." >&2; \
	fi

# Without npm, or without its registry, the tests that need it are skipped; in CI that is a failure.
$(STAMPS)/test-node: tests/node/package-lock.json | $(STAMPS)/venv
	@if command -v npm >/dev/null; then \
		echo "partwise: installing the npm packages of the tests into tests/node/node_modules ..." >&2; \
		npm ci --prefix tests/node --no-audit --no-fund --loglevel=error </dev/null >&2 && touch $@ || \
			echo "partwise: npm failed; the tests that need its packages are skipped." >&2; \
	fi

$(STAMPS)/dev: pyproject.toml | $(STAMPS)/test
	$(call install,what the checks need,--editable '.[all]' --group dev)

$(STAMPS)/docs: pyproject.toml | $(STAMPS)/chat
	$(call install,what the docs need,--editable '.[all]' --group docs)
