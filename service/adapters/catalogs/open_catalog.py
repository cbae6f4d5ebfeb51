"""Opens a catalog in PyIceberg, with bounds so that it cannot block its caller forever."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

import pyarrow as pa
from pyiceberg.catalog import Catalog, load_glue, load_hive
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    NoSuchPropertyException,
    NotInstalledError,
    RESTError,
    SignError,
)
from requests import RequestException
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from service.adapters.catalogs.bounded_rest_catalog import BoundedRestCatalog
from service.adapters.catalogs.caching_sql_catalog import MAX_CACHED_BYTES, CachingSqlCatalog
from service.adapters.disk.synced_files import Sync
from service.errors.gateway_error import CannotStart

# Packages that PyIceberg needs for a type, beyond the gateway's own dependencies.
_PACKAGES: Mapping[str, str] = {"hive": "thrift", "glue": "boto3"}
_OPTIONAL_ERRORS = (
    ("thrift.Thrift", "TException"),
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
)


def check_installed(name: str, properties: Mapping[str, str]) -> None:
    """Checks that PyIceberg can open a catalog of this type.

    Raises:
        CannotStart: a Python package is missing.
    """
    package = _PACKAGES.get(properties["type"])
    if package and not find_spec(package):
        raise CannotStart(f"Catalog {name}: type {properties['type']} needs the Python package {package}.")


def open_catalog(name: str, properties: Mapping[str, str], timeout_s: float, sync: Sync) -> Catalog:
    """Opens a catalog from these properties alone, without configuration files or environment variables.

    `sync` is for metadata that is written here, and not by the catalog.

    Raises:
        Exception: one of `catalog_errors()`, if the catalog does not answer.
    """
    match properties["type"]:
        case "sql":
            return CachingSqlCatalog(
                name, sync, max_cached_bytes=MAX_CACHED_BYTES, **_sql_properties(properties, timeout_s)
            )
        case "rest":
            return BoundedRestCatalog(name, timeout_s, **properties)
        case "hive":
            return load_hive(name, dict(properties))
        case _:
            return load_glue(name, dict(properties))


def close_catalog(catalog: Catalog) -> None:
    """Closes the catalog's connections, if it has any."""
    if isinstance(catalog, RestCatalog | SqlCatalog):
        catalog.close()


def catalog_errors() -> tuple[type[Exception], ...]:
    """The errors of PyIceberg for a catalog, or its files, that cannot be reached or parsed."""
    optional = [
        getattr(import_module(module), error)
        for module, error in _OPTIONAL_ERRORS
        if find_spec(module.partition(".")[0])
    ]
    return (
        SQLAlchemyError,
        RequestException,
        RESTError,
        SignError,
        NotInstalledError,
        NoSuchPropertyException,
        NotImplementedError,
        OSError,
        ValueError,
        pa.ArrowException,
        *optional,
    )


def _sql_properties(properties: Mapping[str, str], timeout_s: float) -> dict[str, str]:
    url = make_url(properties["uri"])
    if url.get_backend_name() == "postgresql" and url.get_driver_name().startswith("psycopg"):
        # libpq takes whole seconds, two at least; 0 means forever.
        bounds = {
            "connect_timeout": str(max(2, round(timeout_s))),
            "tcp_user_timeout": str(round(timeout_s * 1000)),
        }
        url = url.update_query_dict({key: value for key, value in bounds.items() if key not in url.query})
    # Detects connections that a restarted server has dropped before they are used.
    return {"pool_pre_ping": "true"} | dict(properties) | {"uri": url.render_as_string(hide_password=False)}
