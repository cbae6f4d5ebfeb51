"""A stream writes for its creator, for as long as policies let the creator write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from service.authentication.current_principals import CurrentPrincipals, KnownWays
from service.errors.policy_errors import PoliciesDown, TableAccessDenied
from service.errors.source_errors import GrantRevoked, StreamNotFound
from service.errors.unavailable import MetricsStoreDown, ShuttingDown
from service.ingest.streaming.creator_policies import CreatorPolicies
from service.ingest.streaming.stream_creator import (
    KnownCreator,
    StreamCreator,
    UnknownCreator,
    creator_of,
    roles_of,
)
from service.model.authentication.api_keys import ApiKey, made_key
from service.model.authentication.principals import NOBODY, Principal, PrincipalKind
from service.model.ingest.streams import CreatorRoles, StreamRecord, StreamState
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.policies.policies import Grant, PolicySet
from service.model.policies.table_patterns import TablePattern
from service.policies.live_policies import LivePolicies
from tests.fakes.api_keys import FakeApiKeyStore
from tests.fakes.clock import FakeClock
from tests.fakes.ingest_service import FakeIngests
from tests.fakes.policy_store import FakePolicyStore
from tests.fakes.stream_store import FakeStreamStore
from tests.polling import until
from tests.unit.ingest.streaming.test_stream_service import (
    ANN,
    CHECKPOINT,
    OTHERS,
    TABLE,
    WITHIN_S,
    Running,
    batch,
    delivered,
)

EVENTS, LOGS = TablePattern.parse(str(TABLE.key.table)), TablePattern.parse("lake.logs.*")
INSERT = Grant("loader", Action.INSERT, EVENTS)


class Policed:
    """Streams of one replica whose policies a test changes."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.policies = FakePolicyStore(policies=PolicySet(1, (INSERT,)))
        self.live = LivePolicies(self.policies, self.clock)
        self.live.refresh()
        self.ingests = FakeIngests(TABLE, OTHERS)
        self.store = FakeStreamStore()
        self.keys = FakeApiKeyStore(self.clock)
        self.ways = KnownWays(tokens=frozenset({"ann"}), roles={"ann": frozenset({"loader"})})
        self.running = Running(self.ingests, self.store, folder, self)

    def access_of(self, creator: StreamCreator) -> Access:
        """Decides as a gateway does that is started with `ways`."""
        principals = CurrentPrincipals(self.ways, self.keys, self.clock)
        return CreatorPolicies(self.live, principals.now).access_of(creator)

    def key(self, *roles: str, **more: Any) -> ApiKey:
        full = ApiKey("", b"", "kim", frozenset(roles), "", self.clock.now(), "ops", **more)
        made = made_key(full).key
        self.keys.add(made)
        return made

    def revoke_all(self) -> None:
        for key in self.keys.newest(10):
            self.keys.revoke(key.key_id, "ops")

    def restart(self, **ways: Any) -> None:
        """Changes settings of authentication, which a gateway does by a new start."""
        self.ways = replace(self.ways, **ways)

    def create(self, creator: Principal = ANN, **body: Any) -> UUID:
        access = self.live.access_of(creator)
        return self.running.streams.create("clicks", body, creator, access).stream_id

    def resume(self, stream_id: UUID, creator: Principal = ANN) -> StreamRecord:
        return self.running.streams.resume(stream_id, creator, self.live.access_of(creator))

    def set(self, *grants: Grant) -> None:
        """Changes the policies, as another replica does; they are read at the next poll."""
        version = self.policies.version()
        self.policies.replace(PolicySet(version, grants), expected_version=version, by="ops")
        self.live.refresh()

    def until_ended(self, stream_id: UUID) -> StreamRecord:
        until(lambda: self.running.record(stream_id).state is StreamState.FAILED, WITHIN_S)
        return self.running.record(stream_id)

    def close(self) -> None:
        self.running.streams.runner.close(WITHIN_S)
        self.ingests.close(WITHIN_S)


@pytest.fixture
def policed(tmp_path: Path) -> Iterator[Policed]:
    made = Policed(tmp_path)
    yield made
    made.close()


def denial(action: Action, pattern: TablePattern) -> Grant:
    return Grant("loader", action, pattern, is_denial=True)


