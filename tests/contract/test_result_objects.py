"""Results in an object store: what they promise beyond the contract of shared results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pyarrow as pa
import pytest

from api.bootstrap.settings import Settings
from api.cli.part_checks import Finding, State, tried
from api.cli.wiring_checks import result_store_checks
from service.adapters.results.leftovers import GRACE
from service.adapters.results.local_first_results import LocalFirstResults
from service.adapters.results.manifest_file import NAME
from service.adapters.results.objects.bucket import REST_MS, Bucket
from service.adapters.results.objects.object_leftovers import Leftovers
from service.adapters.results.objects.object_manifests import ObjectManifests
from service.adapters.results.objects.object_results import ObjectResultStore
from service.adapters.results.objects.store_access import StoreAccess
from service.adapters.results.objects.store_failures import NO_BUCKET, REFUSED, ObjectGone
from service.adapters.results.result_store import FolderResultStore
from service.adapters.results.store_bounds import ResultBounds
from service.errors.query_errors import ResultExpired, ResultStoreDown
from service.model.operations.health import PartState
from tests.contract.shared_places import (
    COLUMNS,
    PREFIX,
    TTL,
    SharedBucket,
    kept,
    rows,
    whole,
    written,
)
from tests.fakes.clock import FakeClock
from tests.integration.object_store.names import Denial
from tests.integration.object_store.server import ObjectStore

UNFINISHED_AFTER = ResultBounds().unfinished_after
FEW = pa.Table.from_batches([rows(0, 3)])
IN_TIME_S = 12.0
"""Two attempts of a second each, and what a busy machine takes."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime.now(UTC))


@pytest.fixture
def place(object_server: ObjectStore, clock: FakeClock) -> SharedBucket:
    return SharedBucket(object_server, object_server.make_bucket(f"b-{uuid4().hex}"), clock)


def other_store(clock: FakeClock, **changes: object) -> ObjectResultStore:
    access = StoreAccess(bucket="none", prefix=PREFIX, timeout_s=1)
    return ObjectResultStore(Bucket(replace(access, **changes), clock), clock, ResultBounds())  # type: ignore[arg-type]


# ---- objects that go, and objects that stay -----------------------------------------------------------


def test_parts_stay_as_long_as_any_query_needs_them(place: SharedBucket) -> None:
    here, there = place.replica(), place.replica()
    origin, second, third = kept(place, here), uuid4(), uuid4()
    data = whole(here, origin)
    assert there.share(origin, second)
    here.drop(origin)
    assert here.share(second, third)
    there.drop(second)
    assert whole(there, third) == data
    assert place.entries() == {str(origin), str(third)}
    here.drop(third)
    assert place.entries() == set()


def test_a_result_that_goes_while_it_is_shared_is_not_shared(place: SharedBucket) -> None:
    here = place.replica()
    query_id = kept(place, here)
    # Another replica has begun to delete it: the manifest goes first.
    place.server.client.delete_object(Bucket=place.bucket, Key=f"{PREFIX}/{query_id}/{NAME}")
    assert not here.share(query_id, uuid4())
    assert place.entries() == set()


def test_what_nobody_deletes_any_more_is_swept(place: SharedBucket, clock: FakeClock) -> None:
    lost, store = place.replica(), place.replica()
    unfinished, origin, sharing = uuid4(), kept(place, lost), uuid4()
    written(place, lost, unfinished)
    place.server.put(place.bucket, f"{PREFIX}/not-a-result/a", b"")
    assert lost.share(origin, sharing)
    # The origin's replica was killed between the manifest and the rest.
    place.server.client.delete_object(Bucket=place.bucket, Key=f"{PREFIX}/{origin}/{NAME}")
    store.sweep()
    assert place.entries() == {str(unfinished), str(origin), str(sharing), "not-a-result"}
    clock.advance(TTL + GRACE + timedelta(minutes=1))
    store.sweep()
    assert place.entries() == {str(unfinished), "not-a-result"}
    clock.advance(UNFINISHED_AFTER)
    store.sweep()
    assert place.entries() == {"not-a-result"}


def test_a_claim_without_a_result_keeps_parts_no_longer_than_unfinished_ones(
    place: SharedBucket, clock: FakeClock
) -> None:
    store = place.replica()
    origin, claimant = uuid4(), uuid4()
    written(place, place.replica(), origin)
    place.server.put(place.bucket, f"{PREFIX}/{origin}/claims/{claimant}", b"")
    clock.advance(UNFINISHED_AFTER - timedelta(minutes=1))
    store.sweep()
    assert place.entries() == {str(origin)}
    clock.advance(timedelta(minutes=2))
    store.sweep()
    assert place.entries() == set()


