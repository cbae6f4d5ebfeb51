"""Anything that looks like a secret is masked, in every setting where an operator may write one."""

from __future__ import annotations

import json
import time

import pytest

from api.bootstrap.settings import Settings
from api.bootstrap.shown_settings import MASK, masked, masked_text


@pytest.mark.parametrize(
    "name",
    [
        "header.Authorization",
        "header.Cookie",
        "header.X-Session-cookie",
        "header.X-Api-Key",
        "adls.connection-string.account.dfs.core.windows.net",
        "adls.connection_string",
        "adls.sas-token.account.dfs.core.windows.net",
        "adls.auth.shared-key.account.key",
        "spark.hadoop.fs.azure.sas.container.account.blob.core.windows.net",
        "spark.hadoop.fs.azure.account.key.account.dfs.core.windows.net",
        "spark.ssl.keyPassword",
        "jdbc.pwd",
        "s3.session-token",
        "url.sig",
        "signature",
        "kafka.sasl.jaas.config",
        "kafka.ssl.keystore.password",
    ],
)
def test_a_property_with_a_secrets_name_is_masked(name: str) -> None:
    secret = {name: "hunter2"}
    settings = Settings(
        catalogs={"lake": secret},
        spark_conf=secret,
        stream_kafka_options=secret,
        ingest_source_properties=secret,
    )
    shown = masked(settings)
    assert shown["catalogs"]["lake"][name] == MASK
    for setting in ("spark_conf", "stream_kafka_options", "ingest_source_properties"):
        assert shown[setting][name] == MASK


@pytest.mark.parametrize(
    "text",
    [
        "https://account.blob.core.windows.net/c?sv=2024&sig=hunter2",
        "https://account.blob.core.windows.net/c?sig=hunter2&sv=2024",
        "https://account.blob.core.windows.net/c?X-Amz-Signature=hunter2",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hunter2;EndpointSuffix=x",
        "BlobEndpoint=https://a/;SharedAccessSignature=sv=2024&sig=hunter2",
        "-Dheader.Authorization=hunter2 -Da=b",
        "Authorization: Bearer hunter2",
        '{"Authorization": "Basic hunter2"}',
        "Cookie: session=1; other=hunter2",
        "required username='me' password='hun hunter2';",
        'required username="me" password="hunter2";',
        "jdbc:postgresql://db/x?user=me&password=hunter2",
        "redis://:hunter2@cache:6379/0",
    ],
)
def test_a_secret_within_a_value_is_masked(text: str) -> None:
    settings = Settings(catalogs={"lake": {"uri": text}}, spark_conf={"spark.any": text})
    assert "hunter2" not in json.dumps(masked(settings))
    assert "hunter2" not in masked_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "s3://bucket/warehouse",
        "https://catalog:8181/api/catalog",
        "file:///lake/design/disaster",
        "jdbc:postgresql://db:5432/lake?sslmode=require",
        "-XX:+UseG1GC -Duser.timezone=UTC",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked_text(text) == text


@pytest.mark.parametrize("part", ["://a:", "key", "authorization:", "sig=", "password='", "cookie    "])
def test_no_text_takes_long(part: str) -> None:
    started = time.perf_counter()
    masked_text(part * 20_000)
    assert time.perf_counter() - started < 5
