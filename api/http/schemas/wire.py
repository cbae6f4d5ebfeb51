"""Bases of all models on the wire: camelCase names; requests have no unknown fields and no coercion."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


def tag_of(form: type[BaseModel]) -> str:
    """Returns the tag of one form of a union. No field has this name, so it is never taken for a place."""
    return f"the form {form.__name__}"


def has_field(value: object, field: str) -> bool:
    """Whether a body, as JSON or as a model, has this field."""
    return field in value if isinstance(value, dict) else hasattr(value, field)


class WireModel(BaseModel):
    """A model that is spelled in camelCase on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True
    )


class StrictModel(BaseModel):
    """A request: types are not coerced, and unknown fields are rejected."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=False,
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
    )
