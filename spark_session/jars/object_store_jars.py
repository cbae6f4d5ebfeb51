"""The jar by which Iceberg reaches S3. It is large, so only gateways with tables there fetch it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from spark_session.jars.jars import resolve
from spark_session.jars.pinned_jars import pinned_jars

_BUNDLE = "org.apache.iceberg:iceberg-aws-bundle"
# Checksums for the default runtime.
PINNED_BUNDLES = MappingProxyType(
    {f"{_BUNDLE}:1.12.0": "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957"}
)
_SCHEMES = frozenset({"s3", "s3a", "s3n"})
_PREFIXES = ("s3.", "client.region", "client.access-key-id", "client.role-arn")
# A bundle of another version than the runtime's lacks classes.
_RUNTIME = re.compile(r"org\.apache\.iceberg:iceberg-spark-runtime-[^:]+:(?P<version>[^:]+)")


def object_store_jars(
    packages: Sequence[str], catalogs: Iterable[Mapping[str, str]], into: Path
) -> tuple[Path, ...]:
    """Returns the jar for S3 in addition to those of `packages`, if a catalog's properties name it.

    Raises:
        CannotStart: as `pinned_jars` does.
    """
    bundle = missing_bundle(packages, catalogs)
    if bundle is None:
        return ()
    if is_pinned(bundle):
        return pinned_jars({bundle: PINNED_BUNDLES[bundle]}, into)
    return resolve([bundle], into)


def is_pinned(bundle: str) -> bool:
    """Whether every byte of this bundle is known in advance, so that it comes alone."""
    return bundle in PINNED_BUNDLES


def missing_bundle(packages: Sequence[str], catalogs: Iterable[Mapping[str, str]]) -> str | None:
    """Returns the coordinate of Iceberg's bundle for S3, if it is needed and the operator has not named one.

    >>> runtime = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
    >>> missing_bundle([runtime], [{"type": "sql", "warehouse": "s3://bucket/warehouse"}])
    'org.apache.iceberg:iceberg-aws-bundle:1.12.0'
    >>> missing_bundle([runtime], [{"type": "sql", "warehouse": "file:///warehouse"}])
    """
    version = next((found["version"] for package in packages if (found := _RUNTIME.fullmatch(package))), None)
    is_named = any(package.startswith(f"{_BUNDLE}:") for package in packages)
    if version is None or is_named or not any(map(_is_in_s3, catalogs)):
        return None
    return f"{_BUNDLE}:{version}"


def _is_in_s3(properties: Mapping[str, str]) -> bool:
    return (
        properties.get("type") == "glue"
        or urlsplit(properties.get("warehouse", "")).scheme in _SCHEMES
        or any(name.startswith(_PREFIXES) for name in properties)
    )
