"""Runs statements for SQL protocols, in this process: start, wait, read, cancel, describe."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID, uuid4

from api.bootstrap.settings import Settings
from api.http.requests.query_request import place_of
from api.sql_protocols.audited_calls import AuditedCalls
from api.sql_protocols.comment_tags import comment_tags
from api.sql_protocols.login import ProtocolCaller
from api.sql_protocols.running_statement import POLL_S, RunningStatement
from service.audit.audited_statements import ShownStatement, statement_details
from service.audited import note
from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryTimedOut
from service.gateway import Gateway
from service.model.audit.events import Action
from service.model.query.description import Description
from service.model.query.query import Parameters, QueryRequest
from service.model.query.results import ResultFormat
from service.model.sessions.sessions import SessionUse
from service.ports.clock import Clock
from service.query.explaining.planning_service import Planning


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementRequest:
    """A statement of a session. `timeout_s` of 0 is the operator's; one above the maximum counts as it.

    `operation_id` is that of the protocol's operation. The query has it as its requestId: sent twice, it runs
    once. Without one, the query has no requestId, and no store is asked for it.
    """

    sql: str
    session_id: UUID | None = None
    parameters: Parameters = ()
    timeout_s: float = 0
    operation_id: UUID | None = None


class Statements:
    """Starts and describes statements. Any thread may call any method.

    A result is whole or an error: clients cannot see that one was cut. Row and byte limits are the operator's
    maximum.
    """

    def __init__(
        self,
        gateway: Callable[[], Gateway],
        settings: Settings,
        clock: Clock,
        audited: AuditedCalls,
        shown: ShownStatement,
    ) -> None:
        self._gateway = gateway
        self._settings = settings
        self._clock = clock
        self._audited = audited
        self._shown = shown

    def start(self, caller: ProtocolCaller, request: StatementRequest) -> RunningStatement:
        """Accepts a statement, and returns without waiting for it.

        Raises:
            GatewayError: it was not accepted. All that is wrong with its text is the end of the statement.
        """
        operation_id = request.operation_id or uuid4()
        with self._audited.auditing(Action.QUERY, caller):
            note(statement_details(request.sql, self._shown))
            gateway = self._gateway()
            access = gateway.access_of(caller.principal)
            asked = self._query_request(caller, request, request.operation_id)
            submission = gateway.queries.submit(asked, caller.name, access, caller.principal.roles)
        return RunningStatement(self._gateway, caller.name, operation_id, submission.query_id)

    def describe(
        self,
        caller: ProtocolCaller,
        request: StatementRequest,
        is_gone: Callable[[], bool] = lambda: False,
    ) -> Description:
        """Returns the columns and the parameters of a statement. It is checked as for a run, and not run.

        Waits for the engine until the statement's timeout, or until `is_gone`, which is asked every second.

        Raises:
            QueryTimedOut: the engine did not answer in time.
            QueryCanceled: the client is gone.
            GatewayError: the statement could not be run.
        """
        with self._audited.auditing(Action.EXPLAIN, caller):
            note(statement_details(request.sql, self._shown))
            gateway = self._gateway()
            asked = self._query_request(caller, request, None)
            access = gateway.access_of(caller.principal)
            planning = gateway.queries.explainer.describe(asked, caller.name, access)
            self._await(gateway, planning, asked.timeout_ms, is_gone)
            return planning.explanation()

    def _await(
        self,
        gateway: Gateway,
        planning: Planning[Description],
        timeout_ms: int,
        is_gone: Callable[[], bool],
    ) -> None:
        until_ms = self._clock.elapsed_ms() + timeout_ms
        try:
            while not planning.finished.done():
                left_s = (until_ms - self._clock.elapsed_ms()) / 1000
                if left_s <= 0:
                    raise QueryTimedOut("The statement was not planned within its timeout.")
                concurrent.futures.wait([planning.finished], min(POLL_S, left_s))
                if is_gone() and not planning.finished.done():
                    raise QueryCanceled
        except BaseException:
            with suppress(GatewayError):
                gateway.queries.explainer.stop_planning(planning)
            raise

    def _query_request(
        self, caller: ProtocolCaller, request: StatementRequest, request_id: UUID | None
    ) -> QueryRequest:
        session = self._session(caller, request.session_id)
        catalog, schema = place_of(None, None, self._settings, session)
        return QueryRequest(
            sql=request.sql,
            parameters=request.parameters,
            catalog=catalog,
            schema=schema,
            timeout_ms=self._timeout_ms(request.timeout_s),
            row_limit=self._settings.max_row_limit,
            byte_limit=self._settings.max_byte_limit,
            request_id=request_id,
            tags=comment_tags(request.sql),
            format=ResultFormat.ARROW_STREAM,
            session=session,
        )

    def _session(self, caller: ProtocolCaller, session_id: UUID | None) -> SessionUse | None:
        if session_id is None:
            return None
        return self._gateway().sessions.values(session_id, caller.name)

    def _timeout_ms(self, timeout_s: float) -> int:
        if timeout_s <= 0:
            return self._settings.query_timeout_s * 1000
        return max(1, round(min(timeout_s, self._settings.max_query_timeout_s) * 1000))
