"""uvicorn's HTTP/1.1 protocol, with bounds on what a client may send, and how long it may take."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.server import ServerState

from api.http.connections.bounds import ConnectionBounds
from api.http.connections.census import Admission, Census
from api.http.connections.client_certificate import EXTENSION
from api.http.connections.counted_protocol import CountedProtocol
from api.http.connections.deadline import Deadline
from api.http.connections.lingering import Lingering, LingeringTransport
from api.http.connections.only_probes import OnlyProbes
from api.http.connections.peers import UNKNOWN, peer_of
from api.http.connections.refusals import refusal_bytes
from api.http.connections.still_there import IfStillThere
from api.http.connections.unread_answers import UnreadAnswer, UnreadAnswers
from api.http.problems.http_errors import HeadersTooSlow, TooManyConnections
from service.errors.gateway_error import GatewayError

_SPARE_HEADER_TIMEOUT_S = 2.0
"""Probes send their few headers at once. Others wait for the few places of these connections."""
_YOUNG_S = 1.0
"""Before this time, the pace of a body has no meaning."""

_log = structlog.stdlib.get_logger("api.connections")


class BoundedProtocol(CountedProtocol):
    """One connection to a client.

    A request that breaks a bound gets one answer, which is sent after the answers to earlier requests and
    closes the connection.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        bounds: ConnectionBounds,
        census: Census,
        unread: UnreadAnswers,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop, bounds=bounds)
        self.peer = UNKNOWN
        self._certificate: dict[object, object] | None = None
        self._census = census
        self._all_unread = unread
        self._deadline = Deadline(self.loop)
        self._head_began_s = 0.0
        self._is_spare = False
        self._answered: RequestResponseCycle | None = None

    # Called by the transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins a connection."""
        super().connection_made(transport)
        self._unread = UnreadAnswer(transport, self._bounds, self._all_unread, self.loop)
        self._lingering = Lingering(transport, self.loop)
        self.peer = peer_of(get_remote_addr(transport))
        self._certificate = transport.get_extra_info("peercert") or None
        self._is_spare = self._census.enter(self) is Admission.FOR_PROBES
        if self._is_spare:
            self.app = OnlyProbes(self.app)
        self._census.waits(self)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends a connection."""
        self._census.leave(self)
        self._deadline.end()
        self._unread.end()
        self._lingering.end()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Reads a packet."""
        if self._has_ended():
            return
        if self._in_head and not self._deadline.is_set:
            self._await_head()
        super().data_received(data)
        if self._is_stopped:
            self._stop()

    def pause_writing(self) -> None:
        """Notes that the client reads slower than it is sent data."""
        super().pause_writing()
        self._unread.begin()

    def resume_writing(self) -> None:
        """Notes that the client has caught up."""
        self._unread.end()
        super().resume_writing()
        if self._answered is not None and not self._is_answering():
            self._census.waits(self)

    # Called by the parser

    def on_message_begin(self) -> None:
        """Begins a request, and adds the certificate of its connection."""
        super().on_message_begin()
        if self._certificate is not None:
            self.scope["extensions"] = {EXTENSION: self._certificate}

    def on_headers_complete(self) -> None:
        """Ends a request's head. The body may arrive while the request is served."""
        super().on_headers_complete()
        if self._in_head:
            # The request offers another protocol, and is read again without the offer.
            return
        self.cycle.transport = LingeringTransport(self.transport, self._close)  # type: ignore[assignment]
        self.cycle.keep_alive = self.cycle.keep_alive and not self._is_spare
        self._head_began_s = self.loop.time()
        self._deadline.end()
        self._census.waits_no_more(self)

    def on_message_complete(self) -> None:
        """Ends a request."""
        super().on_message_complete()
        if not self._is_upgrade and not self._is_answering():
            self._deadline.end()
            self._idle()

    # Called by uvicorn

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        still_there: Any = IfStillThere(app, self.transport.is_closing)
        super()._start_asgi_task(cycle, still_there)

    def on_response_complete(self) -> None:
        """Ends a request that is answered. The next one may be waiting already."""
        super().on_response_complete()
        if self.transport.is_closing() or self._lingering.has_begun:
            self._unset_keepalive_if_required()
        elif not self._is_answering():
            self._idle()

    # Called by the census

    def is_slow(self) -> bool:
        """Whether its body arrives slower than the operator allows."""
        age_s = self.loop.time() - self._head_began_s
        if self._in_head or self.flow.read_paused or age_s < _YOUNG_S:
            return False
        return self._count.body_bytes < age_s * self._bounds.min_bytes_per_s

    def drop(self) -> None:
        """Closes the connection to make room for another one."""
        has_begun = not self._in_head or self._count.head_bytes > 0
        if has_begun and not self._lingering.has_begun and not self._has_answer_begun():
            self._write_refusal(TooManyConnections())
        self._is_stopped = True
        self.transport.close()

    # Ending

    def _await_head(self) -> None:
        seconds = _SPARE_HEADER_TIMEOUT_S if self._is_spare else self._bounds.header_timeout_s
        self._deadline.begin(seconds, self._head_is_late)

    def _head_is_late(self) -> None:
        if self._count.head_bytes == 0:
            self.transport.close()
            return
        self._refusal = HeadersTooSlow()
        self._stop()

    def _idle(self) -> None:
        """Waits for the client: for a new head, or for the rest of a body that is answered already."""
        if self._is_stopped:
            self._end()
            return
        if not self.flow.write_paused:
            self._census.waits(self)
        if not self._in_head:
            self._deadline.begin(self.timeout_keep_alive, self.transport.abort)
        elif self._deadline.is_set:
            self._unset_keepalive_if_required()
        elif self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _stop(self) -> None:
        """Stops reading. Answers that are complete or have begun are sent first."""
        self._is_stopped = True
        self._deadline.end()
        if not self._in_head:
            self._give_up_body()
        if not self._is_answering():
            self._end()

    def _give_up_body(self) -> None:
        cycle = self.cycle
        if self.pipeline and self.pipeline[0][0] is cycle:
            self.pipeline.popleft()
            return
        if cycle.response_started:
            # The client has its answer, or a part of it.
            self._refusal = None
        cycle.disconnected = True
        cycle.message_event.set()

    def _end(self) -> None:
        self._unset_keepalive_if_required()
        if self._refusal is not None:
            self._write_refusal(self._refusal)
        self._close()

    def _close(self) -> None:
        self.pipeline.clear()
        if self._in_head and not self._is_stopped:
            self.transport.close()
            return
        self._is_stopped = True
        self._census.waits(self)
        self.flow.resume_reading()
        self._lingering.begin()

    def _write_refusal(self, error: GatewayError) -> None:
        if not self.transport.is_closing():
            _log.info("connection_refused", code=error.code, detail=error.detail, peer=self.peer)
            self.transport.write(refusal_bytes(error))

    def _has_ended(self) -> bool:
        return self._is_stopped or self._lingering.has_begun

    def _is_answering(self) -> bool:
        cycle = self._answered
        return bool(self.pipeline) or not (cycle is None or cycle.response_complete or cycle.disconnected)

    def _has_answer_begun(self) -> bool:
        cycle = self._answered
        return cycle is not None and cycle.response_started and not cycle.response_complete
