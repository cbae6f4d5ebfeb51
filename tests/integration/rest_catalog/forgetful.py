"""A proxy between a catalog and its client that loses answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

_NOT_PASSED_ON = frozenset({"transfer-encoding", "content-length", "content-encoding", "connection"})


class ForgetfulProxy:
    """Forwards everything, but answers the next commit with `status`, if set; with 0, not at all."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.status: int | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _forgets(self, method: str, path: str) -> int | None:
        if method != "POST" or "/tables/" not in path or self.status is None:
            return None
        status, self.status = self.status, None
        return status

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {key: value for key, value in self.headers.items() if key.lower() != "host"}
                url = f"{proxy.target}{self.path}"
                answer = httpx.request(
                    self.command, url, content=body, headers=headers, timeout=60, trust_env=False
                )
                status = proxy._forgets(self.command, self.path)
                if status == 0:
                    self.close_connection = True
                    return
                self.send_response(status or answer.status_code)
                for key, value in answer.headers.items():
                    if key.lower() not in _NOT_PASSED_ON and status is None:
                        self.send_header(key, value)
                content = answer.content if status is None else b"{}"
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_POST = do_HEAD = do_DELETE = handle_any  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Logs nothing."""

        return Handler


@contextmanager
def forgetful_proxy(target: str) -> Iterator[ForgetfulProxy]:
    """Runs a proxy, and stops it at the end."""
    proxy = ForgetfulProxy(target)
    try:
        yield proxy
    finally:
        proxy.stop()
