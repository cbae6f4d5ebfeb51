"""One trace from the request to PostgreSQL, the filter cache, Spark and the commit."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from pyiceberg.table import Table

from service.tracing import TraceContext
from tests.collector import Collector, Received, collector, within
from tests.integration.asking import JsonObject, explain, post
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import make_star
from tests.integration.log_tables import LOG_SCHEMA, VERSION_2
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

PRIVATE = "4711.25"
STAR = f"""
SELECT month, count(*) AS sales, sum(amount) AS amount
FROM sales JOIN calendar ON sales.day_key = calendar.day_key
WHERE month = :month AND amount <> {PRIVATE} GROUP BY month
"""
TABLES = {"lake.shop.sales", "lake.shop.calendar"}
BODY = {"parameters": {"month": 2}, "dynamicFiltering": {"minTableBytes": 0}}
RUN = ["POST /query", "sluice.query", "sluice.query.run", "sluice.engine.run"]
FILTER = ["POST /query", "sluice.query", "sluice.query.prune", "sluice.query.filters", "sluice.filter"]
POSTGRES, REDIS = "opentelemetry.instrumentation.psycopg", "opentelemetry.instrumentation.redis"


@dataclass(frozen=True, slots=True)
class Traced:
    """A gateway, and the collector that receives its traces."""

    gateway: RunningGateway
    collector: Collector

    @property
    def client(self) -> httpx.Client:
        return self.gateway.client

    def of(self, context: TraceContext) -> list[Received]:
        """Returns the spans of a trace that have arrived."""
        return [span for span in self.collector.spans if span.trace_id == context.trace_id]

    def names(self, context: TraceContext) -> set[str]:
        return {received.name for received in self.of(context)}

    def path(self, span: Received) -> list[str]:
        return within(span, self.of(TraceContext(span.trace_id, span.span_id)))


@pytest.fixture(scope="module")
def traced() -> Iterator[Traced]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="sluice-traces-"))
    with collector() as found:
        settings = {
            "SLUICE_SPARK_MASTER": "local[2]",
            "SLUICE_SPARK_DRIVER_MEMORY": "1g",
            "SLUICE_DEFAULT_SCHEMA": "shop",
            # With local relations, there would be no scan to observe.
            "SLUICE_LOCAL_RELATION_MAX_ROWS": "0",
            "SLUICE_INGEST_COMMIT_INTERVAL_MS": "1000",
            "SLUICE_TRACES_ENDPOINT": found.url,
        }
        gateway = RunningGateway.start(folder / "traced", settings)
        try:
            with closing(embedded_catalog(gateway.data_dir)) as lake:
                make_star(lake)
            yield Traced(gateway, found)
        finally:
            gateway.stop()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def table(traced: Traced) -> Iterator[Table]:
    """A new, empty table for one test."""
    with closing(embedded_catalog(traced.gateway.data_dir)) as lake:
        lake.create_namespace_if_not_exists("logs")
        name = f"logs.t_{secrets.token_hex(8)}"
        yield lake.create_table(name, LOG_SCHEMA, properties=VERSION_2)
        lake.drop_table(name)


def new_context() -> TraceContext:
    return TraceContext(secrets.token_hex(16), secrets.token_hex(8), is_sampled=True)


def sent(context: TraceContext) -> dict[str, str]:
    return {"traceparent": context.traceparent}


def ask_star(traced: Traced, context: TraceContext) -> JsonObject:
    body = {"sql": STAR, "waitTimeout": "50s"} | BODY
    response = traced.client.post("/query", json=body, headers=sent(context))
    assert response.status_code == 200, response.text
    answer: JsonObject = response.json()
    return answer


def test_a_query_is_one_trace_down_to_stages_cache_and_store(traced: Traced) -> None:
    context = new_context()
    answer = ask_star(traced, context)
    assert answer["result"]["rows"][0][0] == 2
    expected = {
        "POST /query",
        "sluice.query",
        "spark.stage",
        "sluice.records.write",
        "sluice.filter",
        "sluice.query.store",
    }
    until(lambda: expected <= traced.names(context))
    spans = traced.of(context)

    [root] = [span for span in spans if span.name == "POST /query"]
    assert root.parent_id == context.span_id
    assert root.attributes["sluice.query_id"] == answer["queryId"]
    assert {span.parent_id for span in spans} <= {context.span_id, *(span.span_id for span in spans)}

    [query] = [span for span in spans if span.name == "sluice.query"]
    assert set(query.attributes["sluice.tables"]) == TABLES
    assert query.attributes["sluice.filters.applied"] == 1
    steps = {span.name for span in spans if span.parent_id == query.span_id}
    assert steps == {
        f"sluice.query.{step_name}" for step_name in ("queue", "validate", "prune", "run", "store")
    }

    stages = [span for span in spans if span.name == "spark.stage" and traced.path(span)[:4] == RUN]
    assert stages
    assert {tuple(traced.path(stage)) for stage in stages} == {(*RUN, "spark.job", "spark.stage")}
    assert all(stage.attributes["spark.tasks"] >= 1 for stage in stages)

    commands = [span for span in spans if span.scope == REDIS]
    # One command asks whether the process's own cache is still valid, before anything is collected.
    assert {tuple(traced.path(command)[:4]) for command in commands} == {tuple(FILTER[:4])}
    assert tuple(FILTER) in {tuple(traced.path(command)[:5]) for command in commands}
    assert [*FILTER, "sluice.filter.collect"] in [traced.path(span) for span in spans]

    [written] = [span for span in spans if span.name == "sluice.records.write"]
    assert (written.parent_id, written.links) == (root.span_id, ((context.trace_id, root.span_id),))
    statements = [span for span in spans if span.scope == POSTGRES]
    assert "INSERT" in {statement.name for statement in statements if statement.parent_id == written.span_id}


def test_no_span_has_a_text_or_a_value(traced: Traced) -> None:
    context = new_context()
    ask_star(traced, context)
    until(lambda: {"sluice.records.write", "POST /query"} <= traced.names(context))
    whole = "".join(received.text for received in traced.of(context))
    assert PRIVATE not in whole
    assert "SELECT month" not in whole
    assert "INSERT INTO" not in whole
    assert {"db.statement", "db.query.text"} & {
        key for received in traced.of(context) for key in received.attributes
    } == set()


def test_lines_problems_and_explanations_have_the_trace(traced: Traced) -> None:
    context = new_context()
    query_id = ask_star(traced, context)["queryId"]
    assert explain(traced.client, query_id)["traceId"] == context.trace_id
    lines = [line for line in traced.gateway.log_lines() if line.get("query_id") == query_id]
    of_trace = {line["event"] for line in lines if line.get("trace_id") == context.trace_id}
    assert {"query_ended", "request_ended"} <= of_trace
    [request] = [
        line
        for line in lines
        if line.get("trace_id") == context.trace_id and line["event"] == "request_ended"
    ]
    assert set(request["tables"]) == TABLES
    assert min(request["bytes_in"], request["bytes_out"]) > 0

    failed = post(traced.client, "SELECT nothing_there FROM sales")
    assert failed.status_code >= 400
    trace_id = failed.json()["traceId"]
    until(lambda: traced.collector.named("sluice.query", trace_id))
    [query] = traced.collector.named("sluice.query", trace_id)
    assert query.error == failed.json()["code"]
    assert query.events == 0


def test_a_round_is_linked_to_each_ingest_that_it_commits(traced: Traced, table: Table) -> None:
    contexts = [new_context() for _ in range(3)]
    name = ".".join(("lake", *table.name()))
    answers = []
    for number, context in enumerate(contexts):
        body = {"table": name, "records": [{"id": number}], "wait": "ACCEPTED"}
        response = traced.client.post("/ingest", json=body, headers=sent(context))
        assert response.status_code in (200, 202), response.text
        answers.append(response.json())
    waited = new_context()
    last = traced.client.post("/ingest", json={"table": name, "records": [{"id": 9}]}, headers=sent(waited))
    assert last.json()["state"] == "COMMITTED", last.text
    until(lambda: "sluice.ingest.await_commit" in traced.names(waited))
    contexts.append(waited)

    def ingests() -> dict[str, tuple[str, str]]:
        found = [
            received
            for context in contexts
            for received in traced.of(context)
            if received.name == "sluice.ingest"
        ]
        return {received.span_id: (received.trace_id, received.span_id) for received in found}

    def linked() -> set[tuple[str, str]]:
        rounds = traced.collector.named("sluice.commit")
        return {link for round_ in rounds for link in round_.links}

    until(lambda: len(ingests()) == len(contexts) and set(ingests().values()) <= linked())
    assert {ingest[0] for ingest in ingests().values()} == {context.trace_id for context in contexts}
    rounds = [
        received
        for received in traced.collector.named("sluice.commit")
        if set(received.links) & set(ingests().values())
    ]
    for round_ in rounds:
        # The round is in the trace of the first ingest that it commits.
        assert (round_.trace_id, round_.parent_id) == round_.links[0]
        assert round_.attributes["sluice.table"] == name
        assert round_.attributes["sluice.snapshot_id"]
        inner = [one for one in traced.collector.spans if one.parent_id == round_.span_id]
        assert {one.scope for one in inner} == {POSTGRES}
    steps = {"sluice.ingest.match", "sluice.ingest.write", "sluice.ingest.accept", "sluice.ingest"}
    assert all(steps <= traced.names(context) for context in contexts)
    [accepting] = [received for received in traced.of(waited) if received.name == "sluice.ingest.accept"]
    below = [received for received in traced.of(waited) if received.parent_id == accepting.span_id]
    assert {received.scope for received in below} == {POSTGRES}


def test_work_that_nobody_asked_for_is_no_trace(traced: Traced) -> None:
    ask_star(traced, new_context())
    roots = [span for span in traced.collector.spans if not span.parent_id]
    assert {root.scope for root in roots} <= {"sluice"}
    assert all(" /" in root.name for root in roots)
    assert not {root.attributes.get("http.route") for root in roots} & {"/readyz", "/healthz", "/metrics"}


def test_while_the_collector_is_down_queries_go_on_and_their_spans_wait(traced: Traced) -> None:
    traced.collector.answer = 503
    context = new_context()
    try:
        asked = len(traced.collector.headers)
        assert ask_star(traced, context)["status"]["state"] == "SUCCEEDED"
        until(lambda: len(traced.collector.headers) > asked)
    finally:
        traced.collector.answer = 200
    until(lambda: {"POST /query", "sluice.engine.run"} <= traced.names(context))
