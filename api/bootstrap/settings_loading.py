"""Reads the settings. Rejects unknown names, and suggests the most similar one."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import yaml
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rapidfuzz import fuzz

from api.bootstrap.settings import CONFIG_FILE, Settings
from api.bootstrap.spelling import words_of
from service.errors.gateway_error import CannotStart, did_you_mean

PREFIX = "SLUICE_"
_ALIKE_PERCENT = 80
_LIKE_ENOUGH = 0.6
_FIELD = re.compile(r'field "(\w+)"')
_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "catalogs": '{"lake": {"type": "rest", "uri": "https://catalog.example"}}',
        "resource_groups": '{"rootGroups": […], "selectors": […]}, or the path of a JSON file',
        "api_tokens": '{"dashboards": "SHA-256 of its token"}',
        "spark_conf": '{"spark.sql.shuffle.partitions": "64"}',
        "parquet_tables": '{"logs.events": {"location": "s3://bucket/events"}}',
    }
)
REMOVED: Mapping[str, str] = MappingProxyType({"ingest_max_held_bytes": "max_held_body_bytes"})
"""Settings that were removed, each with its successor."""
OF_CLIENTS = ("SLUICE_URL", "SLUICE_TOKEN", "SLUICE_PROFILE")
"""Variables that clients read, and that a gateway in the same shell ignores."""


def load_settings(removed: Mapping[str, str] = REMOVED) -> Settings:
    """Reads this process's settings from the environment, then from the file in `SLUICE_CONFIG_FILE`.

    Raises:
        CannotStart: a name is unknown or was removed, or a value does not fit; the message shows no value.
    """
    variables = (
        variable
        for variable in os.environ
        if variable.upper().startswith(PREFIX) and variable not in (CONFIG_FILE, *OF_CLIENTS)
    )
    refuse_unknown((variable[len(PREFIX) :].lower() for variable in variables), removed, prefix=PREFIX)
    refuse_unknown(_keys_of_file(os.environ.get(CONFIG_FILE)), removed)
    try:
        return Settings()
    except ValidationError as error:
        raise CannotStart(f"The settings are not valid: {_faults(error)}.") from None
    except SettingsError as error:
        raise CannotStart(_not_json(error)) from None


def refuse_unknown(names: Iterable[str], removed: Mapping[str, str], prefix: str = "") -> None:
    """Raises CannotStart for the first name that is not a setting."""
    for name in names:
        spelled = prefix + (name.upper() if prefix else name)
        if name in removed:
            successor = prefix + (removed[name].upper() if prefix else removed[name])
            raise CannotStart(f"The setting {spelled} was removed; use {successor} instead.")
        if name not in Settings.model_fields:
            meant = [prefix + (near.upper() if prefix else near) for near in _nearest(name.lower())]
            raise CannotStart(f"There is no setting {spelled}.{did_you_mean(meant)}")


def _nearest(name: str) -> list[str]:
    """Returns the setting most like the name in spelling and shared words; rare words count more."""
    known = {field: field.split("_") for field in Settings.model_fields}
    asked = name.split("_")

    count = Counter(word for words in known.values() for word in words)

    def shared(words: Sequence[str], others: Sequence[str]) -> float:
        weights = {word: 1 / max(count[word], 1) for word in words}
        found = (
            weight for word, weight in weights.items() if any(_is_alike(word, other) for other in others)
        )
        return sum(found) / sum(weights.values())

    def likeness(candidate: str) -> float:
        words = known[candidate]
        return fuzz.ratio(name, candidate) / 100 + shared(words, asked) + shared(asked, words)

    best = max(known, key=likeness)
    return [best] if likeness(best) >= _LIKE_ENOUGH else []


def _is_alike(one: str, other: str) -> bool:
    # Alike are table and tables, filter and filtering, workers and wrokers.
    shorter, longer = sorted((one, other), key=len)
    is_begun = longer.startswith(shorter) or fuzz.ratio(one, other) >= _ALIKE_PERCENT
    return one == other or (len(shorter) > 3 and is_begun)


def _keys_of_file(path: str | None) -> list[str]:
    if path is None:
        return []
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CannotStart(f"The settings file {path} cannot be read: {error}.") from None
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise CannotStart(f"The settings file {path} is not YAML{line}.") from None
    if not isinstance(content or {}, dict):
        raise CannotStart(f"The settings file {path} has to be a mapping of setting to value.")
    return [str(key) for key in content or {}]


def _faults(error: ValidationError) -> str:
    return "; ".join(
        ": ".join((*filter(None, [".".join(map(str, fault["loc"]))]), words_of(fault)))
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    )


def _not_json(error: SettingsError) -> str:
    # pydantic-settings names the field only in its message.
    found = _FIELD.search(str(error))
    field = found[1] if found else ""
    example = _EXAMPLES.get(field, '{"name": "value"}')
    return f"{PREFIX}{field.upper()} is not JSON as expected, such as {example}."
