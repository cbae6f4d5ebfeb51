"""A dialect of SQLAlchemy for a gateway: `create_engine("sluice://127.0.0.1:8080/lake/tpcds")`.

SQLAlchemy is imported by this package alone.
"""

from __future__ import annotations

from sluice_client.sqlalchemy.dialect import SluiceDialect, SluiceHttpsDialect
from sluice_client.sqlalchemy.types import INTERVAL, MAP, STRUCT, TINYINT, VARIANT

__all__ = ["INTERVAL", "MAP", "STRUCT", "TINYINT", "VARIANT", "SluiceDialect", "SluiceHttpsDialect"]
