"""Requests are remembered with their values and rights, within bounds."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from service.model.authentication.principals import NOBODY, Principal, PrincipalKind
from service.model.policies.decisions import FULL_ACCESS
from service.model.policies.policies import PolicySet
from service.model.query.history import MAX_FREQUENT_BYTES, FrequentQuery
from service.model.query.query import Parameter, PruningRequest, QueryRequest
from service.model.sessions.sessions import SessionUse, SessionValues
from service.policies.anonymous_access import ANONYMOUS_ACCESS
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.policies.decided_access import DecidedAccess
from service.query.filtering.asked_requests import ENTRY_BYTES, AskedRequest, AskedRequests
from tests.fakes.clock import FakeClock

TEXT = FrequentQuery("SELECT 1", "lake", "shop")
REQUEST = QueryRequest(TEXT.sql, (), TEXT.catalog, TEXT.schema, timeout_ms=7, tags={"a": "b"})
LONG_MS = 1_000_000


def access_of(name: str, *roles: str) -> DecidedAccess:
    principal = Principal(name, PrincipalKind.KEY, frozenset(roles))
    return DecidedAccess(FULL_ACCESS, lambda: FULL_ACCESS, principal)


def of(asked: AskedRequests, text: FrequentQuery, within_ms: int = LONG_MS) -> list[AskedRequest]:
    return list(asked.by_text(within_ms).get(text, ()))


@pytest.fixture
def asked() -> AskedRequests:
    return AskedRequests(FakeClock(), 1 << 20)


def test_requests_with_other_values_or_roles_are_apart_and_the_most_frequent_come_first(
    asked: AskedRequests,
) -> None:
    year = replace(REQUEST, parameters={"year": Parameter(2000)})
    for request, access in (
        (REQUEST, access_of("ann", "analyst")),
        (year, access_of("ann", "analyst")),
        (year, access_of("bob", "analyst")),
        (year, access_of("bob", "owner")),
    ):
        asked.note(request, access)
    found = of(asked, TEXT)
    assert [(each.count, bool(each.request.parameters)) for each in found] == [
        (2, True),
        (1, False),
        (1, True),
    ]
    # The rights are those of who asked last.
    assert found[0].rights is not None
    assert found[0].rights.principal.name == "bob"


def test_the_policies_of_a_request_are_not_kept_in_memory(asked: AskedRequests) -> None:
    policies = CompiledPolicies(PolicySet(1, (), (), (), ()))
    kept = weakref.ref(policies)
    access = access_of("ann", "analyst")
    asked.note(REQUEST, replace(access, access=RoleAccess(policies, frozenset({"analyst"}))))
    del policies
    gc.collect()
    assert len(of(asked, TEXT)) == 1
    assert kept() is None


def test_what_concerns_one_caller_alone_is_not_remembered(asked: AskedRequests) -> None:
    pruning = PruningRequest(is_verified=True, collect_timeout_ms=1, min_table_bytes=0)
    asked.note(replace(REQUEST, pruning=pruning, request_id=uuid4()), FULL_ACCESS)
    [found] = of(asked, TEXT)
    kept = QueryRequest(TEXT.sql, (), TEXT.catalog, TEXT.schema, pruning=PruningRequest(min_table_bytes=0))
    assert found.request == kept


def test_requests_in_a_session_of_unknown_rights_or_too_long_are_not_remembered(asked: AskedRequests) -> None:
    long = replace(REQUEST, sql="x" * (MAX_FREQUENT_BYTES + 1))
    asked.note(replace(REQUEST, session=SessionUse(uuid4(), SessionValues())), FULL_ACCESS)
    asked.note(REQUEST, ANONYMOUS_ACCESS)
    asked.note(long, FULL_ACCESS)
    assert of(asked, TEXT) == []
    assert of(asked, FrequentQuery(long.sql, "lake", "shop")) == []
    asked.note(REQUEST, DecidedAccess(ANONYMOUS_ACCESS, lambda: ANONYMOUS_ACCESS, NOBODY))
    assert len(of(asked, TEXT)) == 1


def test_a_request_of_long_ago_does_not_count() -> None:
    clock = FakeClock()
    asked = AskedRequests(clock, 1 << 20)
    asked.note(REQUEST, FULL_ACCESS)
    clock.advance(timedelta(seconds=2))
    assert (len(of(asked, TEXT, 2_000)), len(of(asked, TEXT, 1_999))) == (1, 0)


def test_the_requests_that_were_asked_last_stay() -> None:
    asked = AskedRequests(FakeClock(), 3 * (ENTRY_BYTES + 100))
    for number in range(5):
        asked.note(replace(REQUEST, sql=f"SELECT {number}"), FULL_ACCESS)
    kept = [n for n in range(5) if of(asked, FrequentQuery(f"SELECT {n}", "lake", "shop"))]
    assert kept == [2, 3, 4]
