"""How advice on the layout of tables is found."""

from __future__ import annotations

from pydantic import BaseModel, Field


class LayoutAdviceSettings(BaseModel):
    """How much is looked at for advice on the layout of a table, and what is worth advising."""

    layout_advice_days: int = Field(
        7, ge=1, le=3650, description="days whose recorded scans advice is found for, at most"
    )
    layout_advice_max_scans: int = Field(
        1_000, ge=1, le=100_000, description="recorded scans that advice is found for: the newest ones"
    )
    layout_advice_max_files: int = Field(
        20_000, ge=1, le=1_000_000, description="data files of a table that advice is found for"
    )
    layout_advice_max_sampled_files: int = Field(
        64, ge=1, le=10_000, description="data files that rows are sampled from"
    )
    layout_advice_max_sampled_rows: int = Field(
        100_000, ge=1_000, le=10_000_000, description="rows that are sampled"
    )
    layout_advice_max_rewritten_bytes: int = Field(
        128 * 1024**2,
        ge=0,
        description="memory for rows that are written in another order, to predict the size of files after a "
        "change; 0: rows are taken to need as much space as now",
    )
    layout_advice_max_columns: int = Field(
        8, ge=1, le=32, description="columns that are looked at: those that most scans are filtered by"
    )
    layout_advice_max_partitions: int = Field(
        10_000, ge=1, le=1_000_000, description="partitions that an advised partition field makes"
    )
    layout_advice_min_file_bytes: int = Field(
        32 * 1024**2, ge=1, description="the least average size of files in an advised layout"
    )
    layout_advice_min_saved_share: float = Field(
        0.1, ge=0.01, le=1, description="the least share of a workload's bytes that advice saves"
    )
    layout_advice_timeout_s: float = Field(
        20, ge=1, le=600, description="how long advice for one table may take; half of it for reading files"
    )
    layout_advice_max_at_once: int = Field(
        1, ge=1, le=64, description="tables that advice is found for at the same time; others are a 503"
    )
