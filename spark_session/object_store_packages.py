"""The jars by which Iceberg reaches object stores: large, so only those of the stores that are used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

_AWS, _GCP, _AZURE = "iceberg-aws-bundle", "iceberg-gcp-bundle", "iceberg-azure-bundle"
_BY_SCHEME: Mapping[str, str] = {
    **dict.fromkeys(("s3", "s3a", "s3n"), _AWS),
    "gs": _GCP,
    **dict.fromkeys(("abfs", "abfss"), _AZURE),
}
_BY_PREFIX: Mapping[str, str] = {
    **dict.fromkeys(("s3.", "client.region", "client.access-key-id", "client.role-arn"), _AWS),
    "gcs.": _GCP,
    "adls.": _AZURE,
}
# A bundle has to be of the very version that the runtime was built with.
_RUNTIME = re.compile(r"org\.apache\.iceberg:iceberg-spark-runtime-[^:]+:(?P<version>[^:]+)")


def with_object_stores(packages: Iterable[str], catalogs: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """The coordinates, with Iceberg's bundles for the object stores that catalogs' properties name.

    >>> runtime = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
    >>> with_object_stores([runtime], [{"type": "sql", "warehouse": "s3://bucket/warehouse"}])[1:]
    ('org.apache.iceberg:iceberg-aws-bundle:1.12.0',)
    >>> with_object_stores([runtime], [{"type": "sql", "warehouse": "file:///warehouse"}])[1:]
    ()
    """
    named = tuple(packages)
    version = next((found["version"] for each in named if (found := _RUNTIME.fullmatch(each))), None)
    if version is None:
        return named
    wanted = sorted({bundle for each in catalogs for bundle in _bundles(each)})
    missing = (each for each in wanted if not any(f":{each}:" in package for package in named))
    return (*named, *(f"org.apache.iceberg:{each}:{version}" for each in missing))


def _bundles(properties: Mapping[str, str]) -> Iterator[str]:
    if properties.get("type") == "glue":
        yield _AWS
    scheme = urlsplit(properties.get("warehouse", "")).scheme
    if scheme in _BY_SCHEME:
        yield _BY_SCHEME[scheme]
    for prefix, bundle in _BY_PREFIX.items():
        if any(each.startswith(prefix) for each in properties):
            yield bundle
