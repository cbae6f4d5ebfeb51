"""The types of the binary protocol, and the shapes of what is sent in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """The byte that stands for a type."""

    STOP = 0
    BOOL = 2
    BYTE = 3
    DOUBLE = 4
    I16 = 6
    I32 = 8
    I64 = 10
    STRING = 11
    STRUCT = 12
    MAP = 13
    SET = 14
    LIST = 15


FIXED_BYTES: Mapping[int, int] = {
    Kind.BOOL: 1,
    Kind.BYTE: 1,
    Kind.DOUBLE: 8,
    Kind.I16: 2,
    Kind.I32: 4,
    Kind.I64: 8,
}
"""The size of the values that have one."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value."""

    kind: Kind
    is_binary: bool = False


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one shape."""

    item: Shape


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from texts to values of one shape."""

    value: Shape


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a struct."""

    name: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct or a union: its fields by number. In Python, it is a dictionary by name."""

    fields: Mapping[int, Field]


@dataclass(frozen=True, slots=True)
class Written:
    """A struct that is bytes already, its end included."""


Shape = Scalar | ListOf | MapOf | Struct | Written

BOOL = Scalar(Kind.BOOL)
DOUBLE = Scalar(Kind.DOUBLE)
I16 = Scalar(Kind.I16)
I32 = Scalar(Kind.I32)
I64 = Scalar(Kind.I64)
TEXT = Scalar(Kind.STRING)
BINARY = Scalar(Kind.STRING, is_binary=True)


def kind_of(shape: Shape) -> Kind:
    """Returns the type that a shape is sent in.

    >>> kind_of(ListOf(TEXT)).name, kind_of(Written()).name
    ('LIST', 'STRUCT')
    """
    match shape:
        case Scalar():
            return shape.kind
        case ListOf():
            return Kind.LIST
        case MapOf():
            return Kind.MAP
        case Struct() | Written():
            return Kind.STRUCT
