"""The files from which the image is built, checked without building it."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType

import pyspark
import pytest

from api.bootstrap.settings import Settings

REPOSITORY = Path(__file__).parents[2]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
STEPS = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", DOCKERFILE, flags=re.MULTILINE)).splitlines()


@pytest.fixture(scope="module")
def slim() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slim", REPOSITORY / "deploy" / "image" / "slim.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def copied() -> list[str]:
    steps = [shlex.split(step)[1:] for step in STEPS if step.startswith("COPY ")]
    return [source for step in steps if not step[0].startswith("--from") for source in step[:-1]]


def test_everything_that_is_copied_is_there_and_sent_to_the_builder() -> None:
    ignore = (REPOSITORY / ".dockerignore").read_text().splitlines()
    sent = [line[1:] for line in ignore if line.startswith("!")]
    assert len(copied()) > 5
    for source in copied():
        assert (REPOSITORY / source).exists(), source
        assert any(source == path or source.startswith(f"{path}/") for path in sent), source


def test_every_package_of_the_project_is_copied() -> None:
    import tomllib

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert set(packages) <= set(copied())


def test_its_settings_exist() -> None:
    names = re.findall(r"\bSLUICE_([A-Z_]+)=", DOCKERFILE)
    assert {"HOST", "DATA_DIR", "JARS_DIR"} <= set(names)
    assert [name for name in names if name.lower() not in Settings.model_fields] == []


def test_no_token_and_no_secret_is_in_it() -> None:
    assert not re.search(r"TOKEN|PASSWORD|UNAUTHENTICATED", DOCKERFILE)


def test_it_runs_as_an_ordinary_user_and_reaps_processes_and_has_one_volume() -> None:
    runtime = STEPS[max(number for number, step in enumerate(STEPS) if step.startswith("FROM ")) :]
    assert "USER 65532:65532" in runtime
    assert [step for step in runtime if step.startswith("VOLUME")] == ["VOLUME /data"]
    [entry] = [step for step in runtime if step.startswith("ENTRYPOINT")]
    assert entry == 'ENTRYPOINT ["tini", "--", "sluice"]'
    assert any(step.startswith("HEALTHCHECK") for step in runtime)


def test_what_is_installed_has_hashes() -> None:
    installs = [step for step in STEPS if "pip install" in step]
    assert len(installs) == 3
    for install in installs:
        assert "--require-hashes" in install or ("--no-index" in install and "--no-deps" in install)


def test_each_thing_that_is_removed_is_there_to_be_removed(slim: ModuleType) -> None:
    packages = Path(pyspark.__file__).parents[1]
    assert [name for name in slim.DROPPED if not list(packages.glob(name))] == []
    assert [pattern for pattern in slim.STRIPPED if not list(packages.glob(pattern))] == []
    assert all(reason for reason in slim.DROPPED.values())


def test_nothing_that_the_gateway_loads_is_removed(slim: ModuleType) -> None:
    command = [sys.executable, "-m", "tests.deploy.loaded_files"]
    loaded = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    paths = loaded.stdout.splitlines()
    assert any(path.startswith("pyarrow/libarrow_flight.so") for path in paths)
    patterns = [name for dropped in slim.DROPPED for name in (dropped, f"{dropped}/*")]
    assert [path for path in paths if any(fnmatch(path, pattern) for pattern in patterns)] == []


def test_spark_keeps_the_jars_of_every_master_and_of_a_metastore(slim: ModuleType) -> None:
    jars = [f"pyspark/jars/{path.name}" for path in Path(pyspark.__file__).parent.glob("jars/*.jar")]
    remaining = [jar for jar in jars if not any(fnmatch(jar, name) for name in slim.DROPPED)]
    for needed in (
        "spark-kubernetes_",
        "kubernetes-client-",
        "spark-yarn_",
        "hive-metastore-",
        "spark-hive_2",
    ):
        assert any(jar.startswith(f"pyspark/jars/{needed}") for jar in remaining), needed


@pytest.mark.parametrize(
    ("name", "machine", "is_other"),
    [
        ("librocksdbjni-linux64.so", "x86_64", False),
        ("librocksdbjni-linux64.so", "aarch64", True),
        ("librocksdbjni-linux64-musl.so", "x86_64", True),
        ("linux/amd64/libzstd-jni-1.5.7-6.so", "x86_64", False),
        ("linux/aarch64/libzstd-jni-1.5.7-6.so", "x86_64", True),
        ("linux/aarch64/libzstd-jni-1.5.7-6.so", "aarch64", False),
        ("org/xerial/snappy/native/Linux/x86_64-musl/libsnappyjava.so", "x86_64", True),
        ("org/xerial/snappy/native/Linux/x86_64/libsnappyjava.so", "x86_64", False),
        ("META-INF/native/windows64/leveldbjni.dll", "x86_64", True),
        ("META-INF/native/libnetty_transport_native_epoll_x86_64.so", "x86_64", False),
        ("org/apache/spark/linux/Not.class", "x86_64", False),
    ],
)
def test_only_native_libraries_of_other_machines_go(
    slim: ModuleType, name: str, machine: str, is_other: bool
) -> None:
    assert slim.is_of_another_machine(name, machine) is is_other


def test_the_healthcheck_asks_the_gateway_of_its_container() -> None:
    # It runs with Python alone, beside a gateway that may be short of memory.
    text = (REPOSITORY / "deploy" / "image" / "healthcheck.py").read_text()
    modules = re.findall(r"^(?:from|import) ([\w.]+)", text, re.MULTILINE)
    assert {module.split(".")[0] for module in modules} <= {*sys.stdlib_module_names, "__future__"}
