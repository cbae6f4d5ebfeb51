"""Tracing without a tracer that records the steps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from service.tracing import (
    NOTHING,
    TraceContext,
    carried,
    current,
    request,
    step,
    together,
    trace_id,
)

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SENT = TraceContext(TRACE, SPAN, is_sampled=True)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f"00-{TRACE}-{SPAN}-01", SENT),
        (f" 00-{TRACE}-{SPAN}-01 ", SENT),
        (f"00-{TRACE}-{SPAN}-00", TraceContext(TRACE, SPAN)),
        (f"00-{TRACE}-{SPAN}-03", SENT),
        (f"01-{TRACE}-{SPAN}-01-what-comes-later", SENT),
        (f"00-{TRACE}-{SPAN}-01-more", None),
        (f"ff-{TRACE}-{SPAN}-01", None),
        (f"00-{TRACE.upper()}-{SPAN}-01", None),
        (f"00-{'0' * 32}-{SPAN}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"00-{TRACE}-{SPAN}-1", None),
        (f"00-{TRACE}-{SPAN}", None),
        ("", None),
        (None, None),
    ],
)
def test_a_header_is_read_as_w3c_has_it(header: str | None, expected: TraceContext | None) -> None:
    assert TraceContext.of(header) == expected


def test_a_context_comes_back_from_its_header() -> None:
    for context in (SENT, TraceContext(TRACE, SPAN)):
        assert TraceContext.of(context.traceparent) == context


def test_without_a_tracer_and_a_header_nothing_is_known_and_nothing_made() -> None:
    with request("GET", None) as outer, step("inner") as inner:
        assert outer is inner is current() is NOTHING
        assert not inner.is_recorded
        assert trace_id() is None
    assert together("round", [SENT]) is NOTHING


def test_without_a_tracer_the_callers_ids_are_known_as_long_as_the_request() -> None:
    with request("GET", SENT):
        with step("inner") as inner:
            inner.note({"a": 1})
            inner.fail("CODE")
            assert (trace_id(), inner.context) == (TRACE, SENT)
        assert trace_id() == TRACE
        with request("GET", TraceContext("1" * 32, SPAN)):
            assert trace_id() == "1" * 32
        assert trace_id() == TRACE
    assert trace_id() is None


def test_an_error_leaves_the_step_as_an_end_does() -> None:
    with pytest.raises(ValueError, match="x"), request("GET", SENT):
        raise ValueError("x")
    assert trace_id() is None


def test_a_function_is_carried_into_another_thread() -> None:
    with ThreadPoolExecutor(1) as threads, request("GET", SENT):
        assert threads.submit(trace_id).result() is None
        assert threads.submit(carried(trace_id)).result() == TRACE
        assert threads.submit(trace_id).result() is None
