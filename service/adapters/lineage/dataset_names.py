"""Names of tables and files in events.

Source: OpenLineage, "Naming Conventions".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from service.model.tables.tables import TableName

_SAME_STORE = {"s3a": "s3", "s3n": "s3"}
_CONTAINERS = frozenset({"abfs", "abfss", "wasb", "wasbs"})
"""In these stores' addresses, the container takes the place of the user."""
_LONGEST = 4096


@dataclass(frozen=True, slots=True, order=True)
class DatasetName:
    """A dataset's name, unique in its namespace."""

    namespace: str
    name: str


class DatasetNames:
    """Names of tables, from their catalogs' properties. No name contains a user, password or parameter."""

    def __init__(self, catalogs: Mapping[str, Mapping[str, str]], namespace: str) -> None:
        self._namespaces = {
            name: catalog_namespace(catalog) or namespace for name, catalog in catalogs.items()
        }
        self._namespace = namespace

    def of(self, table: TableName) -> DatasetName:
        """Returns the table's full name, in the namespace of its catalog.

        >>> rest = {"type": "rest", "uri": "https://ann:secret@catalog.example/api?token=x"}
        >>> DatasetNames({"lake": rest}, "sluice").of(TableName("lake", "shop", "sales"))
        DatasetName(namespace='https://catalog.example/api', name='lake.shop.sales')
        """
        return DatasetName(self._namespaces.get(table.catalog, self._namespace), str(table))


def catalog_namespace(properties: Mapping[str, str]) -> str | None:
    """Returns where a catalog is; None if its properties do not say.

    A catalog in a database is named by its warehouse, because the database may move.

    >>> catalog_namespace({"type": "hive", "uri": "thrift://one:9083,thrift://two:9083"})
    'hive://one:9083'
    >>> catalog_namespace({"type": "glue", "glue.region": "eu-west-1", "glue.id": "123"})
    'arn:aws:glue:eu-west-1:123'
    >>> catalog_namespace({"type": "sql", "uri": "postgresql://u:p@db/lake", "warehouse": "s3a://lake/tables/"})
    's3://lake/tables'
    """
    kind, uri = properties.get("type", "").lower(), properties.get("uri", "")
    if kind == "rest" and uri:
        return public_address(uri)
    if kind == "hive" and uri:
        return f"hive://{_without_user(_split(uri.split(',')[0]))}"
    region, account = (
        properties.get("glue.region") or properties.get("client.region"),
        properties.get("glue.id"),
    )
    if kind == "glue" and region and account:
        return f"arn:aws:glue:{region}:{account}"
    return public_address(properties["warehouse"]) if properties.get("warehouse") else None


def public_address(address: str) -> str | None:
    """Removes from an address what may be secret; None if nothing is left.

    >>> public_address("/data/warehouse"), public_address("file:///data/warehouse/")
    ('file:///data/warehouse', 'file:///data/warehouse')
    >>> public_address("abfss://lake@account.dfs.core.windows.net/tables?sig=x")
    'abfss://lake@account.dfs.core.windows.net/tables'
    """
    parts = _split(address)
    scheme = _SAME_STORE.get(parts.scheme, parts.scheme) or "file"
    path = parts.path.rstrip("/")
    found = f"{scheme}://{_without_user(parts)}{path}"
    return found[:_LONGEST] if found != f"{scheme}://" else None


def file_dataset(address: str) -> DatasetName | None:
    """Names a file or folder by its store and path; None if the address does not have both.

    >>> file_dataset("s3a://lake/shop/sales"), file_dataset("/data/shop")
    (DatasetName(namespace='s3://lake', name='shop/sales'), DatasetName(namespace='file', name='/data/shop'))
    >>> file_dataset("kafka://one:9092/logs")
    DatasetName(namespace='kafka://one:9092', name='logs')
    """
    parts = _split(address)
    authority, path = _without_user(parts), parts.path.rstrip("/")
    if not path:
        return None
    if parts.scheme in ("", "file") and not authority:
        return DatasetName("file", path[:_LONGEST])
    scheme = _SAME_STORE.get(parts.scheme, parts.scheme)
    name = path if scheme in ("hdfs", "file") else path.lstrip("/")
    return DatasetName(f"{scheme}://{authority}", name[:_LONGEST]) if name else None


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address.strip())
    except ValueError:
        # It does not name a reachable host.
        return SplitResult("", "", "", "", "")


def _without_user(parts: SplitResult) -> str:
    return parts.netloc if parts.scheme in _CONTAINERS else parts.netloc.rpartition("@")[2]
