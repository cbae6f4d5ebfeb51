{{- define "sluice.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* 40 characters leave room for the ends of the objects' names, and for a pod's number. */ -}}
{{- define "sluice.fullname" -}}
{{- $name := include "sluice.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "sluice.release-labels" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.release-labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The labels that select a gateway's pods. Selectors cannot be changed, so no value is in them. */ -}}
{{- define "sluice.gateway-labels" -}}
{{ include "sluice.release-labels" . }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "sluice.executor-labels" -}}
{{ include "sluice.release-labels" . }}
app.kubernetes.io/component: executor
{{- end }}

{{- define "sluice.driver-service" -}}
{{ include "sluice.fullname" . }}-driver
{{- end }}

{{- define "sluice.service-account" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "sluice.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "sluice.executor-service-account" -}}
{{ include "sluice.fullname" . }}-executor
{{- end }}

{{- define "sluice.image" -}}
{{- $image := .Values.image }}
{{- $repository := ternary (printf "%s/%s" $image.registry $image.repository) $image.repository (ne $image.registry "") }}
{{- if $image.digest }}
{{- printf "%s@%s" $repository $image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion $image.tag) }}
{{- end }}
{{- end }}

{{- define "sluice.executor-image" -}}
{{- default (include "sluice.image" .) .Values.executors.image }}
{{- end }}
