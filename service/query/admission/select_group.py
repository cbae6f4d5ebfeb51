"""Finds the group of a query."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from service.model.operations.resource_groups import USER, GroupPath, Selector


def select_group(
    selectors: Sequence[Selector], caller: str, roles: Collection[str], tags: Mapping[str, str]
) -> GroupPath | None:
    """Returns the configured path of the first selector that matches; None if none does.

    >>> nightly = Selector(group=("etl",), user="airflow:*", tags={"schedule": "*"})
    >>> others = Selector(group=("adhoc", "${USER}"))
    >>> select_group([nightly, others], "airflow:dag-7", (), {"schedule": "daily"})
    ('etl',)
    >>> select_group([nightly, others], "ann", (), {"schedule": "daily"})
    ('adhoc', '${USER}')
    >>> select_group([nightly], "ann", (), {}) is None
    True
    """
    return next((one.group for one in selectors if _matches(one, caller, roles, tags)), None)


def expanded(path: GroupPath, caller: str) -> GroupPath:
    """Returns the path for this caller.

    >>> expanded(("adhoc", "bi-${USER}"), "ann")
    ('adhoc', 'bi-ann')
    """
    return tuple(name.replace(USER, caller) for name in path)


def _matches(selector: Selector, caller: str, roles: Collection[str], tags: Mapping[str, str]) -> bool:
    return (
        _is_like(caller, selector.user)
        and (not selector.roles or not selector.roles.isdisjoint(roles))
        and all(name in tags and value in ("*", tags[name]) for name, value in selector.tags.items())
    )


def _is_like(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
