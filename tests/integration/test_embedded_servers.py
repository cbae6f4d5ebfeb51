"""The embedded servers, through everything that can happen to their directories."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.embedded.embedded_valkey import EmbeddedValkey
from service.errors.gateway_error import CannotStart
from tests.polling import until

pytestmark = pytest.mark.integration

POSTGRES_IN_A_PROCESS = """
import sys
from pathlib import Path
from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
print(EmbeddedPostgres.start(Path(sys.argv[1])).url("sluice"), flush=True)
sys.stdin.read()
"""
VALKEY_IN_A_PROCESS = """
import sys
from pathlib import Path
from service.adapters.embedded.embedded_valkey import EmbeddedValkey
print(EmbeddedValkey.start(Path(sys.argv[1])).url, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    # Not `tmp_path`: the server may run as another user, who has no access to pytest's directory.
    path = Path(tempfile.mkdtemp(prefix="sluice servers ")) / ("long" * 30)
    yield path
    shutil.rmtree(path.parent, ignore_errors=True)


@pytest.fixture(scope="module")
def data(directory: Path) -> Path:
    """A data folder that is initialized once, as this takes most of a first start's time."""
    path = directory / "postgres"
    EmbeddedPostgres.start(path).stop()
    return path


@pytest.fixture
def start_process() -> Iterator[Callable[[str, Path], tuple[subprocess.Popen[str], str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(program: str, path: Path) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


Start = Callable[[str, Path], tuple[subprocess.Popen[str], str]]


def answer(url: str, query: str = "SELECT 1") -> object:
    with psycopg.connect(url.replace("+psycopg", ""), connect_timeout=5) as connection:
        row = connection.execute(query).fetchone()
        return row[0] if row else None


def is_running(url: str) -> bool:
    try:
        answer(url)
    except psycopg.OperationalError:
        return False
    return True


def end(process: subprocess.Popen[str], how: signal.Signals) -> None:
    process.send_signal(how)
    process.communicate(timeout=30)


def postmaster(data: Path) -> psutil.Process:
    return psutil.Process(int((data / "data" / "postmaster.pid").read_text().splitlines()[0]))


def test_a_postgres_that_dies_is_started_again_at_its_address_with_its_data(data: Path) -> None:
    server = EmbeddedPostgres.start(data)
    try:
        url = server.url("lake")
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS survives AS SELECT 7 AS n")
        for _ in range(2):
            dead = postmaster(data)
            dead.kill()
            dead.wait(30)
            until(lambda: is_running(url))
            assert answer(url, "SELECT n FROM survives") == 7
    finally:
        server.stop()
    assert not is_running(url)


def test_a_postgres_that_several_processes_use_is_started_again_once(
    data: Path, start_process: Start
) -> None:
    users = [start_process(POSTGRES_IN_A_PROCESS, data) for _ in range(3)]
    postmaster(data).kill()
    until(lambda: is_running(users[0][1]))
    assert {url for _, url in users} == {users[0][1]}
    for process, _ in users:
        end(process, signal.SIGTERM)


def test_a_valkey_that_dies_is_started_again_at_its_address(tmp_path: Path) -> None:
    server = EmbeddedValkey.start(tmp_path / "valkey")
    try:
        with redis.Redis.from_url(server.url, socket_timeout=5) as client:
            for _ in range(2):
                psutil.Process(int(client.info("server")["process_id"])).kill()
                until(lambda: _answers(server.url))
                client.set("key", "value")
    finally:
        server.stop()
    assert not _answers(server.url)


def _answers(url: str) -> bool:
    with redis.Redis.from_url(url, socket_timeout=5) as client:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False


def test_postgres_keeps_its_data_between_starts(data: Path) -> None:
    server = EmbeddedPostgres.start(data)
    url = server.url("lake")
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
    server.stop()
    server.stop()
    assert not is_running(url)
    server = EmbeddedPostgres.start(data)
    assert answer(server.url("lake"), "SELECT n FROM kept") == 42
    server.stop()


def test_postgres_is_durable_roomy_and_on_the_loopback_alone(data: Path) -> None:
    server = EmbeddedPostgres.start(data)
    shown = {
        name: answer(server.url("sluice"), f"SHOW {name}")
        for name in ("fsync", "synchronous_commit", "max_connections", "listen_addresses", "server_encoding")
    }
    server.stop()
    assert shown == {
        "fsync": "on",
        "synchronous_commit": "on",
        "max_connections": "200",
        "listen_addresses": "127.0.0.1",
        "server_encoding": "UTF8",
    }


def test_other_users_of_the_machine_cannot_read_or_connect(data: Path) -> None:
    server = EmbeddedPostgres.start(data)
    url = server.url("sluice")
    try:
        assert stat.S_IMODE((data / "password").stat().st_mode) == 0o600
        assert stat.S_IMODE(data.stat().st_mode) == 0o700
        assert stat.S_IMODE((data / "data").stat().st_mode) == 0o700
        for wrong in ("wrong", ""):
            with pytest.raises(psycopg.OperationalError, match="password"):
                answer(url.replace(server.password, wrong))
        assert server.password not in " ".join(postmaster(data).cmdline())
        assert server.password not in repr(server)
    finally:
        server.stop()


def test_postgres_runs_until_the_last_of_its_processes_stops(data: Path, start_process: Start) -> None:
    process, url = start_process(POSTGRES_IN_A_PROCESS, data)
    server = EmbeddedPostgres.start(data)
    assert server.url("sluice") == url
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert is_running(url)
    server.stop()
    assert not is_running(url)


def test_postgres_stops_with_the_process_that_started_it(data: Path, start_process: Start) -> None:
    process, url = start_process(POSTGRES_IN_A_PROCESS, data)
    end(process, signal.SIGINT)
    assert not is_running(url)


def test_a_server_that_a_killed_gateway_left_running_is_taken_over(data: Path, start_process: Start) -> None:
    process, url = start_process(POSTGRES_IN_A_PROCESS, data)
    end(process, signal.SIGKILL)
    server = EmbeddedPostgres.start(data)
    assert server.url("sluice") == url
    server.stop()
    assert not is_running(url)


def test_a_server_that_was_killed_with_its_gateway_recovers(data: Path, start_process: Start) -> None:
    process, url = start_process(POSTGRES_IN_A_PROCESS, data)
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("CREATE TABLE committed AS SELECT 7 AS n")
    victim = postmaster(data)
    end(process, signal.SIGKILL)
    victim.kill()
    server = EmbeddedPostgres.start(data)
    assert answer(server.url("sluice"), "SELECT n FROM committed") == 7
    server.stop()


def test_a_process_number_that_is_another_process_by_now_is_no_hindrance(data: Path) -> None:
    server = EmbeddedPostgres.start(data)
    pid_file = (data / "data" / "postmaster.pid").read_text().splitlines()
    server.stop()
    (data / "data" / "postmaster.pid").write_text("\n".join([str(os.getpid()), *pid_file[1:]]) + "\n")
    server = EmbeddedPostgres.start(data)
    assert is_running(server.url("sluice"))
    server.stop()


@pytest.mark.parametrize("rest", ["", "12", "\n\n\n"])
def test_a_broken_process_file_is_no_hindrance(data: Path, rest: str) -> None:
    (data / "data" / "postmaster.pid").write_text(rest)
    server = EmbeddedPostgres.start(data)
    assert is_running(server.url("sluice"))
    server.stop()


def test_an_interrupted_first_start_is_started_over(directory: Path) -> None:
    path = directory / "interrupted"
    half = path / "data.new.1234"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18")
    server = EmbeddedPostgres.start(path)
    server.stop()
    assert not half.exists()


def test_two_first_starts_at_once_share_one_server(directory: Path) -> None:
    with ThreadPoolExecutor(2) as both:
        servers = list(both.map(EmbeddedPostgres.start, [directory / "at once"] * 2))
    first, second = servers
    assert first.url("lake") == second.url("lake")
    first.stop()
    assert is_running(second.url("lake"))
    second.stop()
    assert not is_running(second.url("lake"))


def test_a_taken_port_is_avoided(data: Path) -> None:
    server = EmbeddedPostgres.start(data)
    port = server.port
    server.stop()
    with socket.create_server(("127.0.0.1", port)):
        other = EmbeddedPostgres.start(data)
        other.stop()
    assert other.port != port


@pytest.mark.parametrize("server", [EmbeddedPostgres, EmbeddedValkey])
def test_a_directory_that_cannot_be_made_is_one_sentence_with_the_cure(
    directory: Path, server: type[EmbeddedPostgres] | type[EmbeddedValkey]
) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    in_the_way = directory / "file"
    in_the_way.write_text("")
    with pytest.raises(CannotStart, match=r"choose (another|a) directory") as caught:
        server.start(in_the_way / "below")
    assert "\n" not in caught.value.detail


def test_a_lost_password_is_named_with_the_cure(directory: Path) -> None:
    path = directory / "without password"
    (path / "data").mkdir(parents=True)
    with pytest.raises(CannotStart, match="password is missing; put it back"):
        EmbeddedPostgres.start(path)


def test_a_wrong_password_file_is_named_with_the_cure(data: Path) -> None:
    path = data / "password"
    before = path.read_text()
    path.write_text("another")
    try:
        with pytest.raises(CannotStart, match="password is not the one of this data"):
            EmbeddedPostgres.start(data)
    finally:
        path.write_text(before)


def test_data_of_another_version_are_named(data: Path) -> None:
    version = data / "data" / "PG_VERSION"
    before = version.read_text()
    version.write_text("12\n")
    try:
        with pytest.raises(CannotStart, match="another version of PostgreSQL"):
            EmbeddedPostgres.start(data)
    finally:
        version.write_text(before)


def test_valkey_asks_for_its_password_and_is_bounded(directory: Path) -> None:
    server = EmbeddedValkey.start(directory / "valkey", max_memory_bytes=8_000_000)
    with redis.Redis.from_url(server.url) as client:
        assert client.config_get("maxmemory*")["maxmemory"] == "8000000"
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "allkeys-lru"}
    stranger = redis.Redis.from_url("redis://" + server.url.split("@")[1])
    with stranger, pytest.raises(redis.AuthenticationError):
        stranger.get("key")
    server.stop()
    server.stop()
    with redis.Redis.from_url(server.url) as client, pytest.raises(redis.ConnectionError):
        client.ping()


def test_valkeys_of_two_gateways_live_side_by_side(directory: Path) -> None:
    first = EmbeddedValkey.start(directory / "two")
    second = EmbeddedValkey.start(directory / "two")
    for server in (first, second):
        with redis.Redis.from_url(server.url) as client:
            assert client.ping()
        server.stop()


def test_a_valkey_that_a_killed_gateway_left_is_stopped(directory: Path, start_process: Start) -> None:
    process, url = start_process(VALKEY_IN_A_PROCESS, directory / "killed")
    end(process, signal.SIGKILL)
    EmbeddedValkey.start(directory / "killed").stop()
    deadline = time.monotonic() + 10
    with redis.Redis.from_url(url) as client:
        while time.monotonic() < deadline:
            try:
                client.ping()
            except redis.ConnectionError:
                return
    pytest.fail("the server that was left behind still runs")
