{{- /* preStop, the delay and the drain, the forced end of the process after it, and a margin. */ -}}
{{- define "sluice.grace-seconds" -}}
{{- $delay := int (include "sluice.number" (dict "root" . "name" "shutdown_delay_s")) }}
{{- $drain := int (include "sluice.number" (dict "root" . "name" "shutdown_timeout_s")) }}
{{- add (int .Values.shutdown.preStopSeconds) $delay $drain (int (include "sluice.forced-end-seconds" .)) (int .Values.shutdown.marginSeconds) }}
{{- end }}

{{- /* /readyz waits for its parts, and answers with the one that is late. */ -}}
{{- define "sluice.ready-timeout" -}}
{{- add (ceil (include "sluice.number" (dict "root" . "name" "health_timeout_s"))) 2 }}
{{- end }}

{{- /* A setting that the times depend on: the operator's, or its default. */ -}}
{{- define "sluice.number" -}}
{{- $given := get .root.Values.settings .name }}
{{- ternary (get (fromJson (include "sluice.defaults" .root)) .name) $given (or (not (hasKey .root.Values.settings .name)) (kindIs "invalid" $given)) }}
{{- end }}
