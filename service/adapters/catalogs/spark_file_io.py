"""Converts PyIceberg's properties for a catalog's files to those that Spark needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from service.errors.gateway_error import CannotStart

_FILE_IO: Mapping[str, str] = {
    "s3": "org.apache.iceberg.aws.s3.S3FileIO",
    "s3a": "org.apache.iceberg.aws.s3.S3FileIO",
    "s3n": "org.apache.iceberg.aws.s3.S3FileIO",
    "gs": "org.apache.iceberg.gcp.gcs.GCSFileIO",
    "abfs": "org.apache.iceberg.azure.adlsv2.ADLSFileIO",
    "abfss": "org.apache.iceberg.azure.adlsv2.ADLSFileIO",
}
# Iceberg's name on the left, PyIceberg's on the right: the first that is set wins, as in PyIceberg.
_RENAMED: Mapping[str, tuple[str, ...]] = {
    "s3.access-key-id": ("s3.access-key-id", "client.access-key-id"),
    "s3.secret-access-key": ("s3.secret-access-key", "client.secret-access-key"),
    "s3.session-token": ("s3.session-token", "client.session-token"),
    "http-client.proxy-endpoint": ("s3.proxy-uri",),
    "client.assume-role.arn": ("s3.role-arn", "client.role-arn"),
    "client.assume-role.session-name": ("s3.role-session-name", "client.role-session-name"),
    "adls.auth.shared-key.account.name": ("adls.account-name",),
    "adls.auth.shared-key.account.key": ("adls.account-key",),
}
_REGIONS = ("s3.region", "client.region", "glue.region")
_GLUE_REGIONS = ("glue.region", "client.region", "s3.region")
# Set here or by `spark_catalog_properties`, or meant for PyIceberg alone.
_NOT_PASSED_ON = frozenset(
    {
        "type",
        "uri",
        "warehouse",
        "py-io-impl",
        "echo",
        "pool_pre_ping",
        "init_catalog_tables",
        "schema_version",
    }
    | {"s3.force-virtual-addressing", *_REGIONS}
    | {source for sources in _RENAMED.values() for source in sources}
)
_GLUE_KEYS = ("glue.access-key-id", "client.access-key-id")


def file_io_properties(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Returns everything but the catalog's own address; properties with the same name in both stay.

    Raises:
        CannotStart: Glue is given keys as properties, which Iceberg in Java cannot take.

    >>> file_io_properties("lake", {"type": "rest", "s3.region": "eu-central-1", "token": "t"})
    {'token': 't', 'client.region': 'eu-central-1'}
    """
    is_glue = properties.get("type") == "glue"
    if is_glue and _first(properties, _GLUE_KEYS):
        raise CannotStart(
            f"Catalog {name}: Spark cannot take the property {_GLUE_KEYS[0]} or {_GLUE_KEYS[1]};"
            " give AWS credentials in the environment or in a profile."
        )
    passed_on = {key: value for key, value in properties.items() if key not in _NOT_PASSED_ON}
    return (
        _chosen_file_io(properties)
        | passed_on
        | _renamed(properties)
        | _addressing(properties)
        | _region(properties)
    )


def _chosen_file_io(properties: Mapping[str, str]) -> dict[str, str]:
    # A REST catalog chooses by each file's address, and Glue uses S3 by default.
    if properties.get("type") in ("rest", "glue"):
        return {}
    chosen = _FILE_IO.get(urlsplit(properties.get("warehouse", "")).scheme)
    return {"io-impl": chosen} if chosen else {}


def _renamed(properties: Mapping[str, str]) -> dict[str, str]:
    found = {name: _first(properties, sources) for name, sources in _RENAMED.items()}
    renamed = {name: value for name, value in found.items() if value}
    if "client.assume-role.arn" in renamed:
        renamed["client.factory"] = "org.apache.iceberg.aws.AssumeRoleAwsClientFactory"
    return renamed


def _addressing(properties: Mapping[str, str]) -> dict[str, str]:
    if "s3.path-style-access" in properties:
        return {}
    wanted = properties.get("s3.force-virtual-addressing")
    if wanted is not None:
        return {"s3.path-style-access": "false" if wanted.lower() in ("true", "1", "yes", "on") else "true"}
    # PyIceberg uses path-style access as soon as a custom endpoint is set.
    return {"s3.path-style-access": "true"} if "s3.endpoint" in properties else {}


def _region(properties: Mapping[str, str]) -> dict[str, str]:
    is_glue = properties.get("type") == "glue"
    region = _first(properties, _GLUE_REGIONS if is_glue else _REGIONS)
    if not region:
        return {}
    regions = {"client.region": region}
    if "s3.role-arn" in properties or "client.role-arn" in properties:
        regions["client.assume-role.region"] = region
    # Iceberg in Java has one region for Glue and S3 together.
    if is_glue and _first(properties, _REGIONS) != region:
        regions["s3.cross-region-access-enabled"] = "true"
    return regions


def _first(properties: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((properties[name] for name in names if properties.get(name)), None)
