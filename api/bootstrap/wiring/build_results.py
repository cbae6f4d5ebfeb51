"""Wires the store of results."""

from __future__ import annotations

from datetime import timedelta

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from api.bootstrap.settings.querying.result_place import bucket_of_url, folder_of_url
from service.adapters.results.formatted_files import FolderFormattedFiles
from service.adapters.results.local_first_results import LocalFirstResults
from service.adapters.results.objects.bucket import Bucket
from service.adapters.results.objects.object_results import ObjectResultStore
from service.adapters.results.objects.store_access import StoreAccess
from service.adapters.results.result_store import FolderResultStore
from service.adapters.results.store_bounds import ResultBounds
from service.ports.clock import Clock
from service.ports.stores.result_store import ResultStore
from spark_session.settings.settings import is_local

# A query may write a little longer than its timeout, until its worker is given up.
STOPPED_WITHIN = timedelta(hours=1)


def build_results(
    settings: Settings, components: Components, clock: Clock
) -> FolderResultStore | LocalFirstResults:
    """Returns the store, in the place that replicas share or in a folder of this gateway's own."""
    bounds = result_bounds(settings)
    access = store_access(settings)
    if access is not None:
        here = FolderResultStore(components.folder("results"), clock, bounds)
        results = LocalFirstResults(here, ObjectResultStore(Bucket(access, clock), clock, bounds))
        results.start()
        return results
    if settings.results_url is not None:
        return FolderResultStore(folder_of_url(settings.results_url), clock, bounds, is_shared=True)
    # Executors on other machines do not see this gateway's disk: their rows come through the driver.
    return FolderResultStore(
        components.folder("results"), clock, bounds, is_reached_by_engine=is_local(settings.spark_master)
    )


def build_formatted_files(
    settings: Settings, components: Components, clock: Clock, results: ResultStore
) -> FolderFormattedFiles:
    """Returns the files of other formats, which each gateway writes on its own."""
    files = FolderFormattedFiles(
        components.folder("formatted-results"),
        clock,
        settings.formatted_results_max_bytes,
        timedelta(seconds=settings.result_ttl_s),
        lambda query_id: results.manifest(query_id) is not None,
    )
    files.start()
    return files


def store_access(settings: Settings) -> StoreAccess | None:
    """Returns how the object store of results is reached; None if results are in a folder."""
    place = None if settings.results_url is None else bucket_of_url(settings.results_url)
    if place is None:
        return None
    return StoreAccess(
        bucket=place[0],
        prefix=place[1],
        timeout_s=settings.results_timeout_s,
        properties=settings.results_properties,
    )


def result_bounds(settings: Settings) -> ResultBounds:
    """Returns the bounds of the store, wherever it is."""
    return ResultBounds(
        time_to_live=timedelta(seconds=settings.result_ttl_s),
        total_bytes=settings.result_max_bytes,
        chunk_rows=settings.chunk_rows,
        chunk_bytes=settings.chunk_bytes,
        inline_bytes=settings.result_task_inline_bytes,
        driver_bytes=settings.result_inline_bytes,
        unfinished_after=timedelta(seconds=settings.max_query_timeout_s) + STOPPED_WITHIN,
    )
