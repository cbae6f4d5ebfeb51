"""The catalog in the PostgreSQL that a gateway embeds."""

from __future__ import annotations

from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy import URL


def embedded_catalog(data_dir: Path) -> SqlCatalog:
    """Opens the catalog in the embedded PostgreSQL from outside the gateway."""
    server = data_dir / "postgres"
    port, password = int((server / "port").read_text()), (server / "password").read_text()
    url = URL.create("postgresql+psycopg", "postgres", password, "127.0.0.1", port, "lake")
    address = url.render_as_string(hide_password=False)
    return SqlCatalog("lake", uri=address, warehouse=(data_dir / "warehouse").as_uri())
