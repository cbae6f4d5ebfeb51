"""Checks that orphan files may be deleted: a file that is deleted too early is lost for good."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from service.errors.maintenance_errors import MaintenanceNotSafe
from service.model.ingest.writing import LONGEST_WRITE
from service.model.tables.tables import TableName
from service.ports.tables.catalogs import Catalogs
from service.ports.tables.table_maintenance import WaitingIngests


def check_may_remove_orphans(
    table: TableName, older_than: datetime, waiting: WaitingIngests, catalogs: Catalogs
) -> None:
    """Checks that every older file below the table's location belongs to this table or to none.

    Files of ingests that are accepted and not committed are in no snapshot. If none of these ingests is older
    than the bound, none of their files is: later ingests have younger files still.

    Raises:
        MaintenanceNotSafe: an ingest waits for so long, or another table lies below this one.
        MetricsStoreDown, CatalogDown: that cannot be known now.
    """
    oldest = waiting.oldest(table)
    if oldest is not None and oldest - LONGEST_WRITE <= older_than:
        raise MaintenanceNotSafe(
            f"An ingest waits for {table} since {oldest.isoformat()}: its files could be mistaken for"
            " orphans. Orphans can be removed once it is committed."
        )
    location = catalogs.facts(table).location
    for other in catalogs.tables(table.catalog).tables:
        if other != table and is_within(catalogs.facts(other).location, location):
            raise MaintenanceNotSafe(
                f"{other} lies below the location of {table}: its files would be mistaken for orphans."
            )


def is_within(inner: str, outer: str) -> bool:
    """Whether one location equals another one or lies below it, however their schemes are spelled.

    >>> is_within("s3a://lake/shop/items/old", "s3://lake/shop/items/")
    True
    >>> is_within("file:/lake/items", "file:///lake/items")
    True
    >>> is_within("s3://lake/shop/items_2", "s3://lake/shop/items")
    False
    """
    inside, outside = urlsplit(inner), urlsplit(outer)
    path = outside.path.rstrip("/") + "/"
    return inside.netloc == outside.netloc and (inside.path.rstrip("/") + "/").startswith(path)
