"""`compose.yaml` in use: all parts start at once, then each gateway is restarted under load."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import yaml

from tests.containers.podman import Podman
from tests.integration.running import REPOSITORY
from tests.polling import until

PROJECT = "sluice-compose-test"
PUBLISHED, PROMETHEUS = "127.0.0.1:18080", "127.0.0.1:19090"
ALERTS = Path("helm", "sluice", "files", "alerts.yaml")
SERVICES = ("postgres", "valkey", "nginx", "prometheus")
GATEWAYS = ("gateway-1", "gateway-2")
READY_WITHIN_S = 400
CALLERS = 6


@dataclass(frozen=True, slots=True)
class Composition:
    """The project and its clients."""

    podman: Podman
    folder: Path

    def compose(self, *arguments: str, within_s: float = 300) -> str:
        """Runs a podman-compose command to its end."""
        ended = subprocess.run(
            ["podman-compose", "--project-name", PROJECT, *arguments],
            cwd=self.folder,
            env=os.environ | dict(self.podman.environment) | self.settings(),
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
        )
        assert ended.returncode == 0, f"{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}"
        return ended.stdout

    def settings(self) -> dict[str, str]:
        """The images and ports on this machine; SLUICE_TEST_SERVICES is where the services' images are."""
        prefix = os.environ.get("SLUICE_TEST_SERVICES", "localhost/sluice-test")
        images = {f"{service.upper()}_IMAGE": f"{prefix}/{service}:latest" for service in SERVICES}
        image = os.environ.get("SLUICE_IMAGE", "localhost/sluice:latest")
        published = {"SLUICE_PUBLISHED": PUBLISHED, "PROMETHEUS_PUBLISHED": PROMETHEUS}
        return images | published | {"SLUICE_IMAGE": image}

    def container(self, service: str) -> str:
        """Returns the id of a service's container."""
        labels = (f"com.docker.compose.project={PROJECT}", f"com.docker.compose.service={service}")
        filters = [f"--filter=label={label}" for label in labels]
        return self.podman.run("ps", "--all", "--quiet", *filters).stdout.strip()

    def log(self, service: str) -> str:
        """Returns the output of a service's container."""
        said = self.podman.run("logs", self.container(service))
        return said.stdout + said.stderr

    def is_healthy(self, service: str) -> bool:
        """Runs a service's health check now, and returns its result."""
        ran = self.podman.run("healthcheck", "run", self.container(service), is_checked=False)
        return ran.returncode == 0

    def client(self, number: int = 0) -> httpx.Client:
        """A client of nginx. Each number spells the token differently, and may be led to another gateway."""
        token = (self.folder / "deploy" / "compose" / "secrets" / "app-token").read_text()
        authorization = f"Bearer {' ' * number}{token}"
        return httpx.Client(
            base_url=f"http://{PUBLISHED}",
            headers={"Authorization": authorization},
            timeout=120,
            trust_env=False,
        )


@pytest.fixture(scope="module")
def composition(podman: Podman, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composition]:
    folder = tmp_path_factory.mktemp("composition")
    shutil.copy(REPOSITORY / "compose.yaml", folder)
    shutil.copytree(REPOSITORY / "deploy" / "compose", folder / "deploy" / "compose")
    shutil.copytree(REPOSITORY / ALERTS.parent, folder / ALERTS.parent)
    shutil.rmtree(folder / "deploy" / "compose" / "secrets", ignore_errors=True)
    # The files are mounted one by one, as their parent folders may be closed to the containers' users.
    subprocess.run([folder / "deploy" / "compose" / "make-secrets"], check=True, timeout=60)
    started = Composition(podman, folder)
    started.compose("down", "--volumes")
    try:
        yield started
    finally:
        started.compose("down", "--volumes")


@pytest.fixture(scope="module")
def ready(composition: Composition) -> Composition:
    """Starts the gateways first, so that their stores are missing for a while."""
    composition.compose("up", "--detach", *GATEWAYS, "migrate")
    until(lambda: all("waiting_for_store" in composition.log(gateway) for gateway in GATEWAYS), 120)
    began = time.monotonic()
    composition.compose("up", "--detach", "--no-recreate")
    for gateway in GATEWAYS:
        until(lambda gateway=gateway: composition.is_healthy(gateway), READY_WITHIN_S)  # type: ignore[misc]
    print(f"\nboth gateways are ready {time.monotonic() - began:.1f} s after the other parts were started")  # noqa: T201
    return composition


@pytest.mark.timeout(900)
def test_gateways_wait_for_stores_that_come_late(ready: Composition) -> None:
    for gateway in GATEWAYS:
        said = ready.log(gateway)
        assert '"store":"metricsStore"' in said
        assert '"store":"filterCache"' in said
        assert "store_missing" not in said
    with ready.client() as client:
        assert client.get("/readyz").json()["status"] == "READY"


