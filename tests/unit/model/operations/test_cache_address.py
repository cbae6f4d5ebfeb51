"""The meaning of a filter cache's URL."""

from __future__ import annotations

from service.model.operations.cache_address import CacheAddress, CacheKind, cache_address


def test_one_server() -> None:
    assert cache_address("redis://u:p%40w@Cache:6380/2?socket_timeout=0.2&client_name=x") == CacheAddress(
        CacheKind.SERVER,
        (("cache", 6380),),
        username="u",
        password="p@w",
        database=2,
        options={"socket_timeout": 0.2, "client_name": "x"},
    )


def test_sentinels_have_a_port_and_credentials_of_their_own() -> None:
    options = "sentinel_username=s&sentinel_password=q&ssl_ca_certs=/ca.pem"
    url = f"rediss+sentinel://:pw@a,b:26380/cache/1?{options}"
    assert cache_address(url) == CacheAddress(
        CacheKind.SENTINEL,
        (("a", 26379), ("b", 26380)),
        is_tls=True,
        password="pw",
        database=1,
        master="cache",
        sentinel_username="s",
        sentinel_password="q",
        options={"ssl_ca_certs": "/ca.pem"},
    )
    assert cache_address(url).secrets == ("pw", "q")


def test_nodes_of_a_cluster() -> None:
    address = cache_address("redis+cluster://[::1]:7000,b")
    assert address == CacheAddress(CacheKind.CLUSTER, (("::1", 7000), ("b", 6379)))


def test_no_secret_is_in_its_text() -> None:
    url = "redis+sentinel://ann:s3cret@a/cache?sentinel_username=bob&sentinel_password=t0psecret"
    text = repr(cache_address(url))
    assert not [secret for secret in ("ann", "s3cret", "bob", "t0psecret") if secret in text]
