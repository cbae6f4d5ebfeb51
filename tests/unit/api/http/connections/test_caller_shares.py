"""Callers share the places: none of them gets all, however many requests it sends."""

from __future__ import annotations

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from api.http.connections.caller_shares import CallerShares
from tests.fakes.gateway import FakeGateway
from tests.unit.api.http.connections.conftest import Serving
from tests.unit.api.http.connections.raw_client import post

PLACES, OF_ONE_PEER = 60, 40
TOKENS = ("one", "two")
SLOW = {"sql": "select slow", "waitTimeout": "50s"}
requests = st.tuples(st.sampled_from("abcd"), st.sampled_from(("10.0.0.1", "10.0.0.2")), st.booleans())


def with_token(body: dict[str, str], token: str) -> bytes:
    return post(b"/query", json.dumps(body).encode(), b"Authorization: Bearer " + token.encode())


def test_one_caller_gets_three_quarters_of_the_places() -> None:
    shares = CallerShares(PLACES, OF_ONE_PEER)
    assert sum(shares.take("a", "10.0.0.1") for _ in range(100)) == OF_ONE_PEER * 3 / 4
    assert sum(shares.take("a", "10.0.0.2") for _ in range(100)) == (PLACES - OF_ONE_PEER) * 3 / 4
    assert shares.take("b", "10.0.0.1")


@given(st.lists(requests, max_size=400))
def test_a_new_caller_finds_a_place(sent: list[tuple[str, str, bool]]) -> None:
    shares, under_way = CallerShares(PLACES, OF_ONE_PEER), list[tuple[str, str]]()
    for caller, peer, is_end in sent:
        if is_end and under_way:
            shares.give_back(*under_way.pop(0))
        elif shares.take(caller, peer):
            under_way.append((caller, peer))
        assert all(sum(at == peer for _, at in under_way) < OF_ONE_PEER for peer in ("10.0.0.1", "10.0.0.2"))
        assert shares.take("new", "10.0.0.1")
        shares.give_back("new", "10.0.0.1")
    for share in under_way:
        shares.give_back(*share)
    assert sum(shares.take("a", "10.0.0.1") for _ in range(100)) == OF_ONE_PEER * 3 / 4


def test_callers_behind_one_address_are_answered_while_another_one_waits_for_all_it_may(
    serving: Serving, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add("select slow")
    tokens = {token: hashlib.sha256(token.encode()).hexdigest() for token in TOKENS}
    clients = serving(max_connections=40, max_connections_per_peer=16, api_tokens=tokens)
    waiting = [clients().send(with_token(SLOW, "one")) for _ in range(12)]
    while gateway.queries.waits_asked_for < len(waiting):
        pass
    refused = clients().send(with_token(SLOW, "one")).answer()
    assert (refused.status, refused.code) == (429, "TOO_MANY_REQUESTS")
    assert int(refused.headers["retry-after"]) > 0
    assert clients().send(with_token({"sql": "select 1"}, "two")).answer().status == 200
