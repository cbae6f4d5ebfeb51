"""The front of the two gateways: nginx with the shipped configuration, or a proxy with the same rules."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.integration.running import REPOSITORY
from tests.polling import until
from tests.rolling.proxy import proxy

CONFIGURATION = REPOSITORY / "deploy" / "compose" / "nginx.conf"


def free_ports(count: int) -> list[int]:
    """Returns ports that nothing listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [connection.getsockname()[1] for connection in sockets]
    for connection in sockets:
        connection.close()
    return ports


@contextmanager
def front(folder: Path, port: int, gateways: Sequence[int]) -> Iterator[str]:
    """Serves at this port, and yields the name of the server."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None:
        with proxy(port, gateways):
            yield "a proxy of the drill's own (no nginx here)"
        return
    with _nginx(nginx, folder, port, gateways) as version:
        yield version


@contextmanager
def _nginx(program: str, folder: Path, port: int, gateways: Sequence[int]) -> Iterator[str]:
    folder.mkdir(parents=True)
    # nginx's workers may run as another user.
    folder.chmod(0o755)
    configuration = folder / "nginx.conf"
    configuration.write_text(configured(folder, port, gateways))
    version = subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stderr.strip()
    options = ["-c", str(configuration), "-g", "daemon off;", "-p", str(folder)]
    with (folder / "said").open("w") as said:
        process = subprocess.Popen([program, *options], stderr=said)
    try:
        until(lambda: _listens(port))
        yield version.removeprefix("nginx version: ")
    finally:
        process.terminate()
        process.wait(20)


def configured(folder: Path, port: int, gateways: Sequence[int]) -> str:
    """Returns the shipped configuration, with only its addresses and folders changed."""
    first, second = gateways
    text = CONFIGURATION.read_text()
    for before, after in (
        ("listen 8080", f"listen 127.0.0.1:{port}"),
        ("gateway-1:8080", f"127.0.0.1:{first}"),
        ("gateway-2:8080", f"127.0.0.1:{second}"),
        (r'"~\.11:8080$"', f'"~:{first}$"'),
        ("/tmp/nginx", f"{folder}/nginx"),
    ):
        assert before in text, before
        text = text.replace(before, after)
    return text


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
