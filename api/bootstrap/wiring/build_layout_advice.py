"""Builds advice on layouts from the settings."""

from __future__ import annotations

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.adapters.layouts.iceberg_layouts import IcebergLayouts
from service.advice.advice_options import AdviceOptions
from service.advice.advice_service import AdviceBounds, AdviceService
from service.ports.clock import Clock
from service.ports.tables.table_layouts import LayoutBounds


def build_layout_advice(settings: Settings, components: Components, clock: Clock) -> AdviceService:
    """Returns advice from the metrics store's records and the catalogs' tables."""
    bounds = AdviceBounds(
        days=settings.layout_advice_days,
        max_scans=settings.layout_advice_max_scans,
        layout=LayoutBounds(
            max_files=settings.layout_advice_max_files,
            max_sampled_files=settings.layout_advice_max_sampled_files,
            max_sampled_rows=settings.layout_advice_max_sampled_rows,
            timeout_s=settings.layout_advice_timeout_s / 2,
        ),
        options=AdviceOptions(
            min_saved_share=settings.layout_advice_min_saved_share,
            min_file_bytes=settings.layout_advice_min_file_bytes,
            max_partitions=settings.layout_advice_max_partitions,
            max_columns=settings.layout_advice_max_columns,
        ),
        timeout_s=settings.layout_advice_timeout_s,
        max_at_once=settings.layout_advice_max_at_once,
    )
    others = components.catalog_names - components.catalog_settings.keys()
    layouts = IcebergLayouts(components.catalogs.opened, clock, others)
    return AdviceService(components.query_history, layouts, clock, bounds)
