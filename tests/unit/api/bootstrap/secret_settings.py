"""A distinctive secret in every setting that can hold one, and why the other settings hold none.

`test_secret_settings.py` fails if a new setting is in neither of these tables.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from pydantic import SecretStr

from api.bootstrap.settings import Settings


def secret(number: int) -> str:
    """Returns a text that occurs nowhere else, with characters that URLs encode."""
    return f"S3cr+t-{number:04d}-zq"


SECRET_VALUES: Mapping[str, Any] = {
    "metrics_store_url": f"postgresql://sluice:{secret(1)}@127.0.0.1:1/sluice?sslpassword={secret(2)}",
    "filter_cache_url": f"redis://sluice:{secret(3)}@127.0.0.1:1/0",
    "traces_headers": f"authorization=Bearer {secret(4)},x-tenant-key={secret(5)}",
    "lineage_api_key": secret(6),
    "catalogs": {
        "lake": {
            "type": "sql",
            "uri": f"postgresql+psycopg://lake:{secret(7)}@127.0.0.1:1/lake",
            "warehouse": "file:///lake",
            "s3.secret-access-key": secret(8),
            "s3.session-token": secret(9),
        },
        "rest": {
            "type": "rest",
            "uri": "http://127.0.0.1:1",
            "token": secret(10),
            "credential": f"client:{secret(11)}",
            "header.X-Api-Key": secret(12),
            "adls.connection-string": f"AccountName=a;AccountKey={secret(13)};EndpointSuffix=x",
        },
    },
    "spark_conf": {
        "spark.hadoop.fs.s3a.secret.key": secret(14),
        "spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net": secret(15),
        "spark.executor.extraJavaOptions": f"-Djavax.net.ssl.trustStorePassword={secret(16)}",
    },
    "stream_kafka_options": {
        "kafka.sasl.jaas.config": f"a.B required username='me' password='{secret(17)}';",
        "kafka.ssl.keystore.password": secret(18),
    },
    "ingest_source_properties": {"s3.secret-access-key": secret(19), "gcs.oauth2.token": secret(20)},
    "console_login_secrets": {"corp": secret(25)},
    "lineage_kafka_options": {"sasl.password": secret(21), "ssl.key.pem": secret(22)},
    "results_properties": {"s3.secret-access-key": secret(23), "s3.session-token": secret(24)},
}
"""Values with secrets, by the name of the setting."""
COUNT = 25
ELSEWHERE: Mapping[str, str] = {
    "lineage_url": "an address with a user is refused",
    "traces_endpoint": "an address with a user is refused",
    "oidc_issuers": "an address with a user is refused; tokens are checked with public keys",
    "console_logins": "the secrets of its clients are in a setting of their own; parameters go to browsers",
    "console_url": "only a scheme, a host and a port",
    "api_tokens": "digests of tokens, which are masked all the same",
    "tls_key_file": "the path of a key, whose contents are looked for in the integration test",
}
"""Settings that are about secrets and hold none themselves."""
NAMES_AND_PLACES = frozenset(
    {
        *("host", "flight_host", "hive_host", "spark_master", "spark_driver_memory", "session_time_zone"),
        "comet_memory",
        *("data_dir", "jars_dir", "tls_certificate_file", "tls_client_ca_file", "tls_principal_prefix"),
        *("admins", "caller_classes", "principal_roles", "resource_groups"),
        *("default_catalog", "default_schema", "parquet_tables", "lineage_namespace", "results_url"),
        *("spark_packages", "spark_extra_packages", "spark_jars"),
        *("ingest_tables", "ingest_created_tables", "ingest_evolved_tables", "ingest_source_prefixes"),
        *("stream_checkpoints", "stream_kafka_servers", "stream_kafka_topics", "sql_write_tables"),
    }
)
"""Names, places and groups: who writes a URL with a password into one finds it masked."""


def settings_with_text() -> Iterator[str]:
    """Yields the names of the settings whose type can hold a text that an operator writes."""
    for name, field in Settings.model_fields.items():
        if _holds_text(field.annotation):
            yield name


def _holds_text(kind: object) -> bool:
    if kind in (str, SecretStr, Path, Any):
        return True
    inner = [each for each in get_args(kind) if each is not Ellipsis]
    if inner:
        return any(_holds_text(each) for each in inner)
    # A model of its own, such as an issuer, holds texts; an enumeration does not.
    return isinstance(kind, type) and hasattr(kind, "model_fields")


def spellings(text: str) -> frozenset[str]:
    """Returns the forms in which a secret could be found."""
    encoded = base64.b64encode(text.encode()).decode().rstrip("=")
    return frozenset({text, quote(text), quote(text, safe=""), encoded})


def secrets() -> list[str]:
    """Returns all secrets of `SECRET_VALUES`."""
    return [secret(number) for number in range(1, COUNT + 1)]


def found_in(text: str) -> list[str]:
    """Returns the secrets that a text shows in any form."""
    return [each for each in secrets() if any(spelled in text for spelled in spellings(each))]
