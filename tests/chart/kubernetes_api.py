"""The part of the Kubernetes API that Spark's driver uses; a pod is a process on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Manifest = dict[str, Any]

_VERBS = {"POST": "create", "PATCH": "patch", "PUT": "update"}


class KubernetesApi:
    """Stores created objects by path, and the requests: verb, resource and namespace."""

    def __init__(self, start_pod: Callable[[Manifest], None]) -> None:
        self._start_pod = start_pod
        self._lock = threading.Lock()
        self._objects: dict[str, Manifest] = {}
        self.asked: set[tuple[str, str, str]] = set()
        self.closing = threading.Event()

    def put(self, path: str, manifest: Manifest) -> Manifest:
        """Stores an object, as if it had existed before."""
        name = manifest["metadata"]["name"]
        stored = manifest | {
            "metadata": manifest["metadata"] | {"uid": f"uid-of-{name}", "resourceVersion": "1"}
        }
        with self._lock:
            self._objects[f"{path}/{name}"] = stored
        return stored

    def find(self, path: str) -> Manifest | None:
        """Returns the object at this path."""
        with self._lock:
            return self._objects.get(path)

    def list(self, path: str, selector: str) -> list[Manifest]:
        """Returns all objects below a path that have the labels."""
        wanted = [
            part.partition("=")[::2] for part in selector.split(",") if "=" in part and "!=" not in part
        ]
        with self._lock:
            below = [manifest for name, manifest in self._objects.items() if name.rpartition("/")[0] == path]
        return [
            manifest
            for manifest in below
            if set(wanted) <= set(manifest["metadata"].get("labels", {}).items())
        ]

    def create(self, path: str, manifest: Manifest) -> Manifest:
        """Stores an object, and starts it if it is a pod."""
        if not path.endswith("/pods"):
            return self.put(path, manifest)
        status = {"phase": "Running", "podIP": "127.0.0.1", "containerStatuses": []}
        stored = self.put(path, manifest | {"status": status})
        self._start_pod(stored)
        return stored

    def delete(self, path: str, selector: str | None) -> None:
        """Deletes one object, or all below a path that have the labels."""
        names = (
            [manifest["metadata"]["name"] for manifest in self.list(path, selector)]
            if selector is not None
            else []
        )
        with self._lock:
            for key in [path, *(f"{path}/{name}" for name in names)]:
                self._objects.pop(key, None)


@contextmanager
def served(api: KubernetesApi) -> Iterator[str]:
    """Serves the API, and yields its address."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.api = api
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        api.closing.set()
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    api: KubernetesApi


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        path, query = self._path()
        if query.get("watch") == "true":
            self._watch()
        elif _name(path) is not None:
            self._answer_one(path)
        else:
            items = self.server.api.list(path, query.get("labelSelector", ""))
            metadata = {"resourceVersion": "1"}
            self._answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items})

    def do_POST(self) -> None:
        path, _ = self._path()
        self._answer(201, self.server.api.create(path, self._body()))

    def do_PATCH(self) -> None:
        path, _ = self._path()
        self._body()
        self._answer_one(path)

    def do_DELETE(self) -> None:
        path, query = self._path()
        self._body()
        self.server.api.delete(path, None if _name(path) else query.get("labelSelector", ""))
        self._answer(200, _status(200))

    def _path(self) -> tuple[str, dict[str, str]]:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        self.server.api.asked.add(_asked(self.command, url.path, query))
        return url.path, query

    def _body(self) -> Manifest:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found: Manifest = json.loads(content) if content.startswith(b"{") else {}
        return found

    def _watch(self) -> None:
        # A web socket is refused, so the client opens a stream instead, in which nothing happens.
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        if "Upgrade" not in self.headers:
            self.server.api.closing.wait(60)
        self.close_connection = True

    def _answer_one(self, path: str) -> None:
        found = self.server.api.find(path)
        self._answer(404 if found is None else 200, found or _status(404))

    def _answer(self, status: int, content: Manifest) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Logs nothing."""


def _asked(method: str, path: str, query: dict[str, str]) -> tuple[str, str, str]:
    """Returns verb, resource and namespace as RBAC names them.

    Paths have the form `/api/v1/namespaces/<namespace>/<resource>[/<name>]`.
    """
    parts = path.strip("/").split("/")
    namespace, resource = (parts[3], parts[4]) if len(parts) > 4 else ("", path)
    if method == "GET":
        verb = "watch" if query.get("watch") == "true" else "get" if _name(path) else "list"
    else:
        verb = _VERBS.get(method) or ("delete" if _name(path) else "deletecollection")
    return verb, resource, namespace


def _name(path: str) -> str | None:
    parts = path.strip("/").split("/")
    return parts[5] if len(parts) > 5 else None


def _status(code: int) -> Manifest:
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "code": code, "status": "Success"}
