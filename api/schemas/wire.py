"""What all models of the wire share: camelCase outside, nothing unknown, nothing coerced."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """A model that is spelled in camelCase on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True
    )


class StrictModel(BaseModel):
    """A request: types are taken as they are, and unknown fields are refused."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=False,
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
    )
