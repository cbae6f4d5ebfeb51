"""Messages about values that do not fit, and texts with a pattern that programs can read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema


@dataclass(frozen=True, slots=True)
class Spelled:
    """In `Annotated`: the whole text has to match `pattern`; else the message is `words`.

    Messages never show the pattern. The JSON schema has it, for programs.
    """

    pattern: str
    words: str

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Checks the text after all earlier checks."""
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Adds the pattern to the schema."""
        described: dict[str, Any] = handler(schema)
        return described | {"pattern": self.pattern}

    def _checked(self, text: str) -> str:
        if re.fullmatch(self.pattern, text) is None:
            raise PydanticCustomError("spelling", "{words}", {"words": self.words})
        return text


NO_CONTROLS = Spelled(r"^[^\x00-\x1f\x7f]+$", "it is empty or has control characters: leave them out")
NO_CONTROLS_OR_EMPTY = Spelled(r"^[^\x00-\x1f\x7f]*$", "it has control characters: leave them out")
NO_NUL = Spelled(r"^[^\x00]*$", "it has the character NUL: leave it out")


def words_of(finding: Mapping[str, Any]) -> str:
    """Describes one of Pydantic's findings for people, without patterns, class names and Python's terms.

    >>> words_of({"type": "value_error", "msg": "Value error, it is too long"})
    'it is too long'
    """
    match finding["type"]:
        case "uuid_parsing":
            return "Input should be a valid UUID, such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427"
        case "model_type" | "model_attributes_type":
            return "Input should be an object"
        case "extra_forbidden":
            return "There is no field of this name: check its spelling, or leave it out"
        case _:
            return str(finding["msg"]).removeprefix("Value error, ")
