"""The image run as in production: read-only, without rights, with 4 GiB, and without any network."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from api.cli.demonstration.demo import QUESTION
from tests.containers.podman import HARDENED, Podman
from tests.polling import until

IMAGE = os.environ.get("SLUICE_IMAGE", "localhost/sluice:latest")
MAX_COMPRESSED_MB = 700
ALONE = (*HARDENED, "--network=none", "--memory=4g")
READY_WITHIN_S = 300
TOKEN = "of-this-test"
TOKENS = json.dumps({"tester": hashlib.sha256(TOKEN.encode()).hexdigest()})
COMPILED = (
    *("httptools", "msgspec", "orjson", "psycopg", "psycopg2", "pydantic_core", "pyiceberg_core"),
    *("pyroaring", "rapidfuzz.fuzz", "sqlglot", "thrift", "uvloop", "yaml", "zstandard"),
)
# This runs in the container, as nothing outside can reach it.
SEND = """
import sys, urllib.request
request = urllib.request.Request("http://127.0.0.1:8080" + sys.argv[1], sys.argv[2].encode() or None,
    {"Content-Type": "application/json", "Authorization": "Bearer " + sys.argv[3]})
sys.stdout.write(urllib.request.urlopen(request, timeout=120).read().decode())
"""


@pytest.fixture(scope="module")
def data(podman: Podman) -> Iterator[str]:
    with podman.volume("sluice-image-test") as volume:
        yield f"--volume={volume}:/data"


@pytest.fixture(scope="module")
def demo(podman: Podman, data: str) -> str:
    """The demo's output, from an empty volume."""
    settings = ("--env=SLUICE_HOST=127.0.0.1", "--env=COLUMNS=160")
    return podman.run("run", "--rm", *ALONE, data, *settings, IMAGE, "demo", within_s=900).stdout


@pytest.mark.timeout(1000)
def test_the_demo_needs_no_network(demo: str) -> None:
    months = re.findall(r"^│ +(\d+) │ +(\d+) │ +[\d.]+ │$", demo, re.MULTILINE)
    assert [int(month) for month, _ in months] == list(range(1, 13))
    assert len(re.findall(r"until snapshot \d+ was committed", demo)) == 1


@pytest.mark.timeout(1000)
@pytest.mark.usefixtures("demo")
def test_a_gateway_answers_takes_records_and_stops_by_itself(podman: Podman, data: str) -> None:
    settings = (data, f"--env=SLUICE_API_TOKENS={TOKENS}", "--env=SLUICE_LOG_FORMAT=json")
    began = time.monotonic()
    with podman.started("sluice-image-test", *ALONE, *settings, IMAGE) as name:

        def is_ready() -> bool:
            assert podman.inspect(name)["State"]["Running"], podman.run("logs", name).stderr[-4000:]
            return podman.run("healthcheck", "run", name, is_checked=False).returncode == 0

        def send(path: str, body: object = None) -> dict[str, object]:
            text = "" if body is None else json.dumps(body)
            answer = podman.run("exec", name, "python3", "-c", SEND, path, text, TOKEN).stdout
            return dict(json.loads(answer))

        assert not is_ready(), "it is not ready before it has started"
        until(is_ready, READY_WITHIN_S)
        print(f"\nready after {time.monotonic() - began:.1f} s")  # noqa: T201 -- a figure to report
        answer = send("/query", {**QUESTION, "waitTimeout": "50s"})
        assert len(answer["result"]["rows"]) == 12  # type: ignore[index]
        record = {"event_time": "2026-01-01T00:00:00Z", "log_type": "http", "http_00": "GET"}
        write = {"table": "lake.logs.events", "writeSchema": list(record), "records": [record]}
        assert send("/ingest", write)["commits"]
        assert send("/readyz")["status"] == "READY"
        stopping = time.monotonic()
        podman.run("stop", "--time=60", name)
        print(f"stopped after {time.monotonic() - stopping:.1f} s")  # noqa: T201
        assert podman.inspect(name)["State"]["ExitCode"] == 0


def test_it_is_an_ordinary_user_who_can_write_nothing_but_the_data(podman: Podman, data: str) -> None:
    script = "id -u; id -un; touch /data/x && echo data; touch /opt/sluice/x /usr/x || echo refused"
    ran = podman.run("run", "--rm", *ALONE, data, "--entrypoint=/bin/sh", IMAGE, "-c", script)
    assert ran.stdout.split() == ["65532", "sluice", "data", "refused"]