@pytest.mark.parametrize(
    "grants",
    [
        (),
        (Grant("loader", Action.SELECT, EVENTS),),
        (Grant("other", Action.INSERT, EVENTS),),
        (INSERT, denial(Action.INSERT, LOGS)),
        (INSERT, denial(Action.ADMIN, EVENTS)),
    ],
    ids=["no grant", "another action", "another role", "denied", "admin denied"],
)
def test_a_stream_ends_when_its_creator_loses_the_grant_and_goes_on_with_it(
    policed: Policed, grants: tuple[Grant, ...]
) -> None:
    running, stream_id = policed.running, policed.create()
    running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    query = running.queries.running[stream_id]
    policed.set(*grants)
    record = policed.until_ended(stream_id)
    assert (record.error_code, query.is_stopped) == ("GRANT_REVOKED", True)
    assert str(TABLE.key.table) in (record.error_detail or "")
    assert running.metrics.codes == ["GRANT_REVOKED"]
    with pytest.raises(TableAccessDenied):
        policed.resume(stream_id)
    assert running.record(stream_id).state is StreamState.FAILED
    policed.set(INSERT)
    until(lambda: not policed.store.leases)
    running.queries.running.clear()
    assert policed.resume(stream_id).error_code is None
    running.give(stream_id, batch(1, 2, checkpoint=CHECKPOINT))
    assert running.ids() == [1, 2]


def test_no_batch_is_accepted_after_the_grant_is_lost(policed: Policed) -> None:
    running, stream_id = policed.running, policed.create()
    until(lambda: stream_id in running.queries.running)
    policed.set()
    # Spark may deliver a batch before the stream is looked after.
    with pytest.raises(GrantRevoked):
        running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    assert policed.until_ended(stream_id).error_code == "GRANT_REVOKED"
    assert (running.ids(), policed.ingests.log.records()) == ([], [])


def test_what_was_accepted_before_is_committed_once(policed: Policed) -> None:
    running, stream_id = policed.running, policed.create()
    policed.ingests.log.taken_elsewhere.add(TABLE.key)
    with ThreadPoolExecutor() as spark:
        given = spark.submit(running.give, stream_id, batch(0, 1, checkpoint=CHECKPOINT))
        until(lambda: policed.ingests.log.records())
        policed.set()
        with pytest.raises(ShuttingDown):
            given.result(WITHIN_S)
    policed.until_ended(stream_id)
    policed.ingests.log.taken_elsewhere.clear()
    policed.set(INSERT)
    until(lambda: not policed.store.leases)
    running.queries.running.clear()
    policed.resume(stream_id)
    again = batch(0, 1, checkpoint=CHECKPOINT)
    running.give(stream_id, again)
    assert again.run_count == 0
    assert delivered(running) == [("row", 1)]


@pytest.mark.parametrize(
    ("body", "lost"),
    [
        ({"mode": "upsert", "equalityFields": ("id",)}, INSERT),
        ({"others": "2"}, INSERT),
        ({"onError": "DEAD_LETTER"}, denial(Action.INSERT, TablePattern.parse("*.*.*__dead_letter"))),
    ],
    ids=["upsert", "routed", "dead letters"],
)
def test_it_needs_the_right_of_each_of_its_tables(
    policed: Policed, body: dict[str, Any], lost: Grant
) -> None:
    everything = (Grant("loader", Action.MODIFY, LOGS), Grant("loader", Action.INSERT, LOGS))
    policed.set(*everything)
    stream_id = policed.create(**body)
    until(lambda: stream_id in policed.running.queries.running)
    policed.set(*(everything if lost.is_denial else ()), lost)
    assert policed.until_ended(stream_id).error_code == "GRANT_REVOKED"


def test_it_waits_while_the_policies_are_not_known(policed: Policed) -> None:
    running, stream_id = policed.running, policed.create()
    running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    query = running.queries.running[stream_id]
    policed.policies.is_down = True
    policed.clock.advance(timedelta(minutes=6))
    policed.live.refresh()
    until(lambda: running.record(stream_id).error_code == "POLICIES_DOWN")
    assert running.record(stream_id).state is StreamState.RUNNING
    until(lambda: query.is_stopped)
    with pytest.raises(PoliciesDown):
        query.on_batch(batch(1, 2, checkpoint=CHECKPOINT))
    policed.policies.is_down = False
    policed.live.refresh()
    until(lambda: running.queries.running[stream_id] is not query)
    running.give(stream_id, batch(1, 2, checkpoint=CHECKPOINT))
    until(lambda: running.record(stream_id).error_code is None)
    assert running.ids() == [1, 2]


