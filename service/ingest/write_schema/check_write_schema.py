"""Reports every rule that a write schema breaks, at once and before anything is written."""

from __future__ import annotations

from service.ingest.write_schema.projection import Projection
from service.ingest.write_schema.rules.defaults import defaults
from service.ingest.write_schema.rules.equality_fields import equality_fields
from service.ingest.write_schema.rules.partition_sources import partition_sources
from service.ingest.write_schema.rules.required_columns import required_columns
from service.ingest.write_schema.rules.sort_sources import sort_sources
from service.model.ingest.ingest_request import Violation

RULES = (required_columns, partition_sources, sort_sources, equality_fields, defaults)


def check_write_schema(projection: Projection) -> tuple[Violation, ...]:
    """Returns the violations of all rules, in the rules' order; none when the files may be written so."""
    return tuple(violation for rule in RULES for violation in rule(projection))
