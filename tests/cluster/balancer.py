"""One address for both gateways: nginx with the configuration that compose.yaml mounts, or a stand-in."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.running import REPOSITORY
from tests.polling import until
from tests.tcp_proxy import HOST, TcpProxy, by_caller

CONFIGURATION = REPOSITORY / "deploy" / "compose" / "nginx.conf"


@dataclass(frozen=True, slots=True)
class Balancer:
    """The name and URL of the running balancer."""

    name: str
    url: str


@contextmanager
def balancer(folder: Path, ports: Sequence[int]) -> Iterator[Balancer]:
    """Runs a balancer in front of gateways at these two ports."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")
    if program is None:
        with TcpProxy(by_caller(ports), reads_head=True) as proxy:
            yield Balancer("a stand-in, as there is no nginx", f"http://{HOST}:{proxy.port}")
        return
    folder.mkdir()
    port = free_port()
    (folder / "nginx.conf").write_text(on_loopback(CONFIGURATION.read_text(), folder, port, ports))
    with (folder / "nginx.log").open("w") as log:
        command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            until(lambda: process.poll() is not None or is_open(port), 30)
            assert process.poll() is None, (folder / "nginx.log").read_text()
            yield Balancer("nginx", f"http://{HOST}:{port}")
        finally:
            process.terminate()
            process.wait(30)


def on_loopback(configuration: str, folder: Path, port: int, gateways: Sequence[int]) -> str:
    """Adapts the configuration to processes of this machine: other addresses, and files in the folder.

    >>> on_loopback("pid /tmp/nginx.pid; listen 8080; server gateway-2:8080;", Path("/x"), 5, [6, 7])
    'pid /x/nginx.pid; listen 127.0.0.1:5; server 127.0.0.1:7;'
    >>> on_loopback(r'"~\\.11:8080$" gateway_2;', Path("/x"), 5, [6, 7])
    '"~:6$" gateway_2;'
    """
    found = configuration.replace("/tmp/nginx", f"{folder}/nginx").replace(
        r"~\.11:8080$", f"~:{gateways[0]}$"
    )
    for number, gateway in enumerate(gateways, 1):
        found = found.replace(f"gateway-{number}:8080", f"{HOST}:{gateway}")
    return re.sub(r"listen 8080;", f"listen {HOST}:{port};", found)


def free_port() -> int:
    """Returns a port that is free now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    """Returns whether something accepts connections at this port."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