def test_it_does_not_begin_without_the_grant(policed: Policed) -> None:
    access, creator = policed.live.access_of(ANN), roles_of(ANN)
    # It was created while policies did not decide, or at another replica.
    stream_id = policed.create()
    until(lambda: stream_id in policed.running.queries.running)
    policed.running.streams.stop(stream_id, "ann")
    until(lambda: not policed.store.leases)
    started = len(policed.running.queries.started)
    policed.set()
    policed.store.move(stream_id, StreamState.RUNNING, resumed_by=creator)
    assert policed.until_ended(stream_id).error_code == "GRANT_REVOKED"
    assert len(policed.running.queries.started) == started
    with pytest.raises(TableAccessDenied):
        policed.running.streams.resume(stream_id, ANN, policed.live.access_of(ANN))
    # A request that began before the change has the rights of its beginning; the stream ends all the same.
    policed.running.streams.resume(stream_id, ANN, access)
    assert policed.until_ended(stream_id).error_code == "GRANT_REVOKED"


@pytest.mark.parametrize(
    "creator_roles",
    [None, CreatorRoles("key"), CreatorRoles("a kind of later", frozenset({"loader"}))],
    ids=["of an earlier version", "without roles", "of a later version"],
)
def test_without_known_roles_it_ends_until_its_creator_resumes_it(
    policed: Policed, creator_roles: CreatorRoles | None
) -> None:
    stream_id = policed.create()
    until(lambda: stream_id in policed.running.queries.running)
    record = policed.store.records[stream_id]
    policed.store.records[stream_id] = replace(record, creator_roles=creator_roles)
    policed.until_ended(stream_id)
    until(lambda: not policed.store.leases)
    policed.running.queries.running.clear()
    assert policed.resume(stream_id).creator_roles == roles_of(ANN)
    policed.running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    assert policed.running.ids() == [1]


@pytest.mark.parametrize("claims", [{}, {"kind": "not known"}], ids=["none", "odd ones"])
def test_no_claims_of_a_principal_make_it_unknown(policed: Policed, claims: dict[str, str]) -> None:
    creator = Principal("ann", PrincipalKind.TOKEN, frozenset({"loader"}), claims=claims)
    record = policed.running.record(policed.create(creator))
    assert creator_of(record) == KnownCreator(Principal("ann", PrincipalKind.TOKEN, creator.roles))
    assert creator_of(replace(record, creator_roles=None)) == UnknownCreator("ann")


def test_its_creator_resumes_it_with_the_roles_of_now(policed: Policed) -> None:
    stream_id = policed.create()
    promoted = Principal("ann", PrincipalKind.OIDC, frozenset({"editor"}))
    policed.ways = replace(policed.ways, has_issuers=True)
    policed.set(INSERT, Grant("editor", Action.INSERT, EVENTS))
    until(lambda: stream_id in policed.running.queries.running)
    # It runs, and takes the new roles without a new beginning.
    policed.resume(stream_id, promoted)
    until(lambda: policed.running.streams.runner.runs[stream_id].creator == KnownCreator(promoted))
    policed.set(Grant("editor", Action.INSERT, EVENTS))
    policed.running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    assert policed.running.record(stream_id).state is StreamState.RUNNING
    policed.set(INSERT)
    assert policed.until_ended(stream_id).error_code == "GRANT_REVOKED"


def test_a_stream_of_nobody_appends_and_does_not_upsert(policed: Policed) -> None:
    stream_id = policed.create(NOBODY)
    policed.set()
    policed.running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    assert policed.running.ids() == [1]
    with pytest.raises(TableAccessDenied):
        policed.create(NOBODY, mode="upsert", equalityFields=("id",))


def test_any_stream_can_be_stopped_for_an_administrator(policed: Policed) -> None:
    stream_id = policed.create()
    policed.running.streams.stop_any(stream_id)
    assert policed.running.record(stream_id).state is StreamState.STOPPED
    with pytest.raises(StreamNotFound):
        policed.running.streams.stop_any(UUID(int=0))


KIM = Principal("kim", PrincipalKind.KEY, frozenset({"loader"}))
CERTIFICATE = Principal("certificate:ann", PrincipalKind.CERTIFICATE, frozenset({"loader"}))
ISSUED = Principal("corp:ann", PrincipalKind.OIDC, frozenset({"loader"}))
ROLES: dict[str, frozenset[str]] = {
    name: frozenset({"loader"}) for name in ("ann", "certificate:ann", "corp:ann")
}
READER = frozenset({"reader"})
ALL_WAYS = KnownWays(tokens=frozenset({"ann"}), has_certificates=True, has_issuers=True, roles=ROLES)


def has_reader_alone(policed: Policed) -> None:
    policed.revoke_all()
    policed.key("reader")


