"""Whether SQL may write, and where."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import Words


class SqlWriteSettings(BaseModel):
    """Whether SQL may write, and where."""

    sql_writes: bool = Field(
        False,
        description="whether statements may write: INSERT, DELETE, UPDATE, MERGE and others;"
        " policies decide who may do what to which table",
    )
    sql_write_tables: Words = Field(
        ("*",), description="full names of the tables that SQL may write to, `*` for any part; none: `[]`"
    )
    sql_write_settle_s: float = Field(
        10.0,
        ge=0,
        le=600,
        description="how long a write whose engine was lost is looked for in its table's snapshots, before"
        " its outcome counts as unknown",
    )
    sql_write_pruning: bool = Field(
        False,
        description="whether scans of statements that write are pruned by dynamic filters, as those of"
        " queries",
    )