def test_what_could_not_be_deleted_is_deleted_later(place: SharedBucket) -> None:
    store = place.replica()
    query_id = kept(place, store)
    # Listing, and deletions of several objects, are asked of the bucket.
    with place.server.denying(place.bucket, "list"):
        store.drop(query_id)
    assert NAME in place.names(query_id)
    with pytest.raises(ResultExpired):
        place.replica(total_bytes=1).chunk(uuid4(), 0)
    store.sweep()
    assert place.entries() == set()


def test_a_result_in_the_place_of_one_that_could_not_be_deleted_stays(place: SharedBucket) -> None:
    store = place.replica()
    query_id, other = kept(place, store), uuid4()
    place.server.deny(Denial(place.bucket, "put", NAME), Denial(place.bucket, "list"))
    try:
        # Its claim is written, but neither its manifest nor, after that, the deletion of both.
        assert not store.share(query_id, other)
    finally:
        place.server.deny()
    store.keep(other, written(place, store, other), COLUMNS, is_truncated=True)
    with place.server.denying(place.bucket, "list"):
        store.drop(query_id)
    again = written(place, store, query_id)
    store.sweep()
    store.keep(query_id, again, COLUMNS, is_truncated=True)
    store.sweep()
    assert whole(store, other) == whole(place.replica(), query_id)


class BackwardBucket(Bucket):
    """Deletes the last of several objects first, as a store may, and lets others act in between."""

    meanwhile: Callable[[], object] | None = None

    def delete(self, names: Sequence[tuple[str, ...]]) -> None:
        for steps in reversed(names):
            super().delete([steps])
            act, self.meanwhile = self.meanwhile, None
            if act is not None:
                act()


def test_who_shares_a_result_that_goes_gets_its_parts_or_nothing(
    place: SharedBucket, clock: FakeClock
) -> None:
    here, there = place.replica(), place.replica()
    bucket = BackwardBucket(place.opened().access, clock)
    store = ObjectResultStore(bucket, clock, ResultBounds())
    origin, second, third = kept(place, here), uuid4(), uuid4()
    data = whole(here, origin)
    assert store.share(origin, second)
    shared: list[bool] = []

    def meanwhile() -> None:
        here.drop(origin)
        shared.append(there.share(second, third))

    bucket.meanwhile = meanwhile
    store.drop(second)
    assert not shared[0] or whole(there, third) == data


def test_parts_stay_for_a_manifest_that_only_another_version_can_read(
    place: SharedBucket, clock: FakeClock
) -> None:
    origin, claimant = uuid4(), uuid4()
    written(place, place.replica(), origin)
    place.server.put(place.bucket, f"{PREFIX}/{origin}/claims/{claimant}", b"")
    clock.advance(UNFINISHED_AFTER + timedelta(minutes=2))
    unknown = b'{"version": 1000}'
    place.server.put(place.bucket, f"{PREFIX}/{claimant}/{NAME}", unknown)
    names = place.names(origin)
    bucket = place.opened()
    bounds = ResultBounds()
    Leftovers(bucket, ObjectManifests(bucket), bounds, lambda query_id: query_id == claimant).delete(
        clock.now()
    )
    assert place.names(origin) == names


# ---- a store that does not answer ----------------------------------------------------------------------


def test_a_store_that_stays_silent_ends_each_call_in_time_and_the_next_ones_at_once(
    silent_address: str, clock: FakeClock
) -> None:
    properties = {
        "s3.endpoint": f"http://{silent_address}",
        "s3.access-key-id": "a",
        "s3.secret-access-key": "b",
    }
    store = other_store(clock, properties=properties)
    begun = time.monotonic()
    with pytest.raises(ResultStoreDown):
        store.put(uuid4(), FEW, COLUMNS, is_truncated=False)
    assert time.monotonic() - begun < IN_TIME_S
    begun = time.monotonic()
    for _ in range(50):
        with pytest.raises(ResultStoreDown):
            store.put(uuid4(), FEW, COLUMNS, is_truncated=False)
        with pytest.raises(ResultStoreDown):
            store.manifest(uuid4())
        assert not store.share(uuid4(), uuid4(), "a key")
    assert time.monotonic() - begun < 1


def test_a_store_that_has_no_such_object_answers_again(place: SharedBucket, clock: FakeClock) -> None:
    bucket = place.opened()
    with place.server.denying(place.bucket, "get", status=503), pytest.raises(ResultStoreDown):
        bucket.get("missing")
    with pytest.raises(ResultStoreDown):
        bucket.put(b"", "some")
    clock.advance(timedelta(milliseconds=REST_MS))
    with pytest.raises(ObjectGone):
        bucket.get("missing")
    bucket.put(b"", "some")


