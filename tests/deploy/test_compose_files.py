"""The files that `compose.yaml` uses, checked without starting a container."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.bootstrap.settings import Settings
from api.bootstrap.settings_loading import load_settings
from tests.deploy.expressions import ALERTS

REPOSITORY = Path(__file__).parents[2]
DEPLOY = REPOSITORY / "deploy" / "compose"
COMPOSE: dict[str, Any] = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())
GATEWAYS = ("gateway-1", "gateway-2")


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    subprocess.run([DEPLOY / "make-secrets", tmp_path / "secrets"], check=True, timeout=60)
    return tmp_path / "secrets"


@pytest.fixture
def settings(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings that a gateway of the composition would load."""
    environment = COMPOSE["services"]["gateway-1"]["environment"]
    for name, value in environment.items():
        monkeypatch.setenv(name, re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value))
    monkeypatch.setenv("SLUICE_CONFIG_FILE", str(secrets / "sluice.yaml"))
    monkeypatch.setenv("SLUICE_HOST", "0.0.0.0")
    return load_settings()


def test_the_gateways_settings_exist_and_fit(settings: Settings) -> None:
    assert set(settings.api_tokens) == {"app", "prometheus"}
    assert settings.catalogs.keys() == {"lake"}
    assert settings.metrics_store_url is not None
    assert settings.filter_cache_url is not None


def test_a_stop_takes_less_than_containers_are_given(settings: Settings) -> None:
    for name in GATEWAYS:
        grace_s = int(COMPOSE["services"][name]["stop_grace_period"].removesuffix("s"))
        assert grace_s > settings.shutdown_delay_s + settings.shutdown_timeout_s + 10


def test_the_gateway_keeps_connections_longer_than_nginx(settings: Settings, nginx: str) -> None:
    timeouts = re.findall(r"keepalive_timeout (\d+)s;", nginx)
    assert timeouts
    assert all(int(timeout) < settings.keep_alive_timeout_s for timeout in timeouts)


def test_secrets_are_made_once_and_are_random(secrets: Path, tmp_path: Path) -> None:
    before = (secrets / "sluice.yaml").read_text()
    subprocess.run([DEPLOY / "make-secrets", secrets], check=True, timeout=60)
    assert (secrets / "sluice.yaml").read_text() == before
    subprocess.run([DEPLOY / "make-secrets", tmp_path / "others"], check=True, timeout=60)
    assert (tmp_path / "others" / "app-token").read_text() != (secrets / "app-token").read_text()
    assert secrets.stat().st_mode & 0o077 == 0


def test_the_token_that_is_written_down_is_the_one_that_is_let_in(secrets: Path, settings: Settings) -> None:
    import hashlib

    for caller in ("app", "prometheus"):
        token = (secrets / f"{caller}-token").read_text()
        assert settings.api_tokens[caller] == hashlib.sha256(token.encode()).hexdigest()


def test_each_secret_of_the_composition_is_made(secrets: Path) -> None:
    files = {Path(secret["file"]).name for secret in COMPOSE["secrets"].values()}
    assert files <= {path.name for path in secrets.iterdir()}


def test_no_secret_stands_in_the_composition() -> None:
    text = (REPOSITORY / "compose.yaml").read_text()
    assert not re.search(r"(PASSWORD|TOKENS?|_URL): (?!/run/secrets/)", text)
    assert "SLUICE_ALLOW_UNAUTHENTICATED" not in text


def test_every_file_that_is_mounted_is_there() -> None:
    mounts = [volume for service in COMPOSE["services"].values() for volume in service.get("volumes", ())]
    files = [mount.split(":")[0] for mount in mounts if mount.startswith("./")]
    assert len(files) >= 3
    assert [file for file in files if not (REPOSITORY / file).exists()] == []


def test_nothing_waits_for_anothers_health() -> None:
    assert "depends_on" not in (REPOSITORY / "compose.yaml").read_text()
    assert int(COMPOSE["services"]["gateway-1"]["environment"]["SLUICE_STORES_MAX_WAIT_S"]) >= 60


def test_every_image_can_be_another_one() -> None:
    assert all(
        re.fullmatch(r"\$\{\w+_IMAGE:-\S+\}", service["image"]) for service in COMPOSE["services"].values()
    )


def test_gateways_can_write_nothing_but_their_data_and_gain_nothing() -> None:
    for name in (*GATEWAYS, "migrate"):
        service = COMPOSE["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["mem_limit"]


def test_ports_are_published_to_this_machine_alone_by_default() -> None:
    published = [port for service in COMPOSE["services"].values() for port in service.get("ports", ())]
    assert len(published) == 2
    assert all(":-127.0.0.1:" in port for port in published)


@pytest.fixture
def nginx() -> str:
    return re.sub(r"#.*", "", (DEPLOY / "nginx.conf").read_text())


def test_nginx_survives_gateways_that_are_restarted_in_turn(nginx: str) -> None:
    servers = re.findall(r"server (gateway-\d):8080([^;]*);", nginx)
    assert {name for name, _ in servers} == set(GATEWAYS)
    # By default, nginx leaves out a gateway for ten seconds after one failure; with both left out, all
    # requests fail.
    assert {options.strip() for _, options in servers} == {"max_fails=0"}
    # There is no `non_idempotent`, so nginx does not repeat an ingest that was sent.
    assert re.findall(r"proxy_next_upstream ([^;]*);", nginx) == ["error timeout"]
    assert 'proxy_set_header Connection "";' in nginx
    assert "proxy_http_version 1.1;" in nginx


def test_a_gateway_that_starts_is_not_asked_by_nginx_which_asks_no_readyz(settings: Settings) -> None:
    assert settings.listen_when_ready


def test_nginx_knows_the_other_gateway_by_the_addresses_of_the_composition(nginx: str) -> None:
    ends = {
        name: COMPOSE["services"][name]["networks"]["default"]["ipv4_address"].rsplit(".", 1)[1]
        for name in GATEWAYS
    }
    assert f'"~\\.{ends["gateway-1"]}:8080$" gateway_2;' in nginx
    assert "default gateway_1;" in nginx
    hosts = dict(host.split(":", 1) for host in COMPOSE["services"]["nginx"]["extra_hosts"])
    assert {name: address.rsplit(".", 1)[1] for name, address in hosts.items()} == ends


def test_numbers_of_one_gateway_are_not_taken_for_those_of_all(nginx: str) -> None:
    assert re.search(r"location = /metrics \{\s*return 404;", nginx)


def test_prometheus_asks_each_gateway_with_its_token() -> None:
    [job] = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    assert job["static_configs"][0]["targets"] == [f"{gateway}:8080" for gateway in GATEWAYS]
    secret = Path(job["authorization"]["credentials_file"]).name
    assert secret in COMPOSE["services"]["prometheus"]["secrets"]


def test_prometheus_has_the_alerts_of_the_chart() -> None:
    settings = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    assert settings["rule_files"] == ["alerts.yml"]
    mounted = f"./{ALERTS.relative_to(REPOSITORY)}:/etc/prometheus/alerts.yml:ro"
    assert mounted in COMPOSE["services"]["prometheus"]["volumes"]
