"""The target of a statement that writes: which table, schema or view it changes."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.statement_errors import StatementNotAllowed
from service.model.policies.read_plan import name_of
from service.model.tables.reserved_names import is_plain, is_reserved
from service.model.writes.writes import Write, WriteKind
from service.policies.require import EVERY_TABLE
from spark_session.session.write_statements import ParsedWrite
from spark_session.vetting.vet import allow_relations
from spark_session.vetting.vetted_writes import kind_of

OF_SCHEMAS = frozenset({WriteKind.CREATE_SCHEMA, WriteKind.DROP_SCHEMA})
OF_VIEWS = frozenset({WriteKind.CREATE_VIEW, WriteKind.REPLACE_VIEW, WriteKind.DROP_VIEW})


def asked_target(parsed: ParsedWrite) -> Write:
    """Returns the kind and the target of a statement, whose names no other table or place could be taken for.

    Raises:
        StatementNotAllowed: it has no target, or one that SQL does not write to.
    """
    kind = kind_of(parsed.kind, is_overwrite=parsed.is_overwrite)
    if parsed.target is None:
        raise StatementNotAllowed(f"{kind.words} needs the name of a table.")
    target = (*parsed.target, EVERY_TABLE.table) if kind in OF_SCHEMAS else parsed.target
    for parts in (parsed.target, parsed.renamed_to or ()):
        _allow_parts(parts)
    for parts in (target, parsed.renamed_to or target):
        _allow_name(kind, parts)
    if parsed.options:
        raise StatementNotAllowed(f"A table may not be written with the option {parsed.options[0][:40]!r}.")
    if parsed.faults:
        raise StatementNotAllowed(f"{kind.words} may not have {parsed.faults[0][:40]} here.")
    renamed_to = None if parsed.renamed_to is None else name_of(parsed.renamed_to)
    return Write(kind, name_of(target), renamed_to=renamed_to)


def _allow_parts(parts: Sequence[str]) -> None:
    allow_relations([parts])
    for part in parts:
        if not is_plain(part):
            raise StatementNotAllowed(
                f"SQL writes to no table whose name has the part {part[:40]!r}: parts are not empty, and have"
                " no dot, backslash, asterisk or control character, nor spaces around them."
            )


def _allow_name(kind: WriteKind, parts: Sequence[str]) -> None:
    if len(parts) < 3:
        raise StatementNotAllowed(f"{kind.words} needs the name of a table in a schema of a catalog.")
    if is_reserved(parts[-1]):
        raise StatementNotAllowed(
            f"{parts[-1]} is a name for metadata or versions of a table, which SQL does not write to."
        )
