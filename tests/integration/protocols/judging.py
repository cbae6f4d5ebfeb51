"""Finds what is wrong with an answer to something hostile, and checks that all is as before."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from tests.integration.hostile_requests import SECRETS
from tests.integration.protocols.conftest import TOKENS, Caller
from tests.integration.protocols.flight_speakers import FlightSpeaker
from tests.integration.protocols.hive_speakers import Binary, HiveSession, OverHttp

CLOSED = "CONNECTION_CLOSED"
_CODE = re.compile(r"\b([A-Z][A-Z_]{3,40})\b")
_SERVERS_OWN = frozenset({"INTERNAL"})
_HIDDEN = (*SECRETS, *TOKENS.values(), ".py", 'File "', "/site-packages/")
DENIED = frozenset({"TABLE_ACCESS_DENIED", "ADMIN_REQUIRED"})


def fault_in(told: str, codes: Collection[str] = ()) -> str:
    """Returns what is wrong with the answer to a client; empty if nothing is.

    `codes` are those that it may have; none for any that is the client's own mistake.
    """
    if not told:
        return "not refused"
    if any(hidden in told for hidden in _HIDDEN):
        return "reveals something"
    found = _CODE.search(told)
    if found is None or found[1] in _SERVERS_OWN:
        return "no code of the client's"
    return f"code {found[1]}" if codes and found[1] not in {*codes, *DENIED} else ""


@contextmanager
def nothing_changes(caller: Caller) -> Iterator[None]:
    """Checks that tables, the engine, and what another client gets are as before."""
    place = caller.place
    tables = sorted(place.lake.list_tables("shop"))
    location = place.lake.load_table("shop.sales").metadata_location
    jvm = place.running.jvm()
    yield
    assert place.running.jvm() == jvm
    assert sorted(place.lake.list_tables("shop")) == tables
    assert place.lake.load_table("shop.sales").metadata_location == location
    with HiveSession(Binary(caller)) as binary, HiveSession(OverHttp(caller)) as http:
        assert (binary.run("SELECT 1"), http.run("SELECT 1")) == ("", "")
    with FlightSpeaker(caller) as speaker:
        assert speaker.rows("SELECT 1 AS a").to_pydict() == {"a": [1]}
