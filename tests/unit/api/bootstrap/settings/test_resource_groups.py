"""Resource groups as operators write them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from api.bootstrap.parts.build_admission import admission_rules, pools_file
from api.bootstrap.settings.querying.resource_groups import resource_groups
from api.bootstrap.settings_loading import load_settings
from service.errors.gateway_error import CannotStart
from service.model.operations.resource_groups import QueryClass, WhenExhausted, group_name
from spark_session.resources import resource_path

PAGE = Path(__file__).parents[5] / "docs" / "how-to" / "fairness.md"
VARIABLE = "SLUICE_RESOURCE_GROUPS"


def documented() -> dict[str, Any]:
    """The example of the page for operators."""
    found = re.search(r"```json\n(\{\n.*?\n\})\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    example: dict[str, Any] = json.loads(found[1])
    return example


def group(name: str = "all", **more: object) -> dict[str, Any]:
    return {"name": name, "maxQueued": 10, "hardConcurrencyLimit": 2, **more}


def groups(*roots: Mapping[str, object], selectors: object = None) -> dict[str, Any]:
    return {"rootGroups": list(roots), "selectors": selectors or [{"group": "all"}]}


def test_the_documented_example_is_valid_and_means_what_the_page_says() -> None:
    found = resource_groups(documented())
    assert found is not None
    by_name = {group_name(path): one for path, one in found.walk()}
    etl = by_name["global.etl"]
    assert etl.hard_cpu_limit_ms == 2 * 3_600_000
    assert etl.hard_scan_limit_bytes == 5 * 1024**4
    assert etl.when_exhausted is WhenExhausted.REFUSE
    assert etl.concurrency_limit(QueryClass.LONG) == 2
    assert by_name["global.dashboards"].scheduling_weight == 3
    assert found.counts_cpu


def test_groups_come_from_the_environment_or_from_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps(documented()))
    given = load_settings().resource_groups
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(documented()), encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(path))
    assert load_settings().resource_groups == given == documented()


def test_without_groups_each_caller_has_one_and_pools_are_those_of_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SLUICE_QUERY_WORKERS", "4")
    monkeypatch.setenv("SLUICE_SHORT_QUERY_WORKERS", "2")
    settings = load_settings()
    rules = admission_rules(settings)
    path = rules.group_of("ann", (), {})
    assert group_name(path) == "global.${USER}"
    specs = dict(rules.groups.walk())
    assert specs[path].concurrency_limit(QueryClass.LONG) == 4
    assert specs[path].concurrency_limit(QueryClass.SHORT) == 6
    assert specs[path[:1]].concurrency_limit(QueryClass.SHORT) == 7
    assert pools_file(settings, tmp_path) == resource_path("fairscheduler.xml")
    assert rules.pool_of(path, QueryClass.LONG) == "queries"
    assert rules.pool_of(path, QueryClass.SHORT) == "short"


def test_each_configured_group_has_a_pool_with_its_share(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps(documented()))
    settings = load_settings()
    text = pools_file(settings, tmp_path).read_text(encoding="utf-8")
    weights = dict(re.findall(r'<pool name="([^"]+)">.*?<weight>(\d+)</weight>', text, re.DOTALL))
    assert weights == {
        "queries": "1000",
        "short": "4000",
        "ingests": "1000",
        "queries.global.dashboards.each": "600",
        "queries.global.etl": "200",
        "queries.global.adhoc.each": "200",
    }
    rules = admission_rules(settings)
    analyst = rules.group_of("ann", ("analysts",), {"dashboard": "returns"})
    assert rules.pool_of(analyst, QueryClass.LONG) == "queries.global.dashboards.each"


REFUSED = [
    (groups(group(softMemoryLimit="80%")), "softMemoryLimit: There is no field of this name"),
    (groups(group(name="a.b")), "a group's name has"),
    (groups(group(hardCpuLimit="2 weeks")), "write it like 30m or 1h"),
    (groups(group(hardPhysicalDataScanLimit=5)), "write it like 500GB or 2TB"),
    (groups(group(schedulingPolicy="query_priority")), "weighted_fair"),
    (groups(group(), group()), "there are two groups all"),
    (groups(group(subGroups=[group("x")])), "a selector names all, which is not a group without subGroups"),
    (groups(group(), selectors=[{"group": "all", "user": "ann"}]), "the last selector has to match every"),
    (groups(*(group(f"g{number}") for number in range(101))), "101 groups; 100 are allowed"),
    (
        groups(
            group(
                subGroups=[
                    group(
                        "b",
                        subGroups=[
                            group("c", subGroups=[group("d", subGroups=[group("e", subGroups=[group("f")])])])
                        ],
                    )
                ]
            )
        ),
        "all.b.c.d.e.f is deeper than 5 groups",
    ),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_groups_that_do_not_fit_refuse_the_start(
    given: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, json.dumps(given))
    with pytest.raises(CannotStart) as refused:
        load_settings()
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"), [("/no/such/file.json", "cannot be read"), ("{", "it is not JSON")]
)
def test_a_text_that_is_no_json_refuses_the_start(
    text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(CannotStart, match=message):
        load_settings()
