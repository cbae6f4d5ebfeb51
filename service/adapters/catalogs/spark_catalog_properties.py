"""Converts a catalog's properties from PyIceberg's names to Spark's: one setting block for both.

Sources: PyIceberg's configuration page; Iceberg's pages on Spark configuration, JDBC and AWS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from service.adapters.catalogs.jdbc_address import ANSWER_WITHIN_S, CONNECT_WITHIN_S, jdbc_properties
from service.adapters.catalogs.spark_file_io import file_io_properties
from service.errors.gateway_error import CannotStart

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Manifests never change: they are read once, and cached in the driver within Iceberg's own bounds.
_CACHE_PROPERTIES: Mapping[str, str] = {"io.manifest.cache-enabled": "true"}
_SENT_ONCE = "sluice.catalogs.SqlCatalog"
"""Iceberg's JDBC catalog, which does not repeat a change that may have been applied."""
_RESERVED = frozenset({"spark_catalog", "system"})
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "sql": ("uri", "warehouse"),
    "rest": ("uri",),
    "hive": ("uri",),
    "glue": ("warehouse",),
}


def spark_catalog_properties(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Returns Spark's `spark.sql.catalog.<name>` properties for a catalog with PyIceberg's properties.

    Raises:
        CannotStart: the name or the type is not possible, or a property is missing or cannot be Spark's.

    >>> spark = spark_catalog_properties("lake", {"type": "rest", "uri": "http://catalog:8181"})
    >>> spark["spark.sql.catalog.lake.type"], spark["spark.sql.catalog.lake.uri"]
    ('rest', 'http://catalog:8181')
    """
    check_catalog(name, properties)
    prefix = f"spark.sql.catalog.{name}"
    inner = dict(_CACHE_PROPERTIES) | _address(name, properties) | file_io_properties(name, properties)
    if warehouse := properties.get("warehouse"):
        inner["warehouse"] = warehouse
    # The next query must see a commit that was made outside.
    inner["cache-enabled"] = "false"
    return {prefix: "org.apache.iceberg.spark.SparkCatalog"} | {
        f"{prefix}.{key}": value for key, value in inner.items()
    }


def check_catalog(name: str, properties: Mapping[str, str]) -> None:
    """Checks that both Spark and PyIceberg can use this catalog.

    Raises:
        CannotStart: the name or the type is not possible, or a property is missing.
    """
    if not _NAME.fullmatch(name):
        raise CannotStart(f"Catalog {name}: a catalog's name has only letters, digits and _, no digit first.")
    if name.lower() in _RESERVED:
        raise CannotStart(f"Catalog {name}: Spark keeps this name for itself, choose another one.")
    required = _REQUIRED.get(properties.get("type", ""))
    if required is None:
        raise CannotStart(f"Catalog {name}: property type must be one of {', '.join(_REQUIRED)}.")
    for required_name in required:
        if not properties.get(required_name):
            raise CannotStart(f"Catalog {name}: property {required_name} is missing.")


def _address(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    return _ADDRESSES[properties["type"]](name, properties)


def _sql(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    # If Spark opened the catalog first, it would otherwise create tables in which views fail.
    address = {"catalog-impl": _SENT_ONCE, "jdbc.schema-version": "V1"}
    return address | jdbc_properties(name, properties["uri"])


def _rest(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    # Without them, a catalog that accepts a connection and then stays silent would block a query forever.
    bounds = {
        "rest.client.connection-timeout-ms": str(CONNECT_WITHIN_S * 1000),
        "rest.client.socket-timeout-ms": str(ANSWER_WITHIN_S * 1000),
    }
    return bounds | _as_named(name, properties)


def _as_named(_: str, properties: Mapping[str, str]) -> dict[str, str]:
    address = {"type": properties["type"]}
    return address | ({"uri": properties["uri"]} if properties.get("uri") else {})


_ADDRESSES: Mapping[str, Callable[[str, Mapping[str, str]], dict[str, str]]] = {
    "sql": _sql,
    "rest": _rest,
    "hive": _as_named,
    "glue": _as_named,
}
