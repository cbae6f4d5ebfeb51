"""The structs of the protocol, as Hive's TCLIService.thrift has them (Apache License 2.0).

Only what is read or written here. https://github.com/apache/hive/blob/master/service-rpc/if/TCLIService.thrift
"""

from __future__ import annotations

from api.hive_server.wire.thrift_types import (
    BINARY,
    BOOL,
    DOUBLE,
    I16,
    I32,
    I64,
    TEXT,
    Field,
    ListOf,
    MapOf,
    Shape,
    Struct,
    Written,
)


def _struct(**fields: tuple[int, Shape]) -> Struct:
    return Struct({number: Field(name, shape) for name, (number, shape) in fields.items()})


HANDLE_ID = _struct(guid=(1, BINARY), secret=(2, BINARY))
SESSION = _struct(sessionId=(1, HANDLE_ID))
OPERATION = _struct(operationId=(1, HANDLE_ID), operationType=(2, I32), hasResultSet=(3, BOOL))
STATUS = _struct(
    statusCode=(1, I32),
    infoMessages=(2, ListOf(TEXT)),
    sqlState=(3, TEXT),
    errorCode=(4, I32),
    errorMessage=(5, TEXT),
)
STATUS_ONLY = _struct(status=(1, STATUS))
STARTED = _struct(status=(1, STATUS), operationHandle=(2, OPERATION))

OF_SESSION = _struct(sessionHandle=(1, SESSION))
OF_OPERATION = _struct(operationHandle=(1, OPERATION))

OPEN_SESSION = _struct(
    client_protocol=(1, I32), username=(2, TEXT), password=(3, TEXT), configuration=(4, MapOf(TEXT))
)
OPENED = _struct(
    status=(1, STATUS),
    serverProtocolVersion=(2, I32),
    sessionHandle=(3, SESSION),
    configuration=(4, MapOf(TEXT)),
)
GET_INFO = _struct(sessionHandle=(1, SESSION), infoType=(2, I32))
INFO = _struct(
    status=(1, STATUS), infoValue=(2, _struct(stringValue=(1, TEXT), integerFlag=(4, I32), lenValue=(6, I64)))
)
EXECUTE = _struct(
    sessionHandle=(1, SESSION),
    statement=(2, TEXT),
    confOverlay=(3, MapOf(TEXT)),
    runAsync=(4, BOOL),
    queryTimeout=(5, I64),
)
GET_SCHEMAS = _struct(sessionHandle=(1, SESSION), catalogName=(2, TEXT), schemaName=(3, TEXT))
GET_TABLES = _struct(
    sessionHandle=(1, SESSION),
    catalogName=(2, TEXT),
    schemaName=(3, TEXT),
    tableName=(4, TEXT),
    tableTypes=(5, ListOf(TEXT)),
)
GET_COLUMNS = _struct(
    sessionHandle=(1, SESSION),
    catalogName=(2, TEXT),
    schemaName=(3, TEXT),
    tableName=(4, TEXT),
    columnName=(5, TEXT),
)
GET_PRIMARY_KEYS = _struct(
    sessionHandle=(1, SESSION), catalogName=(2, TEXT), schemaName=(3, TEXT), tableName=(4, TEXT)
)
GET_FUNCTIONS = _struct(
    sessionHandle=(1, SESSION), catalogName=(2, TEXT), schemaName=(3, TEXT), functionName=(4, TEXT)
)
OPERATION_STATUS = _struct(
    status=(1, STATUS),
    operationState=(2, I32),
    sqlState=(3, TEXT),
    errorCode=(4, I32),
    errorMessage=(5, TEXT),
    operationStarted=(7, I64),
    hasResultSet=(9, BOOL),
    progressUpdateResponse=(
        10,
        _struct(
            headerNames=(1, ListOf(TEXT)),
            rows=(2, ListOf(ListOf(TEXT))),
            progressedPercentage=(3, DOUBLE),
            status=(4, I32),
            footerSummary=(5, TEXT),
            startTime=(6, I64),
        ),
    ),
)
GET_STATUS = _struct(operationHandle=(1, OPERATION), getProgressUpdate=(2, BOOL))
_QUALIFIERS = _struct(qualifiers=(1, MapOf(_struct(i32Value=(1, I32), stringValue=(2, TEXT)))))
_PRIMITIVE = _struct(type=(1, I32), typeQualifiers=(2, _QUALIFIERS))
_COLUMN = _struct(
    columnName=(1, TEXT),
    typeDesc=(2, _struct(types=(1, ListOf(_struct(primitiveEntry=(1, _PRIMITIVE)))))),
    position=(3, I32),
    comment=(4, TEXT),
)
RESULT_METADATA = _struct(status=(1, STATUS), schema=(2, _struct(columns=(1, ListOf(_COLUMN)))))
FETCH = _struct(operationHandle=(1, OPERATION), orientation=(2, I32), maxRows=(3, I64), fetchType=(4, I16))
FETCHED = _struct(
    status=(1, STATUS),
    hasMoreRows=(2, BOOL),
    results=(
        3,
        _struct(
            startRowOffset=(1, I64),
            # The rows themselves are in `columns`; the field is one that must be there.
            rows=(2, ListOf(Written())),
            columns=(3, ListOf(Written())),
        ),
    ),
)
GET_LOG = OF_OPERATION
LOG = _struct(status=(1, STATUS), log=(2, TEXT))
QUERY_ID = _struct(queryId=(1, TEXT))
SET_CLIENT_INFO = _struct(sessionHandle=(1, SESSION), configuration=(2, MapOf(TEXT)))
