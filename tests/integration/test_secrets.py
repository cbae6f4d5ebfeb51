"""After a run with a distinctive secret in every part, nothing that is written or answered shows one."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.collector import Collector, collector
from tests.fakes.oidc_issuer import AUDIENCE, oidc_issuer
from tests.integration.running import RunningGateway, run_sluice
from tests.integration.servers import Postgres, Valkey, postgres, valkey
from tests.integration.tls import Authority
from tests.polling import until

pytestmark = pytest.mark.integration

TOKEN = "token-of-tess-9e1d-4c"
SECRETS = {
    "object store": "s3-Secr+t/of-the-lake-71",
    "object store's session": "s3-S3ssion+of-the-lake-72",
    "files of sources": "s3-Secr+t/of-the-sources-73",
    "Spark's property": "azure-K3y+of-spark-74==",
    "collector": "Coll3ctor+key-75",
    "lineage": "Line4ge+key-76",
    "caller": TOKEN,
}
SQL = "SELECT count(*) AS n FROM shop.seen"


@dataclass
class Shown:
    """All that was answered, printed, logged and sent."""

    texts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, place: str, text: str) -> None:
        self.texts.setdefault(place, []).append(text)

    def with_any(self, secrets: dict[str, str]) -> list[str]:
        """Returns each place with the secret that it shows, in any spelling."""
        return [
            f"{place} shows the secret of {name}"
            for place, texts in self.texts.items()
            for name, secret in secrets.items()
            if any(spelled in text for text in texts for spelled in spellings(secret))
        ]


@dataclass
class House:
    running: RunningGateway
    settings: dict[str, str]
    folder: Path
    store: Postgres
    cache: Valkey
    collector: Collector
    secrets: dict[str, str]

    def client(self, token: str | None) -> httpx.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.running.url, headers=headers, verify=False, timeout=90)


class TlsGateway(RunningGateway):
    """Its clients take its certificate as it is."""

    def _verify(self) -> bool:
        return False


def spellings(secret: str) -> set[str]:
    """Returns the forms in which a secret could be found."""
    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    return {secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1], encoded}


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="sluice-secrets-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        store = stack.enter_context(postgres(folder / "store", "metrics", "lake"))
        cache = stack.enter_context(valkey())
        found = stack.enter_context(collector())
        issuer = stack.enter_context(oidc_issuer())
        certificate = Authority(folder / "tls").certificate("127.0.0.1")
        settings = _settings(folder, store, cache, found, issuer.url, certificate)
        migrated = run_sluice("migrate", folder / "data", settings)
        assert migrated.returncode == 0, migrated.stderr
        running = TlsGateway.start(folder / "data", settings)
        stack.callback(running.stop)
        secrets = SECRETS | {
            "store": store.password,
            "cache": cache.password,
            "key of TLS": certificate.read_text().splitlines()[1],
            "access token": issuer.token(),
        }
        yield House(running, settings, folder, store, cache, found, secrets)


def _settings(
    folder: Path, store: Postgres, cache: Valkey, found: Collector, issuer: str, certificate: Path
) -> dict[str, str]:
    lake = {
        "type": "sql",
        "uri": store.url("lake"),
        "warehouse": (folder / "warehouse").as_uri(),
        "s3.secret-access-key": SECRETS["object store"],
        "s3.session-token": SECRETS["object store's session"],
    }
    return {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_LOG_LEVEL": "DEBUG",
        "SLUICE_METRICS_STORE_URL": store.url("metrics"),
        "SLUICE_FILTER_CACHE_URL": cache.url,
        "SLUICE_CATALOGS": json.dumps({"lake": lake}),
        "SLUICE_SPARK_CONF": json.dumps(
            {"spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net": SECRETS["Spark's property"]}
        ),
        "SLUICE_INGEST_SOURCE_PREFIXES": "s3://no-such-bucket/inbox",
        "SLUICE_INGEST_SOURCE_PROPERTIES": json.dumps(
            {
                "s3.endpoint": "http://127.0.0.1:9",
                "s3.access-key-id": "me",
                "s3.secret-access-key": SECRETS["files of sources"],
            }
        ),
        "SLUICE_TRACES_ENDPOINT": found.url,
        "SLUICE_TRACES_HEADERS": f"authorization=Bearer {SECRETS['collector']}",
        "SLUICE_TRACES_SQL": "true",
        "SLUICE_LINEAGE_URL": "http://127.0.0.1:9/lineage",
        "SLUICE_LINEAGE_API_KEY": SECRETS["lineage"],
        "SLUICE_LINEAGE_TIMEOUT_S": "1",
        "SLUICE_API_TOKENS": json.dumps({"tess": hashlib.sha256(TOKEN.encode()).hexdigest()}),
        "SLUICE_API_KEYS": "true",
        "SLUICE_ADMINS": "tess",
        "SLUICE_OIDC_ISSUERS": json.dumps({"own": {"issuer": issuer, "audiences": [AUDIENCE]}}),
        "SLUICE_TLS_CERTIFICATE_FILE": str(certificate),
        "SLUICE_TLS_KEY_FILE": str(certificate),
    }


def test_nothing_shows_a_secret(house: House) -> None:
    shown = Shown()
    secrets = dict(house.secrets)
    with house.client(TOKEN) as client:
        _use(client, shown, secrets)
        with house.client(secrets["access token"]) as other, house.client("wrong" + TOKEN) as stranger:
            for each in (other, stranger):
                shown.add("an answer to another", each.post("/query", json={"sql": "SELECT 1"}).text)
        until(lambda: {"sluice.query", "sluice.ingest"} <= {span.name for span in house.collector.spans})
        house.cache.stop()
        house.store.stop()
        _use(client, shown, {})
        house.store.start()
        house.cache.start()
    _print(house, shown)
    until(lambda: len(house.collector.spans) > 20)
    for span in house.collector.spans:
        shown.add("a span", span.text)
    for resource in house.collector.resources:
        shown.add("a resource of spans", str(resource))
    for path in house.running.data_dir.glob("*.jsonl"):
        shown.add("the log", path.read_text())
    for path in house.running.data_dir.glob("logs/**/*"):
        if path.is_file():
            content = path.read_bytes()
            shown.add(
                "a log of Spark", (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
            )
    shown.add("a command line", "\n".join(house.running.command_lines()))
    assert set(shown.texts) >= {"config", "the log", "a span", "/metrics", "/explain", "an answer"}
    assert shown.with_any(secrets) == []


def _use(client: httpx.Client, shown: Shown, secrets: dict[str, str]) -> None:
    """Sends what succeeds and what fails, and takes all answers. A new key is a secret from then on."""
    record: dict[str, object] = {"table": "lake.shop.seen", "create": {}, "records": [{"a": 1}]}
    record["schema"] = {"type": "struct", "fields": [{"name": "a", "type": "int"}]}
    source: dict[str, object] = {"table": "lake.shop.seen", "writeSchema": ["a"]}
    source["source"] = {"uri": "s3://no-such-bucket/inbox/a.ndjson", "format": "ndjson"}
    for path, body in (
        ("/ingest", record),
        ("/ingest", source),
        ("/query", {"sql": SQL, "waitTimeout": "50s"}),
        ("/query", {"sql": "SELECT nope FROM shop.seen", "waitTimeout": "50s"}),
        ("/query", {"sql": "SELECT raise_error('no')", "waitTimeout": "50s"}),
        ("/explain", {"sql": SQL}),
        ("/describe", {"sql": SQL}),
        ("/streams", {"table": "lake.shop.seen", "source": {"directory": "s3://no-such-bucket/inbox"}}),
        ("/sessions", {}),
    ):
        answer = client.post(path, json=body)
        shown.add("an answer", answer.text)
        query_id = answer.json().get("queryId") if path == "/query" else None
        if query_id is not None:
            for kind in ("application/json", "text/html"):
                shown.add("/explain", client.get(f"/explain/{query_id}", headers={"Accept": kind}).text)
    for path in (
        *(
            "/metrics",
            "/readyz",
            "/healthz",
            "/query",
            "/ingest",
            "/streams",
            "/tables",
            "/tables?columns=true",
        ),
        *(
            "/schemas",
            "/catalogs",
            "/filters",
            "/keys",
            "/replicas",
            "/openapi.json",
            "/ingest/summary",
            "/pruning/summary",
        ),
        "/tables/lake.shop.seen",
    ):
        shown.add("/metrics" if path == "/metrics" else "an answer", client.get(path).text)
    made = client.post("/keys", json={"principal": "reports", "expiresInDays": 1})
    if made.is_success:
        secrets["API key"] = made.json()["key"]
    else:
        shown.add("an answer", made.text)


def _print(house: House, shown: Shown) -> None:
    """Runs the commands that show settings, in every form and with what they say of parts."""
    for words in (
        ["config"],
        ["config", "--describe"],
        ["doctor", "--no-engine"],
        ["doctor", "--no-engine", "--json"],
    ):
        ended = run_sluice(words[0], house.folder / "cli", house.settings, *words[1:])
        shown.add(words[0], ended.stdout + ended.stderr)
    wrong = house.settings | {
        "SLUICE_PORT": "no-port",
        "SLUICE_METRICS_STORE_URL": f"mysql://a:{house.store.password}@b",
    }
    for command in ("serve", "config", "migrate"):
        ended = run_sluice(command, house.folder / "cli", wrong)
        assert ended.returncode != 0
        shown.add(f"{command} with wrong settings", ended.stdout + ended.stderr)