def test_queries_and_ingests_go_through_nginx(ready: Composition) -> None:
    with ready.client() as client:
        table = {
            "table": "lake.shop.items",
            "create": {},
            "schema": {"fields": [{"name": "id", "type": "long"}]},
        }
        written = client.post("/ingest", json={**table, "records": [{"id": 7}], "requestId": str(uuid4())})
        assert written.status_code == 200, written.text
        sql = {"sql": "SELECT id FROM lake.shop.items", "waitTimeout": "0s"}
        asked = client.post("/query", json=sql).json()
        answer = until(lambda: _result(client, asked["queryId"]), 60)
        assert answer["rows"] == [[7]]
        # Each gateway has its own metrics, and nginx passes none of them on.
        assert client.get("/metrics").status_code == 404
    assert httpx.get(f"http://{PUBLISHED}/query", trust_env=False).status_code == 401


def _result(client: httpx.Client, query_id: str) -> Any:
    return client.get(f"/query/{query_id}").json().get("result")


@pytest.mark.timeout(1500)
def test_gateways_are_restarted_in_turn_and_no_request_fails(ready: Composition) -> None:
    ending = threading.Event()
    with ThreadPoolExecutor(CALLERS) as pool:
        asking = [pool.submit(_ask_until, ending, ready, number) for number in range(CALLERS - 1)]
        sending = pool.submit(_send_until, ending, ready)
        try:
            for gateway in GATEWAYS:
                container = ready.container(gateway)
                ready.podman.run("stop", "--time=60", container)
                assert ready.podman.inspect(container)["State"]["ExitCode"] == 0
                ready.podman.run("start", container)
                until(lambda gateway=gateway: ready.is_healthy(gateway), READY_WITHIN_S)  # type: ignore[misc]
        finally:
            ending.set()
        statuses = [status for future in asking for status in future.result()]
        sent, refused = sending.result()
    print(f"\n{len(statuses)} queries; {sent} ingests, {refused} of them refused at first")  # noqa: T201
    assert set(statuses) == {200}
    with ready.client() as client:
        sql = "SELECT count(*), count(DISTINCT id) FROM lake.shop.counted"
        found = client.post("/query", json={"sql": sql, "waitTimeout": "50s"}).json()
        assert found["result"]["rows"] == [[sent, sent]]


def _ask_until(ending: threading.Event, composition: Composition, number: int) -> list[int]:
    statuses = []
    with composition.client(number) as client:
        while not ending.wait(0.2):
            answer = client.post("/query", json={"sql": "SELECT 1", "waitTimeout": "50s"})
            statuses.append(answer.status_code)
    return statuses


def _send_until(ending: threading.Event, composition: Composition) -> tuple[int, int]:
    """Sends ingests, each until it is accepted; returns their number, and how many were refused first."""
    sent = refused = 0
    table = {
        "table": "lake.shop.counted",
        "create": {},
        "schema": {"fields": [{"name": "id", "type": "long"}]},
    }
    with composition.client() as client:
        while not ending.wait(0.5):
            body = {**table, "records": [{"id": sent}], "requestId": str(uuid4())}
            answer = client.post("/ingest", json=body)
            refused += answer.status_code != 200
            while answer.status_code != 200:
                assert answer.status_code == 503, answer.text
                assert answer.headers["Retry-After"]
                time.sleep(1)
                answer = client.post("/ingest", json=body)
            sent += 1
    return sent, refused


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("ready")
def test_prometheus_sees_both_gateways_and_its_rules_hold() -> None:
    def asked(path: str, **parameters: str) -> Any:
        answer = httpx.get(f"http://{PROMETHEUS}/api/v1/{path}", params=parameters, trust_env=False)
        return answer.json()["data"]

    def are_up() -> bool:
        targets = asked("targets")["activeTargets"]
        return len(targets) == len(GATEWAYS) and all(target["health"] == "up" for target in targets)

    until(are_up, 90)
    rules = [rule for group in asked("rules")["groups"] for rule in group["rules"]]
    written = yaml.safe_load((REPOSITORY / ALERTS).read_text(encoding="utf-8"))
    assert len(rules) == sum(len(group["rules"]) for group in written["groups"])
    until(lambda: all(rule["health"] == "ok" for g in asked("rules")["groups"] for rule in g["rules"]), 60)
    named = {f"{gateway}:8080" for gateway in GATEWAYS}

    def ready_ones() -> set[str]:
        found = asked("query", query="sluice_ready == 1")["result"]
        return {sample["metric"]["instance"] for sample in found}

    until(lambda: ready_ones() == named, 60)
