{{- /* The ports of protocols other than HTTP, by name, as YAML; nothing where none is set. */ -}}
{{- define "sluice.protocol-ports" -}}
{{- with .Values.settings.hive_port }}
hive: {{ int . }}
{{- end }}
{{- with .Values.settings.flight_port }}
flight: {{ int . }}
{{- end }}
{{- end -}}
