"""Spans as a collector receives them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
import redis
from pydantic import ValidationError
from redis.backoff import NoBackoff
from redis.retry import Retry
from structlog.testing import capture_logs

from api.bootstrap.settings import Settings
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.tracing import traced
from service.adapters.postgres.shared.connecting import BoundedConnection
from service.errors.gateway_error import CannotStart
from service.errors.query_errors import NotAdmitted, QueryTimedOut
from service.tracing import TraceContext, carried, current, is_used, request, step, together, trace_id
from tests.collector import Collector, collector, waited_for, within

SENT = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", True, "vendor=1")


@pytest.fixture
def collecting() -> Iterator[Collector]:
    with collector() as found:
        yield found


def settings(collecting: Collector, **others: Any) -> Settings:
    return Settings(traces_endpoint=collecting.url, **others)


def test_steps_are_in_one_another_and_in_the_callers_trace(collecting: Collector) -> None:
    with traced(settings(collecting)), request("GET", SENT) as outer:
        outer.name("GET /query")
        with step("inner") as inner, ThreadPoolExecutor(1) as threads:
            inner.note({"sluice.rows": 3, "sluice.tables": ["a", "b"], "left out": None})
            threads.submit(carried(lambda: step("apart").__enter__().__exit__(None, None, None))).result()
    assert {span.trace_id for span in collecting.spans} == {SENT.trace_id}
    [apart], [root] = collecting.named("apart"), collecting.named("GET /query")
    assert within(apart, collecting.spans) == ["GET /query", "inner", "apart"]
    assert root.parent_id == SENT.span_id
    [inner_one] = collecting.named("inner")
    assert inner_one.attributes == {"sluice.rows": 3, "sluice.tables": ["a", "b"]}
    [resource, *_] = collecting.resources
    assert resource["service.name"] == "sluice"
    assert {"service.version", "service.instance.id"} <= resource.keys()


def test_a_failure_is_reported_by_its_code_alone(collecting: Collector) -> None:
    with traced(settings(collecting)), pytest.raises(QueryTimedOut), request("GET", None), step("inner"):
        raise QueryTimedOut("a literal of the caller's")
    assert [span.error for span in collecting.named("inner")] == ["QUERY_TIMED_OUT"]
    assert all("literal" not in span.text for span in collecting.spans)


def test_a_query_that_has_to_wait_is_no_failure(collecting: Collector) -> None:
    with traced(settings(collecting)), pytest.raises(NotAdmitted), request("GET", None), step("inner"):
        raise NotAdmitted
    assert [span.error for span in collecting.named("inner")] == [None]


def test_what_is_over_has_its_own_times(collecting: Collector) -> None:
    with traced(settings(collecting)), request("GET", None) as outer:
        outer.past("spark.job", 5_000, 9_000, {"a": 1}).past("spark.stage", 6_000, 8_000, {})
    [job], [stage] = collecting.named("spark.job"), collecting.named("spark.stage")
    assert (job.began_ns, job.ended_ns, stage.began_ns, stage.ended_ns) == (5_000, 9_000, 6_000, 8_000)
    assert stage.parent_id == job.span_id


def test_work_for_several_is_linked_to_all_of_them_and_in_the_first_ones_trace(collecting: Collector) -> None:
    contexts: list[TraceContext | None] = [None, TraceContext("1" * 32, "2" * 16)]
    with traced(settings(collecting)):
        for _ in range(200):
            with request("POST", None) as one:
                contexts.append(one.context)
        with together("sluice.commit", contexts), step("inner"):
            pass
        with together("sluice.commit", contexts[:2]) as unsampled:
            assert not unsampled.is_recorded
    sampled = [context for context in contexts if context is not None and context.is_sampled]
    [round_] = collecting.named("sluice.commit")
    assert round_.links == tuple((context.trace_id, context.span_id) for context in sampled[:128])
    assert (round_.trace_id, round_.parent_id) == (sampled[0].trace_id, sampled[0].span_id)
    assert [span.parent_id for span in collecting.named("inner")] == [round_.span_id]


def test_a_trace_that_is_not_sampled_has_its_ids_and_no_spans(collecting: Collector) -> None:
    unsampled = TraceContext("3" * 32, "4" * 16)
    with traced(settings(collecting)), request("GET", unsampled), step("inner") as inner:
        assert (trace_id(), inner.is_recorded) == ("3" * 32, False)
    with traced(settings(collecting, traces_sample_ratio=0)):
        with request("GET", None):
            assert len(trace_id() or "") == 32
        with request("GET", SENT):
            # The caller's sampling decision counts.
            assert current().is_recorded
    assert [span.trace_id for span in collecting.spans] == [SENT.trace_id]


def test_the_collector_gets_the_headers_that_it_asks_for(collecting: Collector) -> None:
    asked = settings(collecting, traces_headers="authorization=Bearer a=b, x-tenant=7")
    with traced(asked), request("GET", None):
        pass
    [headers] = collecting.headers
    assert (headers["authorization"], headers["x-tenant"]) == ("Bearer a=b", "7")


@pytest.mark.parametrize("has_texts", [False, True])
def test_texts_go_out_only_if_the_operator_wants_them(collecting: Collector, has_texts: bool) -> None:
    with traced(settings(collecting, traces_sql=has_texts)), request("GET", None) as span:
        span.note({"db.query.text": "SELECT 'private'", "sluice.rows": 1})
    [found] = collecting.spans
    assert ("private" in found.text) is has_texts
    assert found.attributes["sluice.rows"] == 1


def test_errors_of_libraries_are_reported_without_their_words(collecting: Collector) -> None:
    client = redis.Redis(port=9, retry=Retry(NoBackoff(), 0))
    refused = pytest.raises(redis.ConnectionError)
    with traced(settings(collecting)), request("outer", None), closing(client), refused:
        client.set("private-key", "private-value")
    [found] = collecting.named("SET")
    assert (found.error, found.events) == ("", 0)
    assert "private" not in found.text
    assert "refused" not in found.text


def test_nothing_is_recorded_before_and_after(collecting: Collector) -> None:
    assert not is_used()
    with traced(Settings()):
        assert not is_used()
    with traced(settings(collecting)):
        assert is_used()
    assert not is_used()
    assert collecting.spans == []


def test_connections_are_of_their_own_class_during_a_trace_and_after(collecting: Collector) -> None:
    with traced(settings(collecting)):
        assert BoundedConnection.connect.__self__ is BoundedConnection  # type: ignore[attr-defined]
    assert BoundedConnection.connect.__self__ is BoundedConnection  # type: ignore[attr-defined]


def test_a_collector_that_is_down_is_reported_once_and_holds_nobody_up(collecting: Collector) -> None:
    collecting.answer = 400
    with capture_logs() as logs, traced(settings(collecting)):
        for _ in range(2):
            collecting.asked.clear()
            with request("GET", None):
                pass
            assert collecting.asked.wait(20)
        waited_for(lambda: len(collecting.headers) == 2)
        collecting.answer = 200
        with request("GET", None):
            pass
        waited_for(lambda: collecting.spans)
    events = [(log["event"], log["log_level"]) for log in logs]
    assert events == [("traces_not_exported", "warning"), ("traces_exported_again", "info")]


def test_a_collector_that_hangs_stops_nobody(collecting: Collector) -> None:
    collecting.pause_s = 60
    began = time.monotonic()
    asked = settings(collecting, traces_stop_timeout_s=0.3)
    with capture_logs() as logs, traced(asked), request("GET", None):
        pass
    # The SDK alone would wait for half a minute.
    assert time.monotonic() - began < 15
    assert [log["event"] for log in logs] == ["last_traces_not_exported"]


def test_more_spans_than_may_wait_take_no_more_memory(collecting: Collector) -> None:
    collecting.pause_s = 60
    with traced(settings(collecting, traces_queue_spans=512, traces_stop_timeout_s=0)):
        for _ in range(5_000):
            with request("GET", None):
                pass
        collecting.released.set()
    assert len(collecting.spans) <= 2 * 512


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("traces_endpoint", "otel:4318", "it is not an http:// or https:// address"),
        ("traces_endpoint", "http://me:hunter2@otel:4318", "traces_headers"),
        ("traces_headers", "hunter2", "name=value"),
        ("traces_headers", "a=hunter2\r\nx-more: 1", "name=value"),
        ("traces_headers", "a=hunter2,,b=1", "name=value"),
    ],
)
def test_settings_that_do_not_fit_are_refused_without_a_secret(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({name: value})
    monkeypatch.setenv(f"SLUICE_{name.upper()}", value)
    with pytest.raises(CannotStart, match=words) as refused:
        load_settings()
    assert "hunter2" not in refused.value.detail