LOSSES: dict[str, tuple[Principal, Callable[[Policed], None]]] = {
    "its key is revoked": (KIM, lambda policed: policed.revoke_all()),
    "its key expires": (KIM, lambda policed: policed.clock.advance(timedelta(days=2))),
    "its remaining key has another role": (KIM, has_reader_alone),
    "its token is gone": (ANN, lambda policed: policed.restart(tokens=frozenset())),
    "its token has another role": (
        ANN,
        lambda policed: policed.restart(roles={"ann": frozenset({"reader"})}),
    ),
    "its token has no role": (ANN, lambda policed: policed.restart(roles={})),
    "its certificate has no role": (CERTIFICATE, lambda policed: policed.restart(roles={})),
    "certificates are off": (CERTIFICATE, lambda policed: policed.restart(has_certificates=False)),
    "no issuer is trusted": (ISSUED, lambda policed: policed.restart(has_issuers=False)),
}
"""How a creator may lose its credentials, or the roles that it writes with."""


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_stream_ends_with_the_credentials_of_its_creator(policed: Policed, loss: str) -> None:
    policed.ways = ALL_WAYS
    policed.key("loader", expires_at=policed.clock.now() + timedelta(days=1))
    creator, lose = LOSSES[loss]
    stream_id = policed.create(creator)
    policed.running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    lose(policed)
    with pytest.raises(GrantRevoked):
        policed.running.give(stream_id, batch(1, 2, checkpoint=CHECKPOINT))
    record = policed.until_ended(stream_id)
    assert record.error_code == "GRANT_REVOKED"
    assert policed.running.ids() == [1]


@pytest.mark.parametrize("creator", [KIM, ANN, CERTIFICATE, ISSUED], ids=lambda each: each.kind.value)
def test_it_goes_on_with_credentials_as_they_were(policed: Policed, creator: Principal) -> None:
    policed.ways = ALL_WAYS
    old = policed.key("loader")
    stream_id = policed.create(creator)
    # The key is not known of a stream of an earlier version: any of its principal counts.
    policed.key("loader", "reader")
    policed.keys.revoke(old.key_id, "ops")
    policed.clock.advance(timedelta(seconds=30))
    policed.running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    assert policed.running.record(stream_id).state is StreamState.RUNNING


def test_a_stream_ends_with_the_key_that_created_it(policed: Policed) -> None:
    first, second = policed.key("loader"), policed.key("loader")
    by_first, by_second = (replace(KIM, key_id=key.key_id) for key in (first, second))
    ended, kept = policed.create(by_first), policed.create(by_second, name="more")
    policed.running.give(ended, batch(0, 1, checkpoint=CHECKPOINT))
    policed.keys.revoke(first.key_id, "ops")
    assert policed.until_ended(ended).error_code == "GRANT_REVOKED"
    assert policed.running.record(kept).state is StreamState.RUNNING


def test_a_stream_is_given_to_another_key_before_its_own_is_revoked(policed: Policed) -> None:
    old = policed.key("loader")
    stream_id = policed.create(replace(KIM, key_id=old.key_id))
    until(lambda: stream_id in policed.running.queries.running)
    new = replace(KIM, key_id=policed.key("loader").key_id)
    # It runs on, and counts on the new key.
    policed.resume(stream_id, new)
    until(lambda: policed.running.streams.runner.runs[stream_id].creator == KnownCreator(new))
    policed.keys.revoke(old.key_id, "ops")
    policed.running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    assert policed.running.record(stream_id).state is StreamState.RUNNING


def test_a_key_gives_no_role_that_the_stream_was_not_created_with(policed: Policed) -> None:
    policed.key("loader", "editor")
    stream_id = policed.create(KIM)
    policed.set(Grant("editor", Action.INSERT, EVENTS))
    assert policed.until_ended(stream_id).error_code == "GRANT_REVOKED"


def test_without_authentication_nobody_loses_credentials(policed: Policed) -> None:
    policed.ways = KnownWays(is_open=True)
    stream_id = policed.create(KIM)
    policed.running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    assert policed.running.ids() == [1]


def test_known_keys_count_while_their_store_is_down(policed: Policed) -> None:
    policed.key("loader")
    principals = CurrentPrincipals(ALL_WAYS, policed.keys, policed.clock)
    assert principals.now(KIM) == KIM
    policed.keys.is_down = True
    policed.clock.advance(timedelta(minutes=10))
    assert principals.now(KIM) == KIM
    policed.clock.advance(timedelta(minutes=10))
    with pytest.raises(MetricsStoreDown):
        principals.now(KIM)
