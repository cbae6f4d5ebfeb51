"""The protobuf messages of Arrow Flight SQL that this server reads and writes, made from one table.

Generated code would have to fit the version of the protobuf runtime. The descriptors are built from the names
and numbers of fields here, which are those of the published specification.

Source: https://arrow.apache.org/docs/format/FlightSql.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from api.flight.wire.flight_errors import FlightMessageInvalid

SQL_PACKAGE = "arrow.flight.protocol.sql"
FLIGHT_PACKAGE = "arrow.flight.protocol"
_KINDS = MappingProxyType(
    {
        "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
        "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
        "bool": descriptor_pb2.FieldDescriptorProto.TYPE_BOOL,
        "int32": descriptor_pb2.FieldDescriptorProto.TYPE_INT32,
        "int64": descriptor_pb2.FieldDescriptorProto.TYPE_INT64,
        "uint32": descriptor_pb2.FieldDescriptorProto.TYPE_UINT32,
        "sfixed64": descriptor_pb2.FieldDescriptorProto.TYPE_SFIXED64,
        "double": descriptor_pb2.FieldDescriptorProto.TYPE_DOUBLE,
    }
)
_TABLE_NAMES = "optional string catalog = 1; optional string db_schema = 2; string table = 3"
_SQL = MappingProxyType(
    {
        "CommandGetSqlInfo": "repeated uint32 info = 1",
        "CommandGetXdbcTypeInfo": "optional int32 data_type = 1",
        "CommandGetCatalogs": "",
        "CommandGetDbSchemas": "optional string catalog = 1; optional string db_schema_filter_pattern = 2",
        "CommandGetTables": "optional string catalog = 1; optional string db_schema_filter_pattern = 2;"
        " optional string table_name_filter_pattern = 3; repeated string table_types = 4;"
        " bool include_schema = 5",
        "CommandGetTableTypes": "",
        "CommandGetPrimaryKeys": _TABLE_NAMES,
        "CommandGetExportedKeys": _TABLE_NAMES,
        "CommandGetImportedKeys": _TABLE_NAMES,
        "CommandGetCrossReference": "optional string pk_catalog = 1; optional string pk_db_schema = 2;"
        " string pk_table = 3; optional string fk_catalog = 4; optional string fk_db_schema = 5;"
        " string fk_table = 6",
        "CommandStatementQuery": "string query = 1; optional bytes transaction_id = 2",
        "CommandStatementUpdate": "string query = 1; optional bytes transaction_id = 2",
        "CommandPreparedStatementQuery": "bytes prepared_statement_handle = 1",
        "CommandPreparedStatementUpdate": "bytes prepared_statement_handle = 1",
        "TicketStatementQuery": "bytes statement_handle = 1",
        "ActionCreatePreparedStatementRequest": "string query = 1; optional bytes transaction_id = 2",
        "ActionCreatePreparedStatementResult": "bytes prepared_statement_handle = 1;"
        " bytes dataset_schema = 2; bytes parameter_schema = 3",
        "ActionClosePreparedStatementRequest": "bytes prepared_statement_handle = 1",
        "ActionCancelQueryRequest": "bytes info = 1",
        "ActionCancelQueryResult": "int32 result = 1",
        "DoPutUpdateResult": "int64 record_count = 1",
        "DoPutPreparedStatementResult": "optional bytes prepared_statement_handle = 1",
    }
)
_FLIGHT = MappingProxyType(
    {
        "CancelFlightInfoRequest": "bytes info = 1",
        "CancelFlightInfoResult": "int32 status = 1",
        "StringList": "repeated string values = 1",
        "SessionOptionValue": "string string_value = 1; bool bool_value = 2; sfixed64 int64_value = 3;"
        " double double_value = 4; StringList string_list_value = 5",
        "SessionOption": "string key = 1; SessionOptionValue value = 2",
        "SessionError": "int32 value = 1",
        "SessionErrorEntry": "string key = 1; SessionError value = 2",
        "SetSessionOptionsRequest": "repeated SessionOption session_options = 1",
        "SetSessionOptionsResult": "repeated SessionErrorEntry errors = 1",
        "GetSessionOptionsRequest": "",
        "GetSessionOptionsResult": "repeated SessionOption session_options = 1",
        "CloseSessionRequest": "",
        "CloseSessionResult": "int32 status = 1",
    }
)
"""As on the wire: an enumeration is a number, a map a list of its entries, and a `FlightInfo` its bytes."""

ONE_OF = "option_value"
"""Which value a `SessionOptionValue` has."""


def _field(text: str, package: str) -> descriptor_pb2.FieldDescriptorProto:
    spelled, _, number = text.strip().rpartition(" = ")
    *labels, kind, name = spelled.split()
    field = descriptor_pb2.FieldDescriptorProto(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if labels == ["repeated"] else field.LABEL_OPTIONAL
    if kind in _KINDS:
        field.type = _KINDS[kind]
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f".{package}.{kind}"
    return field


def _message(name: str, fields: str, package: str) -> descriptor_pb2.DescriptorProto:
    message = descriptor_pb2.DescriptorProto(name=name)
    for text in filter(None, fields.split(";")):
        field = message.field.add()
        field.CopyFrom(_field(text, package))
        if text.split()[0] == "optional":
            # A field that knows whether it was sent is the only one of its group.
            field.proto3_optional = True
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")
        elif name == "SessionOptionValue":
            field.oneof_index = 0
    if name == "SessionOptionValue":
        message.oneof_decl.add(name=ONE_OF)
    return message


def _file(package: str, messages: Mapping[str, str]) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    file.message_type.extend(_message(name, fields, package) for name, fields in messages.items())
    return file


def _classes() -> Mapping[str, Any]:
    # A pool of its own: another package may have registered the same names in the default one.
    pool = descriptor_pool.DescriptorPool()
    made: dict[str, Any] = {}
    for package, messages in ((SQL_PACKAGE, _SQL), (FLIGHT_PACKAGE, _FLIGHT)):
        pool.Add(_file(package, messages))
        for name in messages:
            described = pool.FindMessageTypeByName(f"{package}.{name}")
            made[name] = message_factory.GetMessageClass(described)
    return MappingProxyType(made)


_CLASSES = _classes()
COMMANDS = tuple(_SQL)
"""The messages that travel in an `Any`."""


def new(name: str, **values: Any) -> Any:
    """Returns a message of this name.

    >>> new("DoPutUpdateResult", record_count=-1).record_count
    -1
    """
    return _CLASSES[name](**values)


def parsed(name: str, data: bytes) -> Any:
    """Returns the message of this name that the bytes are.

    Raises:
        FlightMessageInvalid: they are not.
    """
    message = _CLASSES[name]()
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise FlightMessageInvalid(f"The bytes are not a {name}.") from None
    return message


def packed(message: Message) -> bytes:
    """Returns the bytes of an `Any` with the message.

    >>> unpacked(packed(new("CommandStatementQuery", query="SELECT 1"))).query
    'SELECT 1'
    """
    wrapped = any_pb2.Any()
    wrapped.Pack(message)
    return bytes(wrapped.SerializeToString())


def unpacked(data: bytes, expected: Iterable[str] = COMMANDS) -> Any:
    """Returns the message of an `Any`, which is one of those expected.

    Raises:
        FlightMessageInvalid: the bytes are not such a message.
    """
    wrapped = any_pb2.Any()
    try:
        wrapped.ParseFromString(data)
    except DecodeError:
        raise FlightMessageInvalid("The bytes are not a google.protobuf.Any.") from None
    package, _, name = wrapped.type_url.rpartition("/")[2].rpartition(".")
    if package != SQL_PACKAGE or name not in expected:
        raise FlightMessageInvalid(
            f"This call does not take a message of the type {wrapped.type_url[:200]!r}."
        )
    return parsed(name, wrapped.value)


def name_of(message: Message) -> str:
    """Returns the name of a message.

    >>> name_of(new("CommandGetCatalogs"))
    'CommandGetCatalogs'
    """
    return str(message.DESCRIPTOR.name)
