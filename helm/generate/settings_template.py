"""The template with the environment variables of all settings."""

from __future__ import annotations

import json

from api.bootstrap.settings import Settings
from api.cli.stop_deadline import STOPPED_WITHIN_S
from helm.generate.chart_settings import chart_settings, kind_of

# The chart computes probes and the grace period from these.
_TIMES = ("shutdown_delay_s", "shutdown_timeout_s", "health_timeout_s")

_HEAD = """{{- /* Written by `make chart` from api/settings: do not edit. */ -}}
{{- define "sluice.settings" -}}
"""


def settings_template() -> str:
    """Returns the template, a line for each setting."""
    lines = "".join(_line(name, kind_of(name)) for name in chart_settings())
    defaults = json.dumps({name: Settings.model_fields[name].default for name in _TIMES})
    return (
        f"{_HEAD}{lines}{{{{- end }}}}\n\n"
        "{{- /* Defaults of settings that other values follow from. */ -}}\n"
        f'{{{{- define "sluice.defaults" -}}}}\n{defaults}\n{{{{- end }}}}\n\n'
        "{{- /* When a process that hangs in its stop ends by force, after its drain. */ -}}\n"
        f'{{{{- define "sluice.forced-end-seconds" -}}}}\n{STOPPED_WITHIN_S}\n{{{{- end }}}}\n'
    )


def _line(name: str, kind: str) -> str:
    return f'{{{{- include "sluice.setting" (dict "root" . "name" "{name}" "kind" "{kind}") }}}}\n'
