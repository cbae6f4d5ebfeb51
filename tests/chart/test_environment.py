"""The gateway's settings read the variables that the chart sets in each pod."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from api.bootstrap.settings import Settings
from api.bootstrap.settings_loading import load_settings
from helm.generate.chart_settings import BY_REFERENCE_ALONE, chart_settings, value_settings
from tests.chart.manifests import NAMESPACE, Manifest, Rendered, environment_in_pod, render, rendered

IMAGE = {"SLUICE_HOST": "0.0.0.0", "SLUICE_DATA_DIR": "/data"}
POSTGRES = "postgresql+psycopg://sluice:p@postgres.example/sluice?sslmode=verify-full"
WHOLE = {
    "SLUICE_METRICS_STORE_URL": POSTGRES,
    "SLUICE_FILTER_CACHE_URL": "rediss://:p@redis.example:6379/0",
    "SLUICE_API_TOKENS": json.dumps({"dashboards": hashlib.sha256(b"token").hexdigest()}),
    "SLUICE_CATALOGS": json.dumps({"sales": {"type": "rest", "uri": "https://catalog.example"}}),
    "SLUICE_STREAM_KAFKA_OPTIONS": json.dumps({"kafka.security.protocol": "SASL_SSL"}),
}
SECRET = "a-secret-of-letters"


def secret_of(variable: str) -> str:
    if variable.startswith("SECRET_API_TOKENS"):
        return hashlib.sha256(variable.encode()).hexdigest()
    return WHOLE.get(variable, SECRET)


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.upper().startswith("SLUICE_")]:
        monkeypatch.delenv(variable)


def settings_of(container: Manifest, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Loads the settings as the process in the container would."""
    for name, value in (IMAGE | environment_in_pod(container, secret_of)).items():
        monkeypatch.setenv(name, value)
    return load_settings()


def test_the_gateway_takes_its_environment(made: Rendered, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(made.gateway, monkeypatch)
    assert settings.has_authentication or settings.allow_unauthenticated
    assert "$(" not in settings.model_dump_json()


def test_the_migration_takes_its_environment(made: Rendered, monkeypatch: pytest.MonkeyPatch) -> None:
    pods = [job["spec"]["template"]["spec"] for job in made.of("Job")] + [made.gateway_pod]
    containers = [
        container for pod in pods for container in (*pod["containers"], *pod.get("initContainers", ()))
    ]
    found = [container for container in containers if container["name"] == "migrate"]
    assert len(found) == (0 if made is rendered("smallest") else 1)
    for container in found:
        settings = settings_of(container, monkeypatch)
        assert settings.metrics_store_url is not None
        assert not settings.api_tokens
        assert container["args"] == ["migrate"]


def test_what_is_not_given_is_left_to_the_image() -> None:
    names = {variable["name"] for variable in rendered("smallest").gateway["env"]}
    assert names == {"POD_NAME", "SLUICE_ALLOW_UNAUTHENTICATED", "SLUICE_QUERY_WORKERS"}


def test_values_arrive_as_they_were_given(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(rendered("production").gateway, monkeypatch)
    assert settings.max_byte_limit == 4 * 1024**3
    assert settings.health_timeout_s == 2.5
    assert [rewrite.value for rewrite in settings.rewrites] == [
        "READ_OPTIONS",
        "LOCAL_RELATION",
        "VIEW_EXPANDED",
    ]
    assert settings.catalogs["lake"]["credential"] == SECRET
    assert settings.catalogs["lake"]["warehouse"] == "prod"
    assert settings.spark_conf == {"spark.sql.shuffle.partitions": "32"}


def test_single_entries_come_from_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(rendered("existing-secrets").gateway, monkeypatch)
    assert set(settings.api_tokens) == {"dashboards", "loader"}
    assert settings.spark_conf["spark.hadoop.fs.s3a.secret.key"] == SECRET
    assert settings.spark_conf["spark.hadoop.fs.s3a.endpoint"] == "https://objects.internal"
    assert settings.ingest_source_properties["s3.access-key-id"] == SECRET


def test_a_catalogs_entry_may_have_any_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entries = {"key": {"name": "catalog", "key": "key"}, "name": {"name": "catalog", "key": "name"}}
    given = {"settings": {"allow_unauthenticated": True}, "secretProperties": {"catalogs": {"lake": entries}}}
    values = tmp_path / "values.json"
    values.write_text(json.dumps(given))
    settings = settings_of(render("--values", str(values)).gateway, monkeypatch)
    assert settings.catalogs == {"lake": {"key": SECRET, "name": SECRET}}


def test_dollars_are_no_references(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = {"default_schema": "a$(POD_NAME)$$b", "spark_conf": {"spark.app.name": "$(POD_NAME)"}}
    values = tmp_path / "values.json"
    values.write_text(json.dumps({"settings": given | {"allow_unauthenticated": True}}))
    settings = settings_of(render("--values", str(values)).gateway, monkeypatch)
    assert settings.default_schema == "a$(POD_NAME)$$b"
    assert settings.spark_conf == {"spark.app.name": "$(POD_NAME)"}


def test_every_setting_can_be_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Gives every setting its default, except a few whose defaults cannot be written down."""
    defaults = Settings().model_dump(mode="json")
    given = {name: defaults[name] for name in value_settings() if defaults[name] is not None}
    given |= {"embedded_catalog": True, "allow_unauthenticated": True}
    values = tmp_path / "values.json"
    values.write_text(json.dumps({"settings": given}))
    container = render("--values", str(values)).gateway
    names = {variable["name"] for variable in container["env"]} - {"POD_NAME"}
    assert names == {f"SLUICE_{name.upper()}" for name in given}
    settings = settings_of(container, monkeypatch).model_dump(mode="json")
    assert {name: settings[name] for name in given} == given
    assert set(chart_settings()) == set(value_settings()) | BY_REFERENCE_ALONE


def test_a_driver_is_found_by_the_name_of_its_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    made = rendered("k8s-executors")
    conf = settings_of(made.gateway, monkeypatch).spark_conf
    service = made.one("StatefulSet")["spec"]["serviceName"]
    assert service == made.one("Service", "-driver")["metadata"]["name"]
    assert made.one("Service", "-driver")["spec"]["publishNotReadyAddresses"]
    assert conf["spark.driver.host"] == f"trial-sluice-0.{service}.{NAMESPACE}.svc"
    assert conf["spark.kubernetes.driver.pod.name"] == "trial-sluice-0"
    assert conf["spark.kubernetes.namespace"] == NAMESPACE
    assert conf["spark.dynamicAllocation.maxExecutors"] == "20"
    assert conf["spark.authenticate"] == "true"


def test_the_trial_servers_are_the_gateways(monkeypatch: pytest.MonkeyPatch) -> None:
    made = rendered("trial")
    settings = settings_of(made.gateway, monkeypatch)
    services = {service["metadata"]["name"] for service in made.of("Service")}
    assert settings.metrics_store_url is not None
    assert settings.filter_cache_url is not None
    addresses = {settings.metrics_store_url.get_secret_value(), settings.filter_cache_url.get_secret_value()}
    assert addresses == {
        f"postgresql+psycopg://sluice:{SECRET}@trial-postgresql:5432/sluice",
        f"redis://:{SECRET}@trial-valkey:6379/0",
    }
    assert {"trial-postgresql", "trial-valkey"} <= services
