"""A secret in any setting is shown nowhere. Generated over the settings: a new one cannot be forgotten."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import pytest
import structlog
import yaml
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from typer.testing import CliRunner

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel, Settings
from api.bootstrap.settings_page import settings_page
from api.bootstrap.shown_settings import MASK, masked, secrets_of, without_secrets
from api.bootstrap.tracing import traced
from api.bootstrap.tracing.exporting import SCOPE, ReportingExporter
from api.cli.command_line import app
from service.tracing import request
from tests.collector import collector
from tests.unit.api.bootstrap.secret_settings import (
    COUNT,
    ELSEWHERE,
    NAMES_AND_PLACES,
    SECRET_VALUES,
    found_in,
    secrets,
    settings_with_text,
    spellings,
)

NEEDED: dict[str, Any] = {
    "lineage_url": "http://127.0.0.1:1/lineage",
    "oidc_issuers": {"corp": {"issuer": "https://corp.example", "audiences": ["sluice"]}},
    "console_logins": {"corp": {"client_id": "console"}},
    "console_url": "https://sluice.example",
}
"""Settings without which a secret would have no use."""


@pytest.fixture
def settings() -> Settings:
    return Settings(**SECRET_VALUES, **NEEDED)


def test_every_setting_that_can_hold_a_text_is_known() -> None:
    known = {*SECRET_VALUES, *ELSEWHERE, *NAMES_AND_PLACES}
    assert set(settings_with_text()) == known


def test_every_secret_is_in_a_setting() -> None:
    written = json.dumps(SECRET_VALUES)
    assert len([each for each in secrets() if each in written]) == COUNT


def test_config_shows_no_secret(settings: Settings) -> None:
    assert found_in(json.dumps(masked(settings))) == []
    assert found_in(repr(settings)) == []
    assert found_in(str(settings)) == []


def of_texts(kind: object) -> Iterator[tuple[str, Any]]:
    """Yields the settings of a kind: one text, or several."""
    for name in sorted(NAMES_AND_PLACES):
        annotation = Settings.model_fields[name].annotation
        if annotation is kind or (kind in get_args(annotation) and get_origin(annotation) is not dict):
            yield name, annotation


SINGLE = [name for name, annotation in of_texts(str) if get_origin(annotation) is not tuple]
SEVERAL = [name for name, annotation in of_texts(str) if get_origin(annotation) is tuple]


@pytest.mark.parametrize("name", [*SINGLE, *SEVERAL])
def test_a_password_in_the_wrong_setting_is_masked(settings: Settings, name: str) -> None:
    value = f"https://me:{secrets()[0]}@host/path"
    shown = masked(settings.model_copy(update={name: (value,) if name in SEVERAL else value}))
    assert found_in(json.dumps(shown[name])) == []
    assert MASK in json.dumps(shown[name])


@pytest.mark.parametrize("options", [[], ["--describe"]], ids=["values", "descriptions"])
@pytest.mark.parametrize("is_file", [False, True], ids=["environment", "file"])
def test_the_command_shows_no_secret(
    options: list[str],
    is_file: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    values = {**SECRET_VALUES, **NEEDED}
    if is_file:
        file = tmp_path_factory.mktemp("settings") / "sluice.yaml"
        file.write_text(yaml.safe_dump(dict(values)))
        monkeypatch.setenv("SLUICE_CONFIG_FILE", str(file))
    else:
        for name, value in values.items():
            monkeypatch.setenv(
                f"SLUICE_{name.upper()}", value if isinstance(value, str) else json.dumps(value)
            )
    printed = CliRunner().invoke(app, ["config", *options])
    assert printed.exit_code == 0, printed.output
    assert found_in(printed.output) == []
    assert "metrics_store_url" in printed.output.lower()


def test_the_page_of_the_settings_has_no_values() -> None:
    assert found_in(settings_page()) == []


def test_every_secret_is_known_to_what_masks(settings: Settings) -> None:
    known = secrets_of(settings)
    assert [each for each in secrets() if each not in known] == []
    for each in secrets():
        for spelled in spellings(each) - {each}:
            shown = without_secrets(f"refused: {each}, {spelled} and so on", known)
            assert each not in shown


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_a_log_line_shows_no_secret(
    settings: Settings, log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(LogLevel.INFO, log_format, secrets_of(settings))
    for each in secrets():
        logging.getLogger("library").error("it said %s is wrong", each)
        structlog.stdlib.get_logger("ours").warning("part_down", reason=f"wrong: {each}", detail=each)
        try:
            raise RuntimeError(f"wrong: {each}")
        except RuntimeError:
            logging.getLogger("library").exception("failed")
    written = capsys.readouterr().err
    assert written.count("wrong") >= COUNT
    assert found_in(written) == []


@pytest.mark.parametrize("has_texts", [False, True], ids=["without SQL", "with SQL"])
def test_a_span_shows_no_secret(settings: Settings, has_texts: bool) -> None:
    exported = InMemorySpanExporter()
    exporter = ReportingExporter(exported, has_texts=has_texts, secrets=secrets_of(settings))
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    for scope in (SCOPE, "library"):
        tracer = provider.get_tracer(scope)
        for each in secrets():
            attributes = {"db.query.text": f"SELECT '{each}'", "said": [each, "b"]}
            with tracer.start_as_current_span(f"step {each}", attributes=attributes) as span:
                span.add_event(f"said {each}", {"text": each})
                span.record_exception(RuntimeError(f"wrong: {each}"))
                span.set_status(StatusCode.ERROR, f"wrong: {each}")
    provider.shutdown()
    spans = [span.to_json() for span in exported.get_finished_spans()]
    assert len(spans) == 2 * COUNT
    assert has_texts == any("RuntimeError" in span for span in spans)
    assert found_in("\n".join(spans)) == []


def test_a_span_keeps_what_is_no_secret(settings: Settings) -> None:
    with (
        collector() as received,
        traced(settings.model_copy(update={"traces_endpoint": received.url})),
        request("GET", None) as outer,
    ):
        outer.name("GET /query")
        outer.past("step", 1, 2, {"rows": 3, "tables": ["a", "b"], "query": "key='x'"})
    [step] = received.named("step")
    assert step.attributes == {"rows": 3, "tables": ["a", "b"], "query": "key='x'"}
