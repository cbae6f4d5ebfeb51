"""Builds the parts of saved queries from the settings."""

from __future__ import annotations

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.adapters.saved_queries.postgres_saved_queries import PostgresSavedQueries, SavedQueryCounts
from service.saved_queries.saved_query_service import SavedQueryService, SavedTextBounds


def build_saved_queries(settings: Settings, components: Components) -> SavedQueryService:
    """Returns the saved queries in the metrics store."""
    counts = SavedQueryCounts(
        max_of_caller=settings.max_saved_queries_per_caller, max_saved_queries=settings.max_saved_queries
    )
    store = PostgresSavedQueries(components.migrated_store_url, counts)
    components.stack.callback(store.close)
    bounds = SavedTextBounds(
        max_name_characters=settings.max_saved_query_name_characters, max_bytes=settings.max_saved_query_bytes
    )
    return SavedQueryService(store, bounds)
