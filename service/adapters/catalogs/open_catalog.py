"""Opens a catalog in PyIceberg, with bounds so that it cannot block its caller forever."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

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
from requests import PreparedRequest, RequestException, Response, Session
from requests.adapters import HTTPAdapter
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

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
            return _BoundedRestCatalog(name, timeout_s, **properties)
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


class _BoundedAdapter(HTTPAdapter):
    """Gives every request a timeout; `requests` itself waits forever."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        super().__init__()

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        kwargs["timeout"] = kwargs.get("timeout") or self._timeout_s
        return super().send(request, *args, **kwargs)


class _BoundedRestCatalog(RestCatalog):
    """PyIceberg's REST catalog, which has no setting for timeouts."""

    def __init__(self, name: str, timeout_s: float, **properties: str) -> None:
        self._timeout_s = timeout_s
        super().__init__(name, **properties)

    def _create_session(self) -> Session:
        session = super()._create_session()
        return self._bounded(session)

    def _create_legacy_oauth2_auth_manager(self, session: Session) -> Any:
        # A token may be requested already here.
        return super()._create_legacy_oauth2_auth_manager(self._bounded(session))

    def _bounded(self, session: Session) -> Session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, _BoundedAdapter(self._timeout_s))
        return session
