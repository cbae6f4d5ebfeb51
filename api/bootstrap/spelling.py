"""What is wrong with a value, in words; texts of a certain form, of which programs get the pattern."""

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
    """In `Annotated`: the whole text matches `pattern`, or else `words` say what it has to be.

    Readers of messages never see the pattern; the JSON schema has it, for programs.
    """

    pattern: str
    words: str

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Checks the text once it has passed all checks before."""
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The pattern, beside what is described already."""
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
    """What one of Pydantic's findings says to people: no pattern, no class of ours, no word of Python's.

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
