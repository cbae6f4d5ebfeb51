"""Whatever callers send in whatever order: one thing is begun for each requestId, and by one body only."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors.query_errors import RequestIdReused
from service.idempotency import same_request, sent_before

IDS = [UUID(int=number) for number in (1, 2)]


@dataclass(frozen=True)
class Begun:
    caller: str
    request_id: UUID | None
    fingerprint: str


REQUESTS = st.builds(
    Begun, st.sampled_from(["ann", "bob"]), st.sampled_from([None, *IDS]), st.sampled_from(["one", "two"])
)


@given(requests=st.lists(REQUESTS))
def test_only_the_first_of_a_callers_requests_with_an_id_begins_something(requests: list[Begun]) -> None:
    begun: dict[tuple[str, UUID], Begun] = {}
    for request in requests:
        first = None if request.request_id is None else begun.get((request.caller, request.request_id))
        asked = (lambda *key: begun.get(key), request.caller, request.request_id, request.fingerprint)
        if first is None:
            assert sent_before(*asked) is None
            if request.request_id is not None:
                begun[request.caller, request.request_id] = request
        elif first.fingerprint == request.fingerprint:
            assert sent_before(*asked) is first
        else:
            with pytest.raises(RequestIdReused):
                sent_before(*asked)


def test_a_request_that_came_second_gets_what_the_first_began_unless_its_body_differs() -> None:
    first = Begun("ann", IDS[0], "one")
    assert same_request(first, "one") is first
    with pytest.raises(RequestIdReused):
        same_request(first, "two")
