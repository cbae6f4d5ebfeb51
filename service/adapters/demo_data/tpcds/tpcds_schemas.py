"""The 24 TPC-DS tables as Iceberg schemas and partition specs.

`tables.json` comes from the generator's own column classes. Three names follow the query texts that Spark
ships: `p_response_target`, `s_tax_percentage` and `c_last_review_date`. As there, identifiers are INT, and
CHAR(n) and VARCHAR(n) are STRING.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform

STAR_TABLES = ("store_sales", "store_returns", "date_dim", "item", "store", "customer")
"""The tables that the demo shows first: two facts and four of their dimensions."""

DATE_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "catalog_returns": "cr_returned_date_sk",
        "catalog_sales": "cs_sold_date_sk",
        "inventory": "inv_date_sk",
        "store_returns": "sr_returned_date_sk",
        "store_sales": "ss_sold_date_sk",
        "web_returns": "wr_returned_date_sk",
        "web_sales": "ws_sold_date_sk",
    }
)
"""Each fact's key into `date_dim`, by which it is partitioned. Dimensions are not partitioned."""


def table_schemas() -> dict[str, Schema]:
    """Returns the schema of every table, by name; field ids count from 1.

    >>> schemas = table_schemas()
    >>> len(schemas)
    24
    >>> str(schemas["store_returns"].find_type("sr_return_amt"))
    'decimal(7, 2)'
    """
    text = resources.files(__package__).joinpath("tables.json").read_text(encoding="utf-8")
    tables: dict[str, dict[str, str]] = json.loads(text)
    return {table: _schema(columns) for table, columns in tables.items()}


def partition_spec(table: str, schema: Schema) -> PartitionSpec:
    """Returns an identity partition on the date key for a fact, and none for a dimension.

    >>> schemas = table_schemas()
    >>> [field.name for field in partition_spec("web_sales", schemas["web_sales"]).fields]
    ['ws_sold_date_sk']
    >>> partition_spec("item", schemas["item"]).is_unpartitioned()
    True
    """
    key = DATE_KEYS.get(table)
    if key is None:
        return PartitionSpec()
    source_id = schema.find_field(key).field_id
    return PartitionSpec(PartitionField(source_id, 1000, IdentityTransform(), key))


def _schema(columns: Mapping[str, str]) -> Schema:
    fields = [
        {"id": field_id, "name": name, "type": type_name, "required": False}
        for field_id, (name, type_name) in enumerate(columns.items(), start=1)
    ]
    return Schema.model_validate({"type": "struct", "fields": fields})
