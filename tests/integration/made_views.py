"""Makes views in an SQL catalog as Iceberg's engines do; PyIceberg cannot."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlparse
from uuid import uuid4

from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy import text

_INSERT = (
    "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type)"
    " VALUES (:catalog, :schema, :view, :location, 'VIEW')"
)
_REPLACE = (
    "UPDATE iceberg_tables SET metadata_location = :location WHERE catalog_name = :catalog"
    " AND table_namespace = :schema AND table_name = :view"
)


def make_view(lake: SqlCatalog, name: str, sql: str, columns: Mapping[str, str], is_new: bool = True) -> None:
    """Creates or replaces a view; `columns` have Iceberg's types. Its schema resolves its names."""
    schema, _, view = name.rpartition(".")
    location = f"{lake.properties['warehouse']}/{schema.replace('.', '/')}/{view}"
    metadata_location = f"{location}/metadata/{uuid4()}.metadata.json"
    path = Path(urlparse(metadata_location).path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_metadata(lake.name, schema, location, sql, columns)))
    row = {"catalog": lake.name, "schema": schema, "view": view, "location": metadata_location}
    with lake.engine.begin() as connection:
        connection.execute(text(_INSERT if is_new else _REPLACE), row)


def _metadata(
    catalog: str, schema: str, location: str, sql: str, columns: Mapping[str, str]
) -> dict[str, object]:
    now_ms = int(time.time() * 1000)
    version = {
        "version-id": 1,
        "timestamp-ms": now_ms,
        "schema-id": 0,
        "summary": {"engine-name": "spark"},
        "default-catalog": catalog,
        "default-namespace": schema.split("."),
        "representations": [{"type": "sql", "sql": sql, "dialect": "spark"}],
    }
    fields = [
        {"id": number, "name": name, "required": False, "type": type_name}
        for number, (name, type_name) in enumerate(columns.items(), start=1)
    ]
    return {
        "view-uuid": str(uuid4()),
        "format-version": 1,
        "location": location,
        "current-version-id": 1,
        "versions": [version],
        "version-log": [{"timestamp-ms": now_ms, "version-id": 1}],
        "schemas": [{"type": "struct", "schema-id": 0, "fields": fields}],
        "properties": {},
    }
