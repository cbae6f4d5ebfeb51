"""Where results are kept: the URLs that name a place, and what a store of objects needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from api.bootstrap.parts.find_jars import unfetched
from api.bootstrap.settings import Settings
from api.bootstrap.wiring.build_results import store_access


def settings_of(**given: object) -> Settings:
    return Settings.model_validate({"port": 0} | given)


@pytest.mark.parametrize(
    ("url", "bucket", "prefix"),
    [("s3://b", "b", ""), ("s3://b/", "b", ""), ("s3://b/x/y/", "b", "x/y"), ("s3://a.b-c/x", "a.b-c", "x")],
)
def test_a_url_names_a_bucket_and_a_prefix(url: str, bucket: str, prefix: str) -> None:
    access = store_access(settings_of(results_url=url))
    assert access is not None
    assert (access.bucket, access.prefix) == (bucket, prefix)


@pytest.mark.parametrize(
    "url",
    [
        *("s3://", "s3:///x", "s3://user:word@b/x", "s3://b/x?versionId=1", "s3://b/x#y", "s3://b/x//y"),
        *("s3a://b/x", "https://b/x", "b/x", "file://host/x", "file:///"),
    ],
)
def test_any_other_url_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        settings_of(results_url=url)


def test_properties_that_one_of_the_clients_does_not_know_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"s3\.role-arn is not one of"):
        settings_of(results_url="s3://b/x", results_properties={"s3.role-arn": "arn:aws:iam::1:role/x"})


@pytest.mark.parametrize("endpoint", ["store:9000", "//store:9000", "http://", "http://a b"])
def test_an_endpoint_that_is_no_url_is_refused(endpoint: str) -> None:
    with pytest.raises(ValidationError, match="has to be a URL"):
        settings_of(results_url="s3://b/x", results_properties={"s3.endpoint": endpoint})


def test_calls_of_executors_end_in_time_and_go_to_the_same_store() -> None:
    given = {"s3.endpoint": "http://store:9000", "s3.access-key-id": "a", "s3.secret-access-key": "b"}
    access = store_access(
        settings_of(results_url="s3://b/x", results_properties=given, results_timeout_s=1.5)
    )
    assert access is not None
    properties = access.for_executors()
    assert properties["http-client.apache.socket-timeout-ms"] == "1500"
    assert properties["s3.path-style-access"] == "true"
    assert properties["client.region"]
    assert given.items() <= properties.items()


def test_the_jar_for_s3_comes_with_a_store_of_objects_alone(tmp_path: Path) -> None:
    for url, is_needed in (("s3://b/x", True), ("file:///shared", False)):
        found = unfetched(settings_of(results_url=url), (), tmp_path, is_reading_kafka=False)
        assert any("iceberg-aws-bundle" in coordinate for coordinate in found) == is_needed
