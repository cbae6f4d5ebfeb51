"""Builds advice on layouts from the settings."""

from __future__ import annotations

from api.bootstrap.parts.components import Components
from api.bootstrap.parts.shared_clocks import store_clock
from api.bootstrap.settings import Settings
from service.adapters.layouts.iceberg_layouts import IcebergLayouts
from service.adapters.postgres.maintenance.layout_trial_log import PostgresTrialLog
from service.advice.advice_options import AdviceOptions
from service.advice.advice_service import AdviceBounds, AdviceService
from service.advice.run_trial import TrialPorts
from service.advice.trial_service import TrialBounds, TrialService
from service.maintenance.maintenance_service import MaintenanceService
from service.ports.clock import Clock
from service.ports.tables.table_layouts import LayoutBounds
from spark_session.engine.spark_trials import SparkTrials


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
            max_rewritten_bytes=settings.layout_advice_max_rewritten_bytes,
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
    return _advice(components, clock, bounds)


def build_layout_trials(
    settings: Settings,
    components: Components,
    clock: Clock,
    advice: AdviceService,
    maintenances: MaintenanceService,
) -> TrialService:
    """Begins to drop copies that lost gateways have left. The log's table must exist."""
    log = PostgresTrialLog(components.migrated_store_url)
    components.stack.callback(log.close)
    ports = TrialPorts(
        advice=advice,
        copies=SparkTrials(lambda: components.engine.session),
        log=log,
        catalogs=components.catalogs,
        clock=store_clock(components.migrated_store_url, clock, components.stack),
    )
    bounds = TrialBounds(
        is_on=settings.layout_trials_enabled,
        max_table_bytes=settings.layout_trials_max_table_bytes,
        timeout_s=settings.layout_trials_timeout_s,
    )
    made = TrialService(ports, bounds, maintenances.is_allowed)
    components.stack.callback(made.close, 0)
    made.start()
    return made


def _advice(components: Components, clock: Clock, bounds: AdviceBounds) -> AdviceService:
    others = components.catalog_names - components.catalog_settings.keys()
    layouts = IcebergLayouts(components.catalogs.opened, clock, others)
    return AdviceService(components.query_history, layouts, clock, bounds)