def test_it_says_what_it_is_and_how_it_is_asked_and_stopped(podman: Podman) -> None:
    [image] = json.loads(podman.run("image", "inspect", IMAGE).stdout)
    labels = image["Config"]["Labels"]
    assert labels["org.opencontainers.image.title"] == "Sluice"
    assert labels["org.opencontainers.image.version"] == version("sluice-gateway")
    assert image["Config"]["User"] == "65532:65532"
    assert image["Config"]["Volumes"] == {"/data": {}}
    assert image["Config"]["StopSignal"] == "SIGTERM"
    assert image["Config"]["Entrypoint"][0] == "tini"
    assert image["Healthcheck"]["Test"]


def test_without_tokens_it_refuses_to_be_reached_by_others(podman: Podman) -> None:
    refused = podman.run("run", "--rm", *ALONE, IMAGE, is_checked=False)
    assert refused.returncode == 1
    # Python itself prints nothing, for example about packages that were removed only in part.
    said = [line for line in refused.stderr.splitlines() if not line.startswith("time=")]
    assert len(said) == 1, refused.stderr
    assert "or allow_unauthenticated to let everyone in" in refused.stderr


def test_a_jar_that_it_lacks_is_named_and_not_fetched(podman: Podman) -> None:
    settings = ("--env=SLUICE_HOST=127.0.0.1", "--env=SLUICE_SPARK_EXTRA_PACKAGES=org.example:none:1.0")
    refused = podman.run("run", "--rm", *ALONE, *settings, IMAGE, is_checked=False, within_s=300)
    assert refused.returncode == 1
    assert "org.example:none:1.0" in refused.stderr
    assert "run `sluice jars`" in refused.stderr


def test_it_has_the_jars_of_the_demo_s3_and_kafka(podman: Podman) -> None:
    said = podman.run("run", "--rm", *ALONE, "--env=SLUICE_HOST=127.0.0.1", IMAGE, "jars", "--all").stdout
    assert re.search(r"\d\d jars are there, 1\d\d MB", said)


@pytest.mark.timeout(900)
def test_what_was_removed_from_spark_is_needed_by_nothing(podman: Podman) -> None:
    script = Path(__file__).with_name("parts_of_spark.py").read_text()
    ran = podman.run("run", "--rm", *ALONE, "--entrypoint=python3", IMAGE, "-c", script, within_s=800)
    assert ran.stdout.splitlines()[-1] == "kept"


def test_every_compiled_module_that_is_left_can_be_loaded(podman: Podman) -> None:
    arrow = (
        f"pyarrow.{module}"
        for module in ("compute", "csv", "dataset", "flight", "fs", "_s3fs", "json", "orc", "parquet")
    )
    catalogs = (f"pyiceberg.catalog.{module}" for module in ("glue", "hive", "rest", "sql"))
    modules = (*arrow, *catalogs, *COMPILED)
    script = (
        f"import importlib; [importlib.import_module(name) for name in {modules}]\n"
        "import boto3; [boto3.client(service, region_name='x') for service in ('glue', 's3', 'sts')]"
    )
    podman.run("run", "--rm", *ALONE, "--entrypoint=python3", IMAGE, "-c", script)


def test_the_bill_of_materials_has_packages_of_python_debian_and_java(podman: Podman) -> None:
    path = "/usr/share/sluice/sbom.cdx.json"
    bill = json.loads(podman.run("run", "--rm", *ALONE, "--entrypoint=cat", IMAGE, path).stdout)
    assert bill["bomFormat"] == "CycloneDX"
    purls = [component["purl"] for component in bill["components"] if "purl" in component]
    for beginning in (
        "pkg:pypi/pyspark@4.1",
        "pkg:deb/debian/python3@",
        "pkg:maven/org.postgresql/postgresql@",
    ):
        assert any(purl.startswith(beginning) for purl in purls), beginning
    assert any(component["name"].startswith("iceberg-spark-runtime") for component in bill["components"])
    references = [component["bom-ref"] for component in bill["components"]]
    assert len(references) == len(set(references))


@pytest.mark.timeout(900)
def test_it_is_small_enough_to_be_pulled(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "deploy" / "image" / "size"
    said = subprocess.run([script, IMAGE, tmp_path], capture_output=True, text=True, check=True).stdout
    print(f"\n{said}")  # noqa: T201 -- a figure to report
    found = re.search(r"(\d+) MB compressed", said)
    assert found is not None
    assert int(found[1]) < MAX_COMPRESSED_MB