def test_the_cause_is_named_without_the_stores_own_words(place: SharedBucket, clock: FakeClock) -> None:
    for changes, detail in (
        ({"bucket": "missing", "properties": place.server.properties}, NO_BUCKET),
        (
            {
                "bucket": place.bucket,
                "properties": place.server.properties | {"s3.secret-access-key": "wrong"},
            },
            REFUSED,
        ),
    ):
        store = other_store(clock, timeout_s=10, **changes)
        assert (found := store.check()) is not None
        assert found.detail == detail
        with pytest.raises(ResultStoreDown) as caught:
            store.put(uuid4(), FEW, COLUMNS, is_truncated=False)
        assert caught.value.detail == detail
    # A store that refuses has answered: what it allows goes on.
    store = place.replica()
    with place.server.denying(place.bucket, "get"), pytest.raises(ResultStoreDown):
        store.chunk(kept(place, store), 0)
    assert place.replica().check() is None


def test_commands_try_the_store_and_name_what_is_wrong(place: SharedBucket) -> None:
    def found(bucket: str, *, is_writing: bool = False) -> Finding:
        settings = Settings.model_validate(
            {"results_url": f"s3://{bucket}/{PREFIX}", "results_properties": place.server.properties}
        )
        [finding] = tried(result_store_checks(settings, is_writing=is_writing))
        return finding

    assert found(place.bucket).state is State.OK
    assert found(place.bucket, is_writing=True).state is State.OK
    assert place.entries() == set()
    missing = found("missing")
    assert missing.state is State.FAILED
    assert missing.text.startswith(NO_BUCKET)
    with place.server.denying(place.bucket, "put"):
        assert found(place.bucket).state is State.OK
        refused = found(place.bucket, is_writing=True)
        assert refused.text.startswith(REFUSED)
        assert place.server.secret not in refused.text
    assert result_store_checks(Settings()) == []


# ---- with a folder before it ---------------------------------------------------------------------------


def local_first(stored: ObjectResultStore, folder: Path, clock: FakeClock) -> LocalFirstResults:
    return LocalFirstResults(FolderResultStore(folder, clock, ResultBounds(time_to_live=TTL)), stored)


def test_rows_of_the_gateway_are_served_while_the_store_is_away(tmp_path: Path, clock: FakeClock) -> None:
    results = local_first(other_store(clock, bucket="missing"), tmp_path / "here", clock)
    query_id = uuid4()
    manifest = results.put(query_id, FEW, COLUMNS, is_truncated=False)
    assert (results.manifest(query_id), results.chunk(query_id, 0)) == (manifest, FEW)
    assert pa.ipc.open_stream(b"".join(results.open(query_id).blocks(0, 10_000))).read_all() == FEW
    assert not results.share(query_id, uuid4(), "a key")
    assert not results.keep_for(query_id, "a key")
    assert [part.state for part in results.health()] == [PartState.DOWN]
    results.drop(query_id)
    with pytest.raises(ResultStoreDown):
        results.chunk(query_id, 0)
    results.close()


def test_rows_of_the_gateway_are_served_from_its_folder_and_by_other_replicas(
    place: SharedBucket, tmp_path: Path, clock: FakeClock
) -> None:
    here = local_first(place.replica(), tmp_path / "here", clock)
    there = local_first(place.replica(), tmp_path / "there", clock)
    few, many, shared = uuid4(), uuid4(), uuid4()
    manifest = here.put(few, FEW, COLUMNS, is_truncated=False)
    here.keep(many, written(place, place.replica(), many), COLUMNS, is_truncated=False)
    assert (there.manifest(few), there.chunk(few, 0)) == (manifest, FEW)
    assert there.chunk(many, 3) == here.chunk(many, 3)
    assert here.keep_for(few, "a key")
    assert there.share(few, shared, "a key")
    with place.server.denying(place.bucket, "get"):
        assert here.chunk(few, 0) == FEW
    here.drop(few)
    assert there.chunk(shared, 0) == FEW
    assert [part.state for part in here.health()] == [PartState.UP]
    assert (here.use.entries, there.use.entries) == (1, 1)
    here.close()
    there.close()


def test_the_repr_of_a_place_shows_no_secret(place: SharedBucket) -> None:
    store = place.replica()
    found = store.place(UUID(int=1))
    assert found is not None
    assert found.properties["s3.secret-access-key"] == place.server.secret
    assert place.server.secret not in repr(found) + repr(place.opened().access)
