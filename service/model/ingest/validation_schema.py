"""The fields that a micro-batch's records were read as, stored so that the records can be revalidated."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from service.model.ingest.record_deletes import DeleteWhen, Envelope, RecordDeletes
from service.model.ingest.record_rest import RecordRest
from service.model.tables.partition_rules import NO_RULES, FolderBounds, PartitionRule, PartitionRules
from service.model.tables.schemas import Field, FieldType, ListOf, MapOf, Primitive, Struct


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How records of one write were read: their fields, the partition rules, what deletes, and their rest."""

    fields: tuple[Field, ...] = ()
    partition: PartitionRules = NO_RULES
    deletes: RecordDeletes | None = None
    rest: RecordRest | None = None


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file from which no row was written, and why; it is one dead letter."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True)
class ValidatedSchemas:
    """The fields that the records of each write were read as, and the files that could not be read."""

    reads: tuple[ReadAs, ...] = ()
    unreadable: tuple[UnreadableFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ValidationSchema:
    """The way to find dead letters: the fields of each write, and the writes whose dead letters are wanted.

    Files that could not be read are not read again.
    """

    reads: tuple[ReadAs, ...]
    writes: frozenset[int]
    unreadable: tuple[UnreadableFile, ...] = ()


def validated_schemas_to_bytes(validated_schemas: ValidatedSchemas) -> bytes:
    """Returns the fields as JSON for `validated_schemas_from_bytes`, without their documentation.

    >>> known = ReadAs((Field(1, "id", Primitive("long"), is_required=True),))
    >>> validated_schemas_to_bytes(ValidatedSchemas((known, ReadAs())))
    b'[[[1, "id", "long", true, null, null]], []]'
    """
    reads: object = list(map(_read_value, validated_schemas.reads))
    if validated_schemas.unreadable:
        reads = {
            "reads": reads,
            "unreadable": [[file.uri, file.reason] for file in validated_schemas.unreadable],
        }
    return json.dumps(reads).encode()


def validated_schemas_from_bytes(content: bytes) -> ValidatedSchemas:
    """Returns the fields that were stored by `validated_schemas_to_bytes`.

    >>> validated_schemas_from_bytes(b'[[[1, "id", "long", true, null, null]], []]').reads[0].fields[0].type
    Primitive(name='long')
    """
    value = json.loads(content)
    if isinstance(value, list):
        # The form from before files could be dead letters.
        return ValidatedSchemas(tuple(map(_read, value)))
    unreadable = tuple(UnreadableFile(uri, reason) for uri, reason in value["unreadable"])
    return ValidatedSchemas(tuple(map(_read, value["reads"])), unreadable)


def _read_value(read: ReadAs) -> object:
    fields = list(map(_field_value, read.fields))
    if not read.partition.fields and read.deletes is None and read.rest is None:
        # The form from before there were partition rules.
        return fields
    deletes = {} if read.deletes is None else {"deletes": _deletes_value(read.deletes)}
    rest = {} if read.rest is None else {"rest": asdict(read.rest)}
    return {"fields": fields, "partition": asdict(read.partition), **deletes, **rest}


def _deletes_value(deletes: RecordDeletes) -> object:
    when = deletes.when
    # An older gateway reads deletes only if they name no order, so one that is unset is left out.
    order = {} if deletes.order is None else {"order": deletes.order}
    return order | {
        "keys": list(deletes.keys),
        "when": None if when is None else {"field": when.field, "values": sorted(when.values)},
        "envelope": None if deletes.envelope is None else deletes.envelope.value,
    }


def _deletes(value: Any) -> RecordDeletes | None:
    if value is None:
        return None
    when, envelope = value["when"], value["envelope"]
    return RecordDeletes(
        tuple(value["keys"]),
        None if when is None else DeleteWhen(when["field"], frozenset(when["values"])),
        None if envelope is None else Envelope(envelope),
        value.get("order"),
    )


def _read(value: Any) -> ReadAs:
    if isinstance(value, list):
        return ReadAs(tuple(map(_field, value)))
    folders, rules = value["partition"]["folders"], value["partition"]["fields"]
    return ReadAs(
        tuple(map(_field, value["fields"])),
        PartitionRules(
            tuple(PartitionRule(**{**rule, "path": tuple(rule["path"])}) for rule in rules),
            None if folders is None else FolderBounds(**folders),
        ),
        _deletes(value.get("deletes")),
        RecordRest(**value["rest"]) if "rest" in value else None,
    )


def _field_value(field: Field) -> list[object]:
    defaults = (field.initial_default, field.write_default)
    return [field.field_id, field.name, _type_value(field.type), field.is_required, *defaults]


def _type_value(kind: FieldType) -> object:
    match kind:
        case Primitive(name):
            return name
        case Struct(fields):
            return {"struct": list(map(_field_value, fields))}
        case ListOf(element):
            return {"list": [_field_value(element)]}
        case MapOf(key, value):
            return {"map": [_field_value(key), _field_value(value)]}


def _field(value: list[Any]) -> Field:
    field_id, name, kind, is_required, initial_default, write_default = value
    return Field(field_id, name, _type(kind), is_required, initial_default, write_default)


def _type(value: Any) -> FieldType:
    if isinstance(value, str):
        return Primitive(value)
    [(kind, parts)] = value.items()
    fields = tuple(map(_field, parts))
    match kind:
        case "struct":
            return Struct(fields)
        case "list":
            return ListOf(*fields)
        case _:
            return MapOf(*fields)
