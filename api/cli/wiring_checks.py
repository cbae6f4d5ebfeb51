"""Tries each part before a start."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path

import migrations
from api.bootstrap.parts.find_jars import jars_path, unfetched
from api.bootstrap.settings import Settings
from api.bootstrap.settings.callers.oidc_issuers import OidcIssuer
from api.cli.doctor.certificates import certificates
from api.cli.doctor.folders import GIB, folder, permissions
from api.cli.part_checks import WITHIN_S, Check, Finding, Found, State, tried
from api.http.http_server import bind, certificate_files
from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties
from service.adapters.catalogs.store_region import with_region
from service.adapters.clock import SystemClock
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.errors.gateway_error import CannotStart
from service.errors.unavailable import FilterCacheDown
from service.model.operations.health import PartState
from spark_session.jars.jars import java_and_version
from spark_session.session.catalog_watch import missing_driver

ROOM_BYTES = GIB


def findings(settings: Settings) -> Iterator[Finding]:
    """Yields what is found of each part that `serve` would start or reach. Starts and changes nothing."""
    return tried(
        [
            *machine_checks(settings),
            Check("metrics store", partial(_metrics_store, settings)),
            Check("filter cache", partial(_filter_cache, settings)),
            *result_store_checks(settings),
            *issuer_checks(settings),
            *login_checks(settings),
            *lineage_checks(settings),
            *(Check(f"catalog {name}", partial(_catalog, settings, name)) for name in settings.catalogs),
        ]
    )


def machine_checks(settings: Settings) -> list[Check]:
    """Returns the checks of this machine alone, with which `sluice doctor` begins, too."""
    return [
        Check("java", java),
        Check("jars", partial(_jars, settings)),
        Check("spark", partial(_spark, settings)),
        Check("address", partial(_address, settings)),
        *_tls_checks(settings),
        Check("data folder", partial(_data_folder, settings)),
    ]


def lineage_checks(settings: Settings) -> list[Check]:
    """Returns the check of the lineage receiver, if there is one; `sluice doctor` tries it, too."""
    url = settings.lineage_url
    if url is None:
        return []

    def attempt() -> Found:
        # Most gateways do not use it, and importing it takes a moment.
        from api.cli.wiring_lineage_receiver import lineage_receiver

        return lineage_receiver(settings, url)

    return [Check("lineage receiver", attempt, within_s=settings.lineage_timeout_s + WITHIN_S)]


def result_store_checks(settings: Settings, *, is_writing: bool = False) -> list[Check]:
    """Returns the check of the object store of results, if they are in one.

    `is_writing`: it also writes an object, and deletes it.
    """
    # Most gateways do not use it, and importing it takes a moment.
    from api.bootstrap.wiring.build_results import store_access

    access = store_access(settings)
    if access is None:
        return []

    def attempt() -> str:
        from service.adapters.examining.trial_object import trial_object
        from service.adapters.results.objects.bucket import Bucket

        bucket = Bucket(access, SystemClock())
        failure = bucket.check()
        if failure is not None:
            raise failure
        if is_writing:
            trial_object(bucket)
            return f"{access.address()} takes, shows and deletes objects"
        return f"{access.address()} answers"

    within_s = 4 * access.timeout_s + WITHIN_S
    cure = "Correct SLUICE_RESULTS_URL and SLUICE_RESULTS_PROPERTIES, or start the store."
    return [Check("result store", attempt, within_s=within_s, cure=cure)]


def issuer_checks(settings: Settings) -> list[Check]:
    """Returns a check of each issuer of access tokens; `sluice doctor` tries them, too."""
    return [
        Check(
            f"issuer {name}",
            partial(_issuer, name, issuer, settings.oidc_fetch_timeout_s),
            within_s=2 * settings.oidc_fetch_timeout_s + WITHIN_S,
            cure="No token of this issuer is accepted until its keys can be fetched.",
        )
        for name, issuer in settings.oidc_issuers.items()
    ]


def login_checks(settings: Settings) -> list[Check]:
    """Returns a check of each issuer that logs users of the console in."""
    return [
        Check(
            f"login {name}",
            partial(_login, settings, name),
            within_s=settings.oidc_fetch_timeout_s + WITHIN_S,
            cure="No user of this issuer can log in to the console until its discovery document has both"
            " endpoints.",
        )
        for name in settings.console_logins
    ]


def java() -> str:
    """Returns the path and version of Java.

    Raises:
        CannotStart: no Java of a supported version is there.
    """
    path, number = java_and_version()
    return f"{path}, version {number}"


def check_driver(settings: Settings, name: str) -> None:
    """Checks that Spark has the JDBC driver that a catalog needs, if it needs one.

    Raises:
        CannotStart: the catalog's properties are not valid, or the driver is missing.
    """
    spark = spark_catalog_properties(name, with_region(settings.catalogs[name]))
    packages = (*settings.spark_packages, *settings.spark_extra_packages)
    driver = missing_driver(spark.get(f"spark.sql.catalog.{name}.uri", ""), packages)
    if driver is not None and not settings.spark_jars:
        raise CannotStart(f"Spark has no JDBC driver for it: add {driver} to spark_extra_packages.")


def _jars(settings: Settings) -> Found:
    if settings.spark_jars:
        for jar in settings.spark_jars:
            if not Path(jar).is_file():
                raise CannotStart(f"There is no jar {jar}: correct spark_jars.")
        return Found(f"{len(settings.spark_jars)} of spark_jars exist")
    path = jars_path(settings)
    catalogs = [with_region(catalog) for catalog in settings.catalogs.values()]
    missing = unfetched(settings, catalogs, path, is_reading_kafka=bool(settings.stream_kafka_servers))
    if not missing:
        return Found(f"all are in {path}, so the start fetches none")
    allowed = permissions(path, "SLUICE_JARS_DIR")
    text = f"The start fetches {', '.join(missing)} into {path}."
    if allowed.state is State.FAILED:
        return Found(
            f"{text} {allowed.text}", State.FAILED, "Set SLUICE_JARS_DIR to a folder that contains them."
        )
    return Found(text, State.WARNING, "Run `sluice jars` to fetch them now.")


def _spark(settings: Settings) -> str:
    return f"Spark {version('pyspark')} on {settings.spark_master}, time zone {settings.session_time_zone}"


def _tls_checks(settings: Settings) -> list[Check]:
    files = certificate_files(settings)
    if files is None:
        return []
    return [Check("TLS", lambda: certificates(files, SystemClock().now()))]


def _address(settings: Settings) -> str:
    bind(settings.host, settings.port).close()
    return f"{settings.host}, port {settings.port or 'any'}"


def _data_folder(settings: Settings) -> Found:
    path = settings.data_dir.expanduser().absolute()
    return folder(path, "the data", "SLUICE_DATA_DIR", wanted_bytes=ROOM_BYTES, least_bytes=ROOM_BYTES)


def _metrics_store(settings: Settings) -> str:
    if settings.metrics_store_url is None:
        return "embedded, starts with the gateway"
    revisions = migrations.revisions(settings.metrics_store_url.get_secret_value())
    if not revisions.is_usable:
        raise CannotStart("Its schema is of another version: run `sluice migrate`.")
    return f"answers, and has {'a newer' if revisions.is_newer else 'this'} version's schema"


def _filter_cache(settings: Settings) -> str:
    if settings.filter_cache_url is None:
        return "embedded, starts with the gateway"
    cache = RedisFilterCache(settings.filter_cache_url.get_secret_value(), SystemClock(), FilterCacheBounds())
    try:
        health = cache.health()
    finally:
        cache.close()
    if health.state is not PartState.UP:
        raise FilterCacheDown(health.detail)
    return "answers"


def _issuer(name: str, issuer: OidcIssuer, timeout_s: float) -> Found:
    # Most gateways do not use it, and importing it takes a moment.
    from api.bootstrap.wiring.build_authentication import trusted_issuer
    from service.adapters.oidc.published_keys import published_keys

    keys = published_keys(trusted_issuer(name, issuer), timeout_s)
    if not keys:
        return Found(
            f"{issuer.issuer} publishes no key for {', '.join(issuer.algorithms)}.",
            State.FAILED,
            "Compare the algorithms in oidc_issuers with those of the issuer.",
        )
    return Found(f"{issuer.issuer} answers, with {len(keys)} keys")


def _login(settings: Settings, name: str) -> str:
    from api.bootstrap.wiring.build_authentication import build_login_issuers

    issuers = build_login_issuers(settings)
    assert issuers is not None
    client = "public client" if name not in settings.console_login_secrets else "client with a secret"
    redirect_uri = f"{settings.console_url}/console/login/{name}/callback"
    address = issuers.endpoints(name).authorization
    return f"{address} logs in, for a {client} with the redirect URI {redirect_uri}"


def _catalog(settings: Settings, name: str) -> str:
    check_driver(settings, name)
    properties = with_region(settings.catalogs[name])
    catalogs = PyIcebergCatalogs({name: properties}, SystemClock())
    try:
        catalogs.ask(name, lambda catalog: catalog.list_namespaces())
    finally:
        catalogs.close()
    return f"type {properties['type']}, answers"
