"""All settings together, and the rules between them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from pydantic import model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

from api.bootstrap.settings.callers.audit import AuditSettings
from api.bootstrap.settings.callers.authorization import AuthorizationSettings
from api.bootstrap.settings.callers.saved_queries import SavedQuerySettings
from api.bootstrap.settings.callers.sessions import SessionSettings
from api.bootstrap.settings.engine.catalogs import CatalogSettings
from api.bootstrap.settings.engine.spark import EngineSettings
from api.bootstrap.settings.engine.supervision import SupervisionSettings
from api.bootstrap.settings.protocols.flight import FlightSettings
from api.bootstrap.settings.protocols.hive_server import HiveServerSettings
from api.bootstrap.settings.protocols.sql_protocols import SqlProtocolSettings
from api.bootstrap.settings.querying.filter_cache import FilterCacheSettings
from api.bootstrap.settings.querying.prefetch import PrefetchSettings
from api.bootstrap.settings.querying.pruning import PruningSettings
from api.bootstrap.settings.querying.queries import QuerySettings
from api.bootstrap.settings.querying.query_bounds import QueryBoundSettings
from api.bootstrap.settings.querying.result_place import ResultPlaceSettings
from api.bootstrap.settings.querying.reuse import ReuseSettings
from api.bootstrap.settings.recording.layout_advice import LayoutAdviceSettings
from api.bootstrap.settings.recording.layout_trials import LayoutTrialSettings
from api.bootstrap.settings.recording.lineage import LineageSettings
from api.bootstrap.settings.recording.records import RecordSettings
from api.bootstrap.settings.recording.tracing import TraceSettings
from api.bootstrap.settings.serving.console import ConsoleSettings
from api.bootstrap.settings.serving.query_events import QueryEventSettings
from api.bootstrap.settings.writing.ingest import IngestSettings
from api.bootstrap.settings.writing.ingest_room import IngestRoomSettings
from api.bootstrap.settings.writing.maintenance import MaintenanceSettings
from api.bootstrap.settings.writing.sources import SourceSettings
from api.bootstrap.settings.writing.sql_writes import SqlWriteSettings
from api.bootstrap.settings.writing.streams import StreamSettings

CONFIG_FILE = "SLUICE_CONFIG_FILE"


# Pydantic puts the fields of the last base class first.
class Settings(
    LayoutTrialSettings,
    LayoutAdviceSettings,
    LineageSettings,
    MaintenanceSettings,
    StreamSettings,
    SourceSettings,
    IngestRoomSettings,
    IngestSettings,
    PrefetchSettings,
    PruningSettings,
    QueryBoundSettings,
    QueryEventSettings,
    ConsoleSettings,
    ReuseSettings,
    HiveServerSettings,
    FlightSettings,
    SqlProtocolSettings,
    SqlWriteSettings,
    SavedQuerySettings,
    SessionSettings,
    ResultPlaceSettings,
    QuerySettings,
    SupervisionSettings,
    EngineSettings,
    CatalogSettings,
    FilterCacheSettings,
    RecordSettings,
    TraceSettings,
    AuditSettings,
    AuthorizationSettings,
    BaseSettings,
):
    """All settings. Read them with `load_settings`, which also rejects unknown names."""

    model_config = SettingsConfigDict(
        env_prefix="SLUICE_", extra="forbid", frozen=True, hide_input_in_errors=True, validate_default=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then the file that `SLUICE_CONFIG_FILE` names."""
        path = os.environ.get(CONFIG_FILE)
        file = (YamlConfigSettingsSource(settings_cls, Path(path)),) if path else ()
        return (init_settings, env_settings, *file)

    @model_validator(mode="after")
    def _one_ingest_is_always_taken(self) -> Self:
        bounds = [("ingest_max_body_bytes", "ingest_max_spooled_bytes")]
        for name, maximum in [*bounds, ("max_body_bytes", "max_held_body_bytes")]:
            if getattr(self, name) > getattr(self, maximum):
                raise ValueError(f"{name} is larger than {maximum}")
        return self

    @model_validator(mode="after")
    def _metastores_are_only_read(self) -> Self:
        if self.parquet_tables and self.spark_conf.get("spark.sql.catalogImplementation") == "hive":
            raise ValueError("parquet_tables would be written into the Hive metastore: create them there")
        return self
