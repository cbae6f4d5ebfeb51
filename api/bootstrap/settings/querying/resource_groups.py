"""Resource groups as operators write them, in the words of Trino."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_settings import NoDecode

from api.bootstrap.settings.value_types import GIB, KIB, MIB, CallerName
from api.bootstrap.spelling import Spelled, words_of
from service.model.operations.resource_groups import (
    GroupPath,
    ResourceGroup,
    ResourceGroups,
    Selector,
    WhenExhausted,
)

MAX_DEPTH = 5
MAX_GROUPS = 100
MAX_LIMIT = 1_000_000

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(B|kB|MB|GB|TB|PB)")
_SIZES = {"B": 1, "kB": KIB, "MB": MIB, "GB": GIB, "TB": 1024 * GIB, "PB": 1024**2 * GIB}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d)")
_DURATIONS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def _measured(pattern: re.Pattern[str], units: dict[str, int], like: str) -> BeforeValidator:
    def number(value: object) -> object:
        found = pattern.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise ValueError(f"write it like {like}")
        return round(float(found[1]) * units[found[2]])

    return BeforeValidator(number)


Bytes = Annotated[int, _measured(_SIZE, _SIZES, "500GB or 2TB"), Field(ge=1)]
Milliseconds = Annotated[int, _measured(_DURATION, _DURATIONS, "30m or 1h"), Field(ge=1)]
GroupName = Annotated[
    str,
    Spelled(
        r"^(?=.{1,63}$)[A-Za-z0-9_-]*(\$\{USER\})?[A-Za-z0-9_-]*$",
        "a group's name has letters, digits, _ and -, 63 at most, and ${USER} for a group of each caller",
    ),
]


class _Config(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, hide_input_in_errors=True
    )


class GroupConfig(_Config):
    """One group. Names and meanings are Trino's, but for `longConcurrencyLimit` and `whenExhausted`."""

    name: GroupName
    max_queued: int = Field(ge=0, le=MAX_LIMIT)
    hard_concurrency_limit: int = Field(ge=1, le=MAX_LIMIT)
    long_concurrency_limit: int | None = Field(None, ge=1, le=MAX_LIMIT)
    scheduling_policy: Literal["weighted_fair"] = "weighted_fair"
    scheduling_weight: int = Field(1, ge=1, le=10_000)
    hard_cpu_limit: Milliseconds | None = None
    hard_physical_data_scan_limit: Bytes | None = None
    when_exhausted: WhenExhausted = WhenExhausted.QUEUE
    sub_groups: tuple[GroupConfig, ...] = ()

    def group(self) -> ResourceGroup:
        """Returns the group."""
        return ResourceGroup(
            name=self.name,
            hard_concurrency_limit=self.hard_concurrency_limit,
            max_queued=self.max_queued,
            long_concurrency_limit=self.long_concurrency_limit,
            scheduling_weight=self.scheduling_weight,
            hard_cpu_limit_ms=self.hard_cpu_limit,
            hard_scan_limit_bytes=self.hard_physical_data_scan_limit,
            when_exhausted=self.when_exhausted,
            sub_groups=tuple(sub_group.group() for sub_group in self.sub_groups),
        )


class SelectorConfig(_Config):
    """Which queries a group takes; the first selector that matches counts."""

    group: str
    user: CallerName = "*"
    roles: frozenset[str] = frozenset()
    tags: dict[str, str] = {}

    @property
    def path(self) -> GroupPath:
        """The path of its group."""
        return tuple(self.group.split("."))

    @property
    def matches_all(self) -> bool:
        """Whether it matches every query."""
        return self.user == "*" and not self.roles and not self.tags


class ResourceGroupsConfig(_Config):
    """All groups and selectors."""

    root_groups: tuple[GroupConfig, ...] = Field(min_length=1)
    selectors: tuple[SelectorConfig, ...] = Field(min_length=1, max_length=MAX_GROUPS)
    cpu_quota_period: Milliseconds = 3_600_000
    physical_data_scan_quota_period: Milliseconds = 3_600_000

    @model_validator(mode="after")
    def _is_one_tree(self) -> Self:
        groups = self.groups()
        walked = list(groups.walk())
        paths = [path for path, _ in walked]
        if len(walked) > MAX_GROUPS:
            raise ValueError(f"there are {len(walked)} groups; {MAX_GROUPS} are allowed")
        if (deepest := max(paths, key=len)) and len(deepest) > MAX_DEPTH:
            raise ValueError(f"{'.'.join(deepest)} is deeper than {MAX_DEPTH} groups")
        if twice := next((path for path in paths if paths.count(path) > 1), None):
            raise ValueError(f"there are two groups {'.'.join(twice)}")
        leaves = {path for path, group in walked if not group.sub_groups}
        for selector in self.selectors:
            if selector.path not in leaves:
                raise ValueError(
                    f"a selector names {selector.group}, which is not a group without subGroups: one of"
                    f" {', '.join(sorted(map('.'.join, leaves)))}"
                )
        if not self.selectors[-1].matches_all:
            raise ValueError("the last selector has to match every query: give it only a group")
        return self

    def groups(self) -> ResourceGroups:
        """Returns the groups and selectors."""
        return ResourceGroups(
            root_groups=tuple(group.group() for group in self.root_groups),
            selectors=tuple(
                Selector(group=one.path, user=one.user, roles=one.roles, tags=one.tags)
                for one in self.selectors
            ),
            cpu_quota_period_ms=self.cpu_quota_period,
            scan_quota_period_ms=self.physical_data_scan_quota_period,
        )


def _given(value: object) -> object:
    """Returns the groups as a mapping, which are valid; from JSON, or from the JSON file of this path."""
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, dict) and value:
        try:
            ResourceGroupsConfig.model_validate(value)
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False, include_context=False)
            raise ValueError(
                "; ".join(
                    ": ".join((*filter(None, [".".join(map(str, fault["loc"]))]), words_of(fault)))
                    for fault in faults
                )
            ) from None
    return value


def _parsed(text: str) -> object:
    is_json = text.lstrip().startswith("{")
    try:
        return orjson.loads(text if is_json else Path(text).read_bytes())
    except OSError as error:
        raise ValueError(f"the file {text} cannot be read: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        place = "it" if is_json else f"the file {text}"
        raise ValueError(f"{place} is not JSON: {error}") from None


ResourceGroupsSetting = Annotated[dict[str, Any], NoDecode, BeforeValidator(_given)]
"""Groups in Trino's JSON; in the environment as JSON, or as the path of a JSON file."""


def resource_groups(given: dict[str, Any]) -> ResourceGroups | None:
    """Returns the groups of a setting that is valid; None: one group for each caller."""
    return ResourceGroupsConfig.model_validate(given).groups() if given else None
