"""Objects as sources: found, and read only if they have not changed since."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.adapters.catalogs.store_region import with_region
from service.adapters.sources.find import FoundSources
from service.adapters.sources.open import opened_split
from service.adapters.sources.storage import SourceAccess
from service.errors.source_errors import SourceChanged, SourceDenied, SourceInvalid, SourceNotAllowed
from service.errors.unavailable import StorageDown
from service.model.ingest.sources import SourceBounds, SourceSplit, source_splits
from tests.integration.object_store.server import ObjectStore

pytestmark = pytest.mark.integration

ODD_KEYS = (
    "in/a b.json",
    "in/a+b.json",
    "in/a%b.json",
    "in/a%20b.json",
    "in/a#b&c=d;e.json",
    "in/a?b.json",
    "in/a[1].json",
    "in/é😀.json",
    "in/day=2026-01-01/{x}'\".json",
)


def access(store: ObjectStore, *prefixes: str) -> SourceAccess:
    return SourceAccess(prefixes, with_region(store.properties))


def sources(store: ObjectStore, bucket: str) -> FoundSources:
    return FoundSources(access(store, f"s3://{bucket}/in"), SourceBounds())


def names(store: ObjectStore, bucket: str, pattern: str) -> list[str]:
    found = sources(store, bucket).files(f"s3://{bucket}/{pattern}")
    return [file.uri.removeprefix(f"s3://{bucket}/") for file in found]


def read(store: ObjectStore, bucket: str, split: SourceSplit, between: Callable[[], object] = dict) -> bytes:
    with opened_split(split, access(store, f"s3://{bucket}/in")) as stream:
        first = stream.read(1)
        between()
        return first + stream.read()


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("in/a.json", ["in/a.json"]),
        ("in/*.json", ["in/a.json", "in/b.json"]),
        ("in/*/*.json", ["in/x/d.json"]),
        ("in/**/*.json", ["in/a.json", "in/b.json", "in/x/d.json", "in/x/y/e.json"]),
        ("in/x/**", ["in/x/d.json", "in/x/y/e.json"]),
        ("in/_*.json", ["in/_temporary.json"]),
    ],
)
def test_globs_mean_the_objects_that_files_would_be(
    store: ObjectStore, bucket: str, pattern: str, expected: list[str]
) -> None:
    for key in ("a.json", "b.json", "c.csv", "_temporary.json", ".hidden.json", "x/d.json", "x/y/e.json"):
        store.put(bucket, f"in/{key}", b"{}\n")
    # Consoles create such objects for folders.
    store.put(bucket, "in/x/", b"")
    store.put(bucket, "in-secret/a.json", b"{}\n")
    assert names(store, bucket, pattern) == expected


def test_whatever_a_key_is_called_it_is_found_and_read(store: ObjectStore, bucket: str) -> None:
    for key in ODD_KEYS:
        store.put(bucket, key, key.encode())
    found = sources(store, bucket).files(f"s3://{bucket}/in/**/*.json")
    assert [file.uri for file in found] == sorted(f"s3://{bucket}/{key}" for key in ODD_KEYS)
    for file in found:
        assert f"s3://{bucket}/{read(store, bucket, SourceSplit(file)).decode()}" == file.uri
    assert names(store, bucket, "in/a[[]1].json") == ["in/a[1].json"]
    assert names(store, bucket, "in/é😀.json") == ["in/é😀.json"]


@pytest.mark.parametrize("key", ["in/a%2Fb.json", "in/a\\b.json"])
def test_a_key_that_no_address_can_have_is_reported(store: ObjectStore, bucket: str, key: str) -> None:
    store.put(bucket, key, b"{}\n")
    with pytest.raises(SourceInvalid, match="Rename it"):
        names(store, bucket, "in/*.json")


def test_an_object_is_read_whole_or_in_splits(store: ObjectStore, bucket: str) -> None:
    text = b"".join(b'{"id": %d}\n' % number for number in range(1000))
    store.put(bucket, "in/a.json", text)
    [file] = sources(store, bucket).files(f"s3://{bucket}/in/*.json")
    assert read(store, bucket, SourceSplit(file)) == text
    splits = source_splits([file], 3000, is_splittable=True)
    assert len(splits) > 3
    assert b"".join(read(store, bucket, split) for split in splits) == text


def test_what_is_not_there_is_reported_and_so_is_a_folder(store: ObjectStore, bucket: str) -> None:
    store.put(bucket, "in/x/a.json", b"{}\n")
    for pattern in ("in/nothing.json", "in/*.parquet", "in/nowhere/*.json", "in/x/a.json/*"):
        with pytest.raises(SourceInvalid, match="There is no file"):
            names(store, bucket, pattern)
    with pytest.raises(SourceInvalid, match="is a folder"):
        names(store, bucket, "in/x")
    with pytest.raises(SourceInvalid, match="There is no file"):
        FoundSources(access(store, "s3://no-such-bucket/in"), SourceBounds()).files(
            "s3://no-such-bucket/in/*"
        )


def test_other_buckets_and_other_folders_are_refused(store: ObjectStore, bucket: str) -> None:
    for uri in (
        "s3://other/in/a.json",
        f"s3://{bucket}/in-secret/a",
        f"s3://{bucket}/*",
        f"s3a://{bucket}/in/a",
    ):
        with pytest.raises(SourceNotAllowed, match="outside of the locations that callers may read"):
            sources(store, bucket).files(uri)


def test_a_store_that_refuses_is_reported_without_its_own_words(store: ObjectStore, bucket: str) -> None:
    store.put(bucket, "in/a.json", b"{}\n")
    [file] = sources(store, bucket).files(f"s3://{bucket}/in/*.json")
    with (
        store.denying(bucket, "list"),
        pytest.raises(SourceDenied, match=r"in/\*\.json refuses the gateway") as refused,
    ):
        names(store, bucket, "in/*.json")
    assert store.endpoint not in refused.value.detail
    with store.denying(bucket, "get"):
        with pytest.raises(SourceDenied):
            names(store, bucket, "in/a.json")
        with pytest.raises(SourceDenied):
            read(store, bucket, SourceSplit(file))


def test_a_wrong_key_or_secret_is_reported(store: ObjectStore, bucket: str) -> None:
    for wrong in ({"s3.access-key-id": "AKIA0"}, {"s3.secret-access-key": "wrong"}):
        other = SourceAccess((f"s3://{bucket}",), with_region(store.properties) | wrong)
        with pytest.raises(SourceDenied) as refused:
            FoundSources(other, SourceBounds()).files(f"s3://{bucket}/in/*")
        assert store.secret not in str(refused.value.__cause__)


def test_an_object_that_was_replaced_or_deleted_since_is_not_read(store: ObjectStore, bucket: str) -> None:
    store.put(bucket, "in/a.json", b"one\n")
    [file] = sources(store, bucket).files(f"s3://{bucket}/in/a.json")
    store.put(bucket, "in/a.json", b"other\n")
    with pytest.raises(SourceChanged, match="was changed"):
        read(store, bucket, SourceSplit(file))
    store.client.delete_object(Bucket=bucket, Key="in/a.json")
    with pytest.raises(SourceChanged, match="no longer exists"):
        read(store, bucket, SourceSplit(file))


def test_an_object_that_is_replaced_while_it_is_read_is_noticed_though_it_looks_the_same(
    store: ObjectStore, bucket: str
) -> None:
    """The new object has the same size, and was written within the same second."""
    store.put(bucket, "in/a.json", b"one\n")
    [file] = sources(store, bucket).files(f"s3://{bucket}/in/a.json")
    with pytest.raises(SourceChanged):
        read(store, bucket, SourceSplit(file), lambda: store.put(bucket, "in/a.json", b"two\n"))


def test_parts_of_a_large_object_are_parts_of_the_one_that_was_listed(
    store: ObjectStore, bucket: str
) -> None:
    store.put(bucket, "in/a.json", b"one\ntwo\n")
    [file] = sources(store, bucket).files(f"s3://{bucket}/in/a.json")
    first, second = source_splits([file], 4, is_splittable=True)
    assert read(store, bucket, first) == b"one\n"
    store.put(bucket, "in/a.json", b"1111111\n")
    with pytest.raises(SourceChanged, match="was changed"):
        read(store, bucket, second)


def test_a_store_that_does_not_answer_is_reported(store: ObjectStore, bucket: str) -> None:
    nobody = with_region(store.properties | {"s3.endpoint": "http://127.0.0.1:9"})
    with pytest.raises(StorageDown, match="does not answer"):
        FoundSources(SourceAccess((f"s3://{bucket}",), nobody), SourceBounds()).files(f"s3://{bucket}/in/*")
