"""Who runs next, who waits, and who is refused."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors.query_errors import QuotaExhausted, TooManyQueries
from service.model.operations.resource_groups import ResourceGroup, WhenExhausted
from service.model.query.planned_work import PlannedWork
from service.model.query.priority import FIRST_TO_LAST, Priority
from service.query.admission.scheduler import Scheduler
from service.query.admission.slot_bounds import SlotBounds
from tests.unit.query.admission.groups import (
    CALLERS,
    LONG,
    MANY,
    SHORT,
    bounds,
    equal_callers,
    flat_groups,
    simulation,
)

# ---- short queries pass long ones -----------------------------------------------------------------


def test_long_queries_on_all_their_slots_do_not_hold_up_a_short_one() -> None:
    house = simulation(bounds(long_slots=4, short_slots=2))
    for caller in "abcdefgh":
        for _ in range(4):
            house.submit(caller, LONG, lasts_ms=100_000)
    assert sum(house.running().values()) == 4
    for _ in range(20):
        key = house.submit("z", SHORT, lasts_ms=10)
        assert key in house.started
        house.advance(10)
        assert key in house.ended


def test_a_short_query_passes_the_long_ones_of_its_own_caller() -> None:
    house = simulation(bounds(long_slots=3, short_slots=2))
    longs = [house.submit("a", LONG, lasts_ms=60_000) for _ in range(4)]
    short = house.submit("a", SHORT)
    assert short in house.started
    assert longs[2] not in house.started


def test_a_query_that_makes_rows_without_a_bound_is_not_short() -> None:
    house = simulation(bounds(long_slots=1, short_slots=2))
    house.submit("a", LONG, lasts_ms=60_000)
    assert house.submit("b", PlannedWork(0, is_bounded=False)) not in house.started


def test_short_queries_leave_the_other_slots_to_long_ones_that_wait() -> None:
    house = simulation(bounds(long_slots=3, short_slots=1))
    for caller in "abcd":
        for _ in range(10):
            house.submit(caller, SHORT, lasts_ms=100)
    long = house.submit("z", LONG)
    assert long not in house.started
    house.end_next()
    assert long in house.started


def test_a_short_query_that_runs_for_too_long_counts_as_a_long_one() -> None:
    slots = SlotBounds(
        long_slots=1, short_slots=1, short_max_bytes=0, short_max_ms=1000, max_queued=10, planners=2
    )
    house = simulation(slots)
    house.submit("a", SHORT, lasts_ms=60_000)
    house.advance(1001)
    long = house.submit("b", LONG)
    assert long not in house.started
    assert house.submit("c", SHORT) in house.started


def test_without_slots_for_short_queries_all_take_the_same_turns() -> None:
    house = simulation(bounds(long_slots=2, short_slots=0))
    house.submit("a", LONG, lasts_ms=60_000)
    house.submit("b", LONG, lasts_ms=60_000)
    assert house.submit("c", SHORT) not in house.started


# ---- turns and shares -----------------------------------------------------------------------------


def test_a_single_query_goes_before_the_three_hundred_of_another_caller() -> None:
    house = simulation(bounds(long_slots=2, short_slots=0))
    for _ in range(300):
        house.submit("flood", LONG)
    single = house.submit("single", LONG)
    assert single in house.started


def test_no_caller_takes_the_last_slot() -> None:
    house = simulation(bounds(long_slots=3, short_slots=2))
    for _ in range(20):
        house.submit("flood", LONG)
    assert house.running() == {"flood": 2}
    assert house.submit("single", LONG) in house.started


@given(
    weights=st.lists(st.integers(1, 10), min_size=2, max_size=5),
    slots=st.integers(1, 6),
    ends=st.integers(1, 200),
)
def test_weights_hold_while_all_groups_have_queries_waiting(
    weights: list[int], slots: int, ends: int
) -> None:
    groups = [
        ResourceGroup(
            name=f"g{number}", hard_concurrency_limit=MANY, max_queued=MANY, scheduling_weight=weight
        )
        for number, weight in enumerate(weights)
    ]
    house = simulation(bounds(long_slots=slots, short_slots=0, max_queued=MANY), flat_groups(*groups))
    # The guess of a scheduler that has seen nothing yet, so that each query weighs the same.
    for group in groups:
        for _ in range(ends + slots + 4):
            house.submit(group.name, LONG, lasts_ms=2000, group=(group.name,))
    begun = len(house.started)
    for _ in range(ends):
        house.end_next()
    starts = Counter(house.owners[key] for key in house.started[begun:])
    early = Counter(house.owners[key] for key in house.started[:begun])
    for one, other in combinations(groups, 2):
        # A share is off by one query of each at most, and by those that began before all were there.
        shares = [
            (starts[group.name] + early[group.name]) / group.scheduling_weight for group in (one, other)
        ]
        most = sum((1 + early[group.name]) / group.scheduling_weight for group in (one, other))
        assert abs(shares[0] - shares[1]) <= most + 1e-9


def test_weights_hold_over_time_and_not_only_over_turns() -> None:
    slow = ResourceGroup(name="slow", hard_concurrency_limit=MANY, max_queued=MANY)
    fast = ResourceGroup(name="fast", hard_concurrency_limit=MANY, max_queued=MANY)
    house = simulation(bounds(long_slots=1, short_slots=0, max_queued=MANY), flat_groups(slow, fast))
    for _ in range(200):
        house.submit("slow", LONG, lasts_ms=10_000, group=("slow",))
        house.submit("fast", LONG, lasts_ms=1_000, group=("fast",))
    house.advance(200_000)
    assert house.starts()["slow"] == pytest.approx(10, abs=2)
    assert house.starts()["fast"] == pytest.approx(100, abs=15)


@given(lasts=st.lists(st.lists(st.integers(1, 1000), min_size=30, max_size=30), min_size=2, max_size=4))
def test_nobody_gets_more_time_than_others_by_sending_longer_queries(lasts: list[list[int]]) -> None:
    groups = [
        ResourceGroup(name=f"g{number}", hard_concurrency_limit=MANY, max_queued=MANY)
        for number in range(len(lasts))
    ]
    house = simulation(bounds(long_slots=1, short_slots=0, max_queued=MANY), flat_groups(*groups))
    took_ms: dict[int, int] = {}
    for turn in range(30):
        for group, of_group in zip(groups, lasts, strict=True):
            key = house.submit(group.name, LONG, lasts_ms=of_group[turn], group=(group.name,))
            took_ms[key] = of_group[turn]
    spent = Counter({group.name: 0 for group in groups})
    left = Counter({group.name: 30 for group in groups})
    while min(left.values()) > 1 and house.end_next():
        ended = house.started[len(house.ended) - 1]
        spent[house.owners[ended]] += took_ms[ended]
        left[house.owners[ended]] -= 1
        # One query of each is the bound of start-time fair queueing.
        assert max(spent.values()) - min(spent.values()) <= 2 * 1000


@given(st.data())
def test_a_query_that_waits_is_passed_by_a_bounded_number_of_others(data: st.DataObject) -> None:
    slots = data.draw(st.integers(1, 4))
    house = simulation(bounds(long_slots=slots + 1, short_slots=1, max_queued=MANY))
    callers = "abcd"
    for _ in range(data.draw(st.integers(0, 60))):
        house.submit(data.draw(st.sampled_from(callers)), LONG, lasts_ms=1000)
    begun = len(house.started)
    key = house.submit("z", LONG, lasts_ms=1000)
    # Others go on sending, long and short ones.
    while key not in house.started:
        house.submit(data.draw(st.sampled_from(callers)), data.draw(st.sampled_from([LONG, SHORT])), 1000)
        assert house.end_next()
    passed = [one for one in house.started[begun:] if house.is_long(one)]
    assert len(passed) <= len(callers) + slots + 2


def test_a_group_saves_up_no_turns_while_it_is_idle() -> None:
    busy = ResourceGroup(name="busy", hard_concurrency_limit=MANY, max_queued=MANY)
    idle = ResourceGroup(name="idle", hard_concurrency_limit=MANY, max_queued=MANY)
    house = simulation(bounds(long_slots=1, short_slots=0, max_queued=MANY), flat_groups(busy, idle))
    for _ in range(100):
        house.submit("busy", LONG, group=("busy",))
    house.advance(60_000)
    for _ in range(30):
        house.submit("idle", LONG, group=("idle",))
    begun = len(house.started)
    house.advance(20_000)
    turns = Counter(house.owners[key] for key in house.started[begun:])
    assert abs(turns["busy"] - turns["idle"]) <= 2


def test_sub_groups_share_what_their_group_gets() -> None:
    leaves = [ResourceGroup(name=name, hard_concurrency_limit=MANY, max_queued=MANY) for name in "xy"]
    inner = ResourceGroup(name="many", hard_concurrency_limit=MANY, max_queued=MANY, sub_groups=tuple(leaves))
    single = ResourceGroup(name="one", hard_concurrency_limit=MANY, max_queued=MANY)
    groups = flat_groups(inner, single)
    house = simulation(bounds(long_slots=1, short_slots=0, max_queued=MANY), groups)
    for _ in range(50):
        for path in (("many", "x"), ("many", "y"), ("one",)):
            house.submit(path[-1], LONG, group=path)
    house.advance(80_000)
    starts = house.starts()
    assert starts["one"] == pytest.approx(40, abs=2)
    assert starts["x"] == pytest.approx(20, abs=2)
    assert starts["y"] == pytest.approx(20, abs=2)


# ---- limits and budgets ---------------------------------------------------------------------------


def test_a_group_runs_no_more_than_its_limit_though_slots_are_free() -> None:
    small = ResourceGroup(name="small", hard_concurrency_limit=1, max_queued=10)
    house = simulation(bounds(long_slots=4, short_slots=2), flat_groups(small))
    first = house.submit("a", SHORT, group=("small",))
    second = house.submit("b", SHORT, group=("small",))
    assert house.started == [first]
    house.end_next()
    assert house.started == [first, second]


def test_a_full_group_refuses_and_says_when_a_place_is_expected() -> None:
    small = ResourceGroup(name="small", hard_concurrency_limit=2, max_queued=1)
    house = simulation(bounds(long_slots=4, short_slots=0), flat_groups(small))
    house.submit("a", LONG, lasts_ms=10_000, group=("small",))
    house.advance(10_000)
    for _ in range(3):
        house.submit("a", LONG, lasts_ms=10_000, group=("small",))
    with pytest.raises(TooManyQueries, match="resource group small") as refused:
        house.scheduler.reserve(99, ("small",), "a", house.now_ms)
    # Two queries of ten seconds at once: one begins every five.
    assert refused.value.retry_after_s == 5


def test_a_full_gateway_still_takes_one_query_of_a_caller_without_any() -> None:
    house = simulation(bounds(long_slots=2, short_slots=0, max_queued=2))
    for _ in range(10):
        house.submit("flood", LONG)
        house.submit("other", LONG)
    assert house.refused
    one_more = house.submit("single", LONG)
    assert one_more not in house.refused
    house.drain()
    assert one_more in house.ended


def test_a_group_without_budget_waits_until_some_has_come_back() -> None:
    budget = ResourceGroup(name="etl", hard_concurrency_limit=4, max_queued=10, hard_scan_limit_bytes=1 << 40)
    other = ResourceGroup(name="other", hard_concurrency_limit=4, max_queued=10)
    house = simulation(bounds(long_slots=4, short_slots=0), flat_groups(budget, other))
    house.submit("a", PlannedWork(3 << 39), group=("etl",))
    waiting = house.submit("a", LONG, group=("etl",))
    assert house.submit("b", LONG, group=("other",)) in house.started
    place = house.scheduler.place(waiting, house.now_ms)
    assert place is not None
    assert place.estimated_wait_ms == 1_800_001
    house.advance(1_800_000)
    assert waiting not in house.started
    house.advance(1)
    assert waiting in house.started


def test_a_group_without_budget_refuses_if_it_is_told_to_and_keeps_its_word() -> None:
    budget = ResourceGroup(
        name="etl",
        hard_concurrency_limit=4,
        max_queued=10,
        hard_cpu_limit_ms=60_000,
        when_exhausted=WhenExhausted.REFUSE,
    )
    house = simulation(bounds(long_slots=4, short_slots=0), flat_groups(budget))
    key = house.submit("a", LONG, group=("etl",))
    house.advance(1000)
    assert key in house.ended
    # The engine knows the time of an ended query a moment later.
    house.scheduler.charge_cpu(key, 90_000, house.now_ms)
    with pytest.raises(QuotaExhausted) as refused:
        house.scheduler.reserve(99, ("etl",), "a", house.now_ms)
    assert refused.value.retry_after_s == 1801
    house.advance((refused.value.retry_after_s - 1) * 1000)
    with pytest.raises(QuotaExhausted):
        house.scheduler.reserve(99, ("etl",), "a", house.now_ms)
    house.advance(1000)
    assert house.submit("a", LONG, group=("etl",)) in house.started


def test_what_a_query_did_not_read_goes_back_to_the_budget() -> None:
    budget = ResourceGroup(name="etl", hard_concurrency_limit=4, max_queued=10, hard_scan_limit_bytes=1000)
    scheduler: Scheduler[int] = Scheduler(flat_groups(budget), bounds(short_slots=0))
    for key in (1, 2):
        scheduler.reserve(key, ("etl",), "a", 0)
        scheduler.offer(key)
    assert scheduler.next(0) == 1
    assert scheduler.planned(1, PlannedWork(5000), 0) is not None
    assert scheduler.next(0) is None
    scheduler.release(1, 0, read_bytes=10)
    assert scheduler.next(0) == 2


# ---- places, cancellations ------------------------------------------------------------------------


def test_a_place_counts_those_that_go_before_and_estimates_by_what_was_measured() -> None:
    house = simulation(bounds(long_slots=2, short_slots=0))
    house.submit("a", LONG, lasts_ms=4000)
    house.advance(4000)
    keys = [house.submit("a", LONG, lasts_ms=4000) for _ in range(4)]
    others = [house.submit("b", LONG, lasts_ms=4000) for _ in range(3)]
    assert [house.scheduler.place(key, house.now_ms) for key in (keys[0], others[0])] == [None, None]
    places = [house.scheduler.place(key, house.now_ms) for key in (*keys[1:], *others[1:])]
    assert [place and place.position for place in places] == [1, 3, 5, 2, 4]
    assert [place and place.group for place in places] == ["global.a"] * 3 + ["global.b"] * 2
    # One of the caller runs at a time, and each takes four seconds.
    assert [place and place.estimated_wait_ms for place in places[:3]] == [4000, 8000, 12_000]


def test_a_removed_query_frees_its_place() -> None:
    small = ResourceGroup(name="small", hard_concurrency_limit=1, max_queued=1)
    house = simulation(bounds(short_slots=0), flat_groups(small))
    house.submit("a", LONG, group=("small",))
    waiting = house.submit("a", LONG, group=("small",))
    assert house.submit("a", LONG, group=("small",)) in house.refused
    house.scheduler.remove(waiting)
    following = house.submit("a", LONG, group=("small",))
    assert following not in house.refused
    house.drain()
    assert following in house.ended
    assert waiting not in house.started


def test_a_query_that_is_removed_while_it_is_planned_never_joins_the_line() -> None:
    scheduler: Scheduler[int] = Scheduler(equal_callers(bounds(2, 0)), bounds(2, 0))
    for key in (1, 2):
        scheduler.reserve(key, CALLERS, "a", 0)
        scheduler.offer(key)
    assert scheduler.next(0) == 1
    assert scheduler.planned(1, LONG, 0) is not None
    assert scheduler.next(0) == 2
    assert scheduler.planned(2, LONG, 0) is None
    scheduler.remove(2)
    scheduler.release(2, 0)
    scheduler.release(1, 0)
    assert (scheduler.waiting_count, scheduler.running_count, scheduler.planning_count) == (0, 0, 0)
    assert scheduler.next(0) is None


def test_a_query_whose_worker_hangs_gives_its_slot_back() -> None:
    scheduler: Scheduler[int] = Scheduler(equal_callers(bounds(2, 0)), bounds(2, 0))
    for key in (1, 2):
        scheduler.reserve(key, CALLERS, "a", 0)
        scheduler.offer(key)
    assert scheduler.next(0) == 1
    scheduler.planned(1, LONG, 0)
    assert scheduler.next(0) == 2
    assert scheduler.planned(2, LONG, 0) is None
    scheduler.release(2, 0)
    scheduler.give_up(1, 10)
    assert scheduler.next(10) == 2
    # Its worker comes back after all.
    scheduler.release(1, 20)
    assert scheduler.running_count == 1


def test_only_a_few_long_queries_of_a_group_are_planned_while_others_run() -> None:
    slots = SlotBounds(long_slots=1, max_queued=MANY, planners=8, planned_ahead=3)
    scheduler: Scheduler[int] = Scheduler(equal_callers(slots), slots)
    for key in range(100):
        scheduler.reserve(key, CALLERS, "a", 0)
        scheduler.offer(key)
    planned = 0
    while (turn := scheduler.next(0)) is not None:
        planned += 1
        if scheduler.planned(turn, LONG, 0) is None:
            scheduler.release(turn, 0)
    assert planned == 4


def test_known_long_queries_do_not_keep_others_of_their_group_from_being_planned() -> None:
    slots = SlotBounds(
        long_slots=1, max_queued=MANY, planners=2, planned_ahead=1, short_slots=2, short_max_bytes=10
    )
    scheduler: Scheduler[int] = Scheduler(equal_callers(slots), slots)
    for key in range(5):
        scheduler.reserve(key, CALLERS, "a", 0)
        scheduler.offer(key, LONG if key < 4 else None)
    assert scheduler.next(0) == 0
    assert scheduler.running_count == 1
    assert scheduler.next(0) == 4
    assert scheduler.planned(4, SHORT, 0) is not None
    assert scheduler.next(0) is None


def test_a_flood_of_a_thousand_ends_with_each_query_answered_or_refused() -> None:
    house = simulation(bounds(long_slots=5, short_slots=2, max_queued=300))
    for number in range(1000):
        house.submit("ab"[number % 2], SHORT if number % 7 == 0 else LONG, lasts_ms=50 + number % 13)
    house.drain()
    assert house.ended | house.refused == set(range(1000))
    assert house.ended.isdisjoint(house.refused)
    assert len(house.refused) > 300
    assert house.scheduler.use()[0].queued == house.scheduler.use()[0].running == 0


# ---- a caller's own priorities --------------------------------------------------------------------

ASKED = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Priority)), min_size=1, max_size=12)


@given(asked=ASKED, group=st.sampled_from([CALLERS, ("shared",)]))
def test_priorities_order_the_queries_of_one_caller_and_move_no_others(
    asked: list[tuple[str, Priority]], group: tuple[str, ...]
) -> None:
    slots = bounds(long_slots=1, short_slots=0)
    spec = [
        *equal_callers(slots).root_groups,
        ResourceGroup(name="shared", hard_concurrency_limit=1, max_queued=100),
    ]
    order: list[list[str]] = []
    for is_prioritized in (True, False):
        house = simulation(slots, flat_groups(*spec))
        # Until it ends, all others wait.
        house.submit("z", LONG, lasts_ms=1_000, group=group)
        keys: dict[int, Priority] = {}
        for caller, priority in asked:
            counts = priority if is_prioritized else Priority.NORMAL
            keys[house.submit(caller, LONG, 1_000, group, counts)] = counts
        house.drain()
        order.append([house.owners[key] for key in house.started])
        # In a shared group, one that is planned ahead may wait between queries of others: it stays in front.
        for caller in "abc" if group == CALLERS else "":
            own = [key for key in house.started if house.owners[key] == caller]
            assert own == sorted(own, key=lambda key: (FIRST_TO_LAST.index(keys[key]), key))
    assert order[0] == order[1]
