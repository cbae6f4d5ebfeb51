"""Which connection is closed when there are too many."""

from __future__ import annotations

from api.http.connections.census import Admission, Census


class Open:
    def __init__(self, census: Census, peer: str = "a", is_slow: bool = False) -> None:
        self.peer = peer
        self.is_dropped = False
        self._is_slow = is_slow
        self.admission = census.enter(self)

    def is_slow(self) -> bool:
        return self._is_slow

    def drop(self) -> None:
        self.is_dropped = True


def test_a_newcomer_takes_the_place_of_the_one_that_has_waited_longest_for_a_head() -> None:
    census = Census(max_connections=3, max_per_peer=3)
    asking, first, second = Open(census), Open(census), Open(census)
    census.waits(first)
    census.waits(second)
    newcomer = Open(census, "b")
    assert newcomer.admission is Admission.WHOLLY
    assert [connection.is_dropped for connection in (asking, first, second)] == [False, True, False]
    assert len(census) == 3


def test_a_body_that_crawls_goes_where_no_head_is_waited_for() -> None:
    census = Census(max_connections=2, max_per_peer=2)
    slow = Open(census, is_slow=True)
    assert Open(census).admission is Admission.WHOLLY
    assert Open(census).admission is Admission.WHOLLY
    assert slow.is_dropped


def test_where_all_have_requests_a_newcomer_is_there_for_probes() -> None:
    census = Census(max_connections=2, max_per_peer=2, max_spare=1)
    asking = [Open(census), Open(census)]
    probe = Open(census)
    next_probe = Open(census)
    assert probe.admission is next_probe.admission is Admission.FOR_PROBES
    assert probe.is_dropped
    assert not any(connection.is_dropped for connection in asking)
    census.leave(asking[0])
    assert Open(census).admission is Admission.WHOLLY


def test_one_peer_leaves_room_for_others() -> None:
    census = Census(max_connections=4, max_per_peer=2)
    assert [Open(census).admission for _ in range(3)] == [Admission.WHOLLY] * 2 + [Admission.FOR_PROBES]
    other = Open(census, "b")
    census.waits(other)
    # Beyond its share, a peer's connection replaces none of another peer.
    assert Open(census).admission is Admission.FOR_PROBES
    assert not other.is_dropped


def test_who_has_left_counts_no_more() -> None:
    census = Census(max_connections=1, max_per_peer=1)
    for _ in range(3):
        only = Open(census)
        census.waits(only)
        census.leave(only)
        census.leave(only)
        assert (only.admission, len(census)) == (Admission.WHOLLY, 0)
