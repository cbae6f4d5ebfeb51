"""Finds and fetches the jars of the engine and of the demo's data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from api.bootstrap.settings import Settings
from api.bootstrap.settings.querying.result_place import bucket_of_url
from service.adapters.catalogs.store_region import with_region
from service.errors.gateway_error import CannotStart
from spark_session.jars.comet_jars import COMET_JARS, names_comet
from spark_session.jars.jars import cached_jars, resolve
from spark_session.jars.kafka_jars import KAFKA_JARS, names_connector
from spark_session.jars.object_store_jars import is_pinned, missing_bundle, object_store_jars
from spark_session.jars.pinned_jars import pinned_jars

TPCDS_PACKAGES = ("io.trino.tpcds:tpcds:1.4", "io.airlift:airline:0.8")
IN_S3 = {"warehouse": "s3://any"}
"""The properties of a catalog for which S3's jar is fetched."""


def jars_path(settings: Settings) -> Path:
    """Returns the folder of jars, without creating it."""
    given = settings.data_dir / "jars" if settings.jars_dir is None else settings.jars_dir
    return given.expanduser().absolute()


def engine_jars(
    settings: Settings, catalogs: Iterable[Mapping[str, str]], into: Path, *, is_reading_kafka: bool
) -> tuple[Path, ...]:
    """Returns the jars of the engine: the operator's own, or those of the packages.

    Raises:
        CannotStart: a jar cannot be fetched or stored, or the operator's own lack one.
    """
    if settings.spark_jars:
        if settings.comet and not names_comet(settings.spark_jars):
            raise CannotStart(f"comet is set: add the jar of {next(iter(COMET_JARS))} to spark_jars.")
        return tuple(map(Path, settings.spark_jars))
    packages = settings.spark_packages + settings.spark_extra_packages
    jars = resolve(packages, into) + object_store_jars(packages, _with_results(settings, catalogs), into)
    if settings.comet and not names_comet(packages):
        jars = (*jars, *pinned_jars(COMET_JARS, into))
    if not is_reading_kafka or names_connector(packages):
        return jars
    return (*jars, *pinned_jars(KAFKA_JARS, into))


def unfetched(
    settings: Settings, catalogs: Iterable[Mapping[str, str]], into: Path, *, is_reading_kafka: bool
) -> tuple[str, ...]:
    """Returns the packages for which `engine_jars` would ask a registry. Asks none, and writes nothing."""
    packages = settings.spark_packages + settings.spark_extra_packages
    bundle = missing_bundle(packages, _with_results(settings, catalogs))
    kafka = tuple(KAFKA_JARS) if is_reading_kafka and not names_connector(packages) else ()
    bundles = () if bundle is None else (bundle,)
    comet = tuple(COMET_JARS) if settings.comet and not names_comet(packages) else ()
    sets = ((packages, True), (bundles, not any(map(is_pinned, bundles))), (comet, False), (kafka, False))
    return tuple(
        coordinate
        for coordinates, is_whole in sets
        if coordinates and cached_jars(coordinates, into, with_dependencies=is_whole) is None
        for coordinate in coordinates
    )


def _with_results(settings: Settings, catalogs: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Returns the properties of all that Spark reaches: the catalogs', and the store of results."""
    is_in_s3 = settings.results_url is not None and bucket_of_url(settings.results_url) is not None
    return [*catalogs, IN_S3] if is_in_s3 else [*catalogs]


def demo_jars(into: Path) -> tuple[Path, ...]:
    """Returns the jars that create the demo's data.

    Raises:
        CannotStart: a jar cannot be fetched or stored.
    """
    return resolve(TPCDS_PACKAGES, into)


def fetched_jars(settings: Settings, into: Path, *, is_all: bool) -> tuple[Path, ...]:
    """Fetches the jars that these settings or any settings need, so that no start has to fetch them.

    Raises:
        CannotStart: a jar cannot be fetched or stored.
    """
    catalogs = [with_region(catalog) for catalog in settings.catalogs.values()]
    if not is_all:
        is_reading_kafka = bool(settings.stream_kafka_servers)
        return engine_jars(settings, catalogs, into, is_reading_kafka=is_reading_kafka)
    return engine_jars(settings, [*catalogs, IN_S3], into, is_reading_kafka=True) + demo_jars(into)
