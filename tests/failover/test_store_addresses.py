"""Real servers behind addresses of several hosts, of sentinels and of a cluster, and behind TLS."""

from __future__ import annotations

import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis
from sqlalchemy import NullPool, text
from sqlalchemy.exc import OperationalError

import migrations
from service.adapters.clock import SystemClock
from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.examining.store_answers import ask_filter_cache, ask_metrics_store
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.adapters.postgres.query_records.metrics_store import PostgresQueryStore
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.errors.unavailable import FilterCacheDown, MetricsStoreDown
from service.model.filters.key_set import FilterSource
from service.model.operations.health import PartState
from tests.failover.valkey_group import MASTER, Watched, cluster, watched
from tests.fakes.filters import Collecting, date_filter
from tests.fakes.query_records import short_record
from tests.integration.servers import Valkey, valkey
from tests.integration.tls import Authority, tls_in_front_of
from tests.polling import until

pytestmark = pytest.mark.integration

NOBODY = "127.0.0.1:9"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    path = Path(tempfile.mkdtemp(prefix="sluice-addresses-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def postgres(folder: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres.start(folder / "postgres", ("metrics",))
    migrations.upgrade(server.url("metrics"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def cache() -> Iterator[Valkey]:
    with valkey() as server:
        yield server


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def authority(folder: Path) -> Authority:
    return Authority(folder / "authority")


def of_hosts(server: EmbeddedPostgres, *hosts: str, options: str = "") -> str:
    return f"postgresql://postgres:{server.password}@{','.join(hosts)}/metrics{options}"


def at(server: EmbeddedPostgres) -> str:
    return f"127.0.0.1:{server.port}"


def cached(url: str) -> RedisFilterCache:
    return RedisFilterCache(url, SystemClock(), FilterCacheBounds(local_bytes=0))


# ---- PostgreSQL ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_one_of_two_hosts_is_enough(postgres: EmbeddedPostgres, order: tuple[int, int]) -> None:
    hosts = [(at(postgres), NOBODY)[index] for index in order]
    record = short_record()
    with closing(PostgresQueryStore(of_hosts(postgres, *hosts))) as store:
        store.record([record])
        assert store.find(record.query_id) == record
        assert store.health().state is PartState.UP
    assert migrations.is_current(of_hosts(postgres, *hosts))


def test_a_host_that_says_nothing_is_passed_over(postgres: EmbeddedPostgres, silent: str) -> None:
    with closing(PostgresQueryStore(of_hosts(postgres, silent, at(postgres)))) as store:
        store.record([short_record()])


def test_without_any_host_it_is_down_and_no_address_is_reported(postgres: EmbeddedPostgres) -> None:
    store = PostgresQueryStore(of_hosts(postgres, NOBODY, "127.0.0.1:10"))
    with closing(store), pytest.raises(MetricsStoreDown) as down:
        store.record([short_record()])
    assert "127.0.0.1" not in down.value.detail


def test_a_server_that_takes_no_writes_is_none(postgres: EmbeddedPostgres) -> None:
    read_only = "?options=-c%20default_transaction_read_only%3Don"
    url = of_hosts(postgres, at(postgres), NOBODY, options=read_only)
    with closing(PostgresQueryStore(url)) as store, pytest.raises(MetricsStoreDown):
        store.record([short_record()])


def test_a_connection_that_says_nothing_is_given_up(postgres: EmbeddedPostgres) -> None:
    engine = store_engine(postgres.url("metrics"), CONNECTION, silent_at_most_s=0.5, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            began_s = time.monotonic()
            with pytest.raises(OperationalError) as lost:
                connection.execute(text("SELECT pg_sleep(8)"))
            assert time.monotonic() - began_s < 6
            assert lost.value.connection_invalidated
        with engine.connect() as connection:
            assert connection.scalar(text("SELECT 1")) == 1
    finally:
        engine.dispose()


def test_the_certificate_of_postgresql_is_checked(
    postgres: EmbeddedPostgres, authority: Authority, folder: Path
) -> None:
    certificate = authority.certificate("127.0.0.1")
    strict = f"?sslmode=verify-full&sslrootcert={authority.ca}"
    with tls_in_front_of(postgres.port, certificate, is_postgres=True) as port:
        url = of_hosts(postgres, NOBODY, f"127.0.0.1:{port}", options=strict)
        with closing(PostgresQueryStore(url)) as store:
            record = short_record()
            store.record([record])
            assert store.find(record.query_id) == record
        other = Authority(folder / "other", "other")
        trusting = f"?sslmode=verify-full&sslrootcert={other.ca}"
        unknown = of_hosts(postgres, f"127.0.0.1:{port}", options=trusting)
        with closing(PostgresQueryStore(unknown)) as store, pytest.raises(MetricsStoreDown):
            store.record([short_record()])
    with tls_in_front_of(postgres.port, authority.certificate("db.example"), is_postgres=True) as port:
        wrong_name = of_hosts(postgres, f"127.0.0.1:{port}", options=strict)
        with closing(PostgresQueryStore(wrong_name)) as store, pytest.raises(MetricsStoreDown):
            store.record([short_record()])


def test_a_server_without_tls_is_refused_where_it_is_asked_for(
    postgres: EmbeddedPostgres, authority: Authority
) -> None:
    url = of_hosts(postgres, at(postgres), options=f"?sslmode=verify-full&sslrootcert={authority.ca}")
    with closing(PostgresQueryStore(url)) as store, pytest.raises(MetricsStoreDown):
        store.record([short_record()])


def test_doctor_says_how_many_hosts_answer_and_that_nothing_waits_for_a_standby(
    postgres: EmbeddedPostgres,
) -> None:
    answer = ask_metrics_store(of_hosts(postgres, NOBODY, at(postgres)), SystemClock())
    assert answer.remarks == ("without TLS", "1 of 2 hosts answer", "commits wait for no standby")
    assert [cure.partition(":")[0] for cure in answer.cures] == [
        "Set synchronous_standby_names",
        "Restart the server that does not answer",
    ]
    assert ask_metrics_store(postgres.url("metrics"), SystemClock()).remarks == ("without TLS",)


# ---- the filter cache ------------------------------------------------------------------------------


def test_keys_go_through_tls_and_the_certificate_is_checked(
    cache: Valkey, authority: Authority, folder: Path
) -> None:
    with tls_in_front_of(cache.port, authority.certificate("127.0.0.1")) as port:
        url = f"rediss://:{cache.password}@127.0.0.1:{port}/0?ssl_ca_certs={authority.ca}"
        with closing(cached(url)) as replica:
            wanted = date_filter()
            assert replica.obtain(wanted, Collecting(), 10).note == ""
            assert replica.obtain(wanted, Collecting(), 10).source is FilterSource.CACHED
            assert replica.forget(None) == 1
        other = Authority(folder / "others", "others")
        with closing(cached(url.replace(str(authority.ca), str(other.ca)))) as replica:
            assert replica.health().state is PartState.DOWN
            assert replica.obtain(date_filter(), Collecting(), 10).source is FilterSource.COLLECTED
        assert ask_filter_cache(url, SystemClock()).server.startswith("Valkey")
    with tls_in_front_of(cache.port, authority.certificate("cache.example")) as port:
        url = f"rediss://:{cache.password}@127.0.0.1:{port}/0?ssl_ca_certs={authority.ca}"
        with closing(cached(url)) as replica:
            assert replica.health().state is PartState.DOWN


@pytest.fixture(scope="module")
def group(folder: Path) -> Iterator[Watched]:
    with watched(folder / "watched", sentinel_count=1, down_after_ms=500) as running:
        yield running


def test_sentinels_say_where_the_master_is_and_where_it_is_then(group: Watched) -> None:
    hosts = f"{NOBODY},127.0.0.1:{group.sentinels[0].port}"
    before = f"redis+sentinel://:{group.password}@{hosts}/{MASTER}"
    answer = ask_filter_cache(before, SystemClock())
    assert answer.remarks == ("1 of 2 sentinels know it",)
    assert len(answer.cures) == 1
    with closing(cached(before)) as replica:
        wanted = date_filter()
        assert replica.obtain(wanted, Collecting(), 10).note == ""
        assert replica.obtain(wanted, Collecting(), 10).source is FilterSource.CACHED
        until(lambda: replicated(group))
        group.master.kill()
        # No query waits for it.
        began_s = time.monotonic()
        assert replica.obtain(date_filter(), Collecting(), 10).source is FilterSource.COLLECTED
        assert time.monotonic() - began_s < 5
        until(lambda: replica.health().state is PartState.UP, 60)
        until(lambda: replica.obtain(wanted, Collecting(), 10).source is FilterSource.CACHED)


def replicated(group: Watched) -> bool:
    with group.replica.client() as client:
        return int(client.dbsize()) > 0


def test_a_master_that_no_sentinel_knows_is_down(group: Watched) -> None:
    url = group.url.replace(f"/{MASTER}", "/nobody")
    with closing(cached(url)) as replica:
        assert replica.health().state is PartState.DOWN
    with pytest.raises(FilterCacheDown):
        ask_filter_cache(url, SystemClock())


def test_a_replica_that_was_the_master_is_left(cache: Valkey) -> None:
    with closing(cached(cache.url)) as replica, redis.Redis.from_url(cache.url) as client:
        assert replica.obtain(date_filter(), Collecting(), 10).note == ""
        client.replicaof("127.0.0.1", "9")
        try:
            with pytest.raises(FilterCacheDown, match="is a replica"):
                replica.forget(None)
        finally:
            client.replicaof("NO", "ONE")


def test_a_cluster_has_all_that_a_server_has(folder: Path) -> None:
    with cluster(folder / "cluster", replica_count=0) as running, closing(cached(running.url)) as replica:
        collect = Collecting()
        wanted = [date_filter() for _ in range(20)]
        for dynamic_filter in wanted:
            assert replica.obtain(dynamic_filter, collect, 10).note == ""
            assert replica.obtain(dynamic_filter, collect, 10).source is FilterSource.CACHED
        assert collect.count == len(wanted)
        assert replica.health().state is PartState.UP
        assert len(replica.entries(100)) == len(wanted)
        assert replica.forget(wanted[0].fingerprint) == 1
        assert replica.forget(None) == len(wanted) - 1
        assert replica.entries(100) == []
        answer = ask_filter_cache(running.url, SystemClock())
        assert answer.remarks == ("3 primaries and 0 replicas",)


def test_a_cluster_that_is_not_there_costs_a_moment() -> None:
    with closing(cached(f"redis+cluster://{NOBODY},127.0.0.1:10")) as replica:
        assert replica.health().state is PartState.DOWN
        assert replica.obtain(date_filter(), Collecting(), 10).source is FilterSource.COLLECTED
