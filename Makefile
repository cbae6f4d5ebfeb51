# The one entry: users, CI and docs call only these.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.locked

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP) ## one question over a real lakehouse, end to end, and stop again
	@$(BIN)/sluice demo

serve: $(STAMP) ## the demo lakehouse with all 24 tables, served on 127.0.0.1:8080 until Ctrl-C
	@$(BIN)/sluice demo-data --all
	@exec $(BIN)/sluice serve

test: $(STAMP) ## every test, on the real Spark, PostgreSQL and Valkey
	@$(BIN)/pytest

check: $(STAMP) ## format, lint, types, import directions, doctests
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/pytest --doctest-modules -q -p no:cacheprovider api service spark_session

bench: $(STAMP) ## measure, and write numbers and pictures to bench/results/
	@$(BIN)/python -m bench

setup: $(STAMP) ## only install: .venv with the locked dependencies

$(STAMP): requirements-dev.lock pyproject.toml
	@bash .ci/prerequisites $(PYTHON)
	@$(PYTHON) -m venv .venv
	@echo "installing the locked dependencies into .venv …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock \
	  || { echo "sluice: the packages could not be installed; is the Python package registry reachable?" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

clean: ## remove .venv and all data of the demo
	@rm -rf .venv .sluice

.PHONY: help demo serve test check bench setup clean
