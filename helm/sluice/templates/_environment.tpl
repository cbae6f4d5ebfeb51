{{- /* The place of a variable's value in a Secret: {name, key}. */ -}}
{{- define "sluice.secret-source" -}}
valueFrom:
  secretKeyRef:
    name: {{ .name | quote }}
    key: {{ .key | quote }}
{{- end }}

{{- /* The variable that holds one entry of a mapping, so that the mapping's own can refer to it. */ -}}
{{- define "sluice.entry-variable" -}}
{{- $path := join "." . }}
{{- printf "SECRET_%s_%s" (regexReplaceAll "[^A-Z0-9]+" (upper $path) "_") (sha256sum $path | trunc 8) }}
{{- end }}

{{- /* Escapes a text for Kubernetes: $ would begin a reference to a variable. */ -}}
{{- define "sluice.literal" -}}
{{- . | replace "$" "$$" }}
{{- end }}

{{- /* The chart's own value of a setting, as JSON: for settings that follow from other values. */ -}}
{{- define "sluice.derived" -}}
{{- if eq .name "spark_conf" }}
{{- include "sluice.spark-conf" .root }}
{{- else if and (eq .name "metrics_store_url") .root.Values.postgresql.enabled }}
{{- toJson (printf "postgresql+psycopg://sluice:$(POSTGRES_PASSWORD)@%s:5432/sluice" (include "trial.name" (list .root "postgresql"))) }}
{{- else if and (eq .name "tls_certificate_file") .root.Values.tls.secretName }}
{{- toJson "/etc/sluice-tls/tls.crt" }}
{{- else if and (eq .name "tls_key_file") .root.Values.tls.secretName }}
{{- toJson "/etc/sluice-tls/tls.key" }}
{{- else if and (eq .name "tls_client_ca_file") .root.Values.tls.clientCaSecretName }}
{{- toJson "/etc/sluice-client-ca/ca.crt" }}
{{- else if and (eq .name "filter_cache_url") .root.Values.valkey.enabled }}
{{- toJson (printf "redis://:$(VALKEY_PASSWORD)@%s:6379/0" (include "trial.name" (list .root "valkey"))) }}
{{- end }}
{{- end }}

{{- /* The variables of one setting: none if it has no value. Takes {root, name, kind}. */ -}}
{{- define "sluice.setting" -}}
{{- $values := .root.Values }}
{{- $given := get $values.settings .name }}
{{- $is_given := and (hasKey $values.settings .name) (not (kindIs "invalid" $given)) }}
{{- $secret := get $values.secretSettings .name }}
{{- $entries := get $values.secretProperties .name }}
{{- $derived := include "sluice.derived" . }}
{{- if $secret }}
{{- if or $is_given $entries }}
{{- fail (printf "secretSettings.%s is the whole setting: leave it out of settings and secretProperties." .name) }}
{{- end }}
{{- if and $derived (ne $derived "{}") }}
{{- fail (printf "The chart has a value of its own for %s: give yours in settings and secretProperties, not in secretSettings." .name) }}
{{- end }}
- name: SLUICE_{{ upper .name }}
  {{- include "sluice.secret-source" $secret | nindent 2 }}
{{- else if eq .kind "mapping" }}
{{- $mapping := ternary (fromJson $derived) dict (ne $derived "") }}
{{- $own := dict }}
{{- if $is_given }}{{- $own = fromJson (include "sluice.literal" (toJson $given)) }}{{- end }}
{{- $mapping = mergeOverwrite $mapping $own }}
{{- range $key, $entry := default dict $entries }}
{{- /* A catalog's entries lie one level deeper, and one of them may be called key. */}}
{{- if and (hasKey $entry "key") (kindIs "string" (get $entry "key")) }}
{{- $variable := include "sluice.entry-variable" (list $.name $key) }}
- name: {{ $variable }}
  {{- include "sluice.secret-source" $entry | nindent 2 }}
{{- $_ := set $mapping $key (printf "$(%s)" $variable) }}
{{- else }}
{{- $block := default dict (get $mapping $key) }}
{{- range $inner, $source := $entry }}
{{- $variable := include "sluice.entry-variable" (list $.name $key $inner) }}
- name: {{ $variable }}
  {{- include "sluice.secret-source" $source | nindent 2 }}
{{- $_ := set $block $inner (printf "$(%s)" $variable) }}
{{- end }}
{{- $_ := set $mapping $key $block }}
{{- end }}
{{- end }}
{{- if or $mapping $is_given }}
- name: SLUICE_{{ upper .name }}
  value: {{ toJson $mapping | quote }}
{{- end }}
{{- else if $is_given }}
- name: SLUICE_{{ upper .name }}
  {{- if eq .kind "integer" }}
  value: {{ int64 $given | quote }}
  {{- else if eq .kind "text" }}
  value: {{ include "sluice.literal" (toString $given) | quote }}
  {{- else }}
  value: {{ include "sluice.literal" (toJson $given) | quote }}
  {{- end }}
{{- else if $derived }}
- name: SLUICE_{{ upper .name }}
  value: {{ fromJson (printf "{\"value\":%s}" $derived) | dig "value" "" | quote }}
{{- end }}
{{- end }}

{{- /* Passwords of the trial servers, which the addresses of both refer to. */ -}}
{{- define "sluice.trial-passwords" -}}
{{- if .Values.postgresql.enabled }}
- name: POSTGRES_PASSWORD
  {{- include "sluice.secret-source" .Values.postgresql.passwordSecret | nindent 2 }}
{{- end }}
{{- if .Values.valkey.enabled }}
- name: VALKEY_PASSWORD
  {{- include "sluice.secret-source" .Values.valkey.passwordSecret | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A gateway's whole environment. References work only backwards, so names of the pod come first. */ -}}
{{- define "sluice.environment" -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- include "sluice.trial-passwords" . }}
{{- include "sluice.settings" . }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Only what `sluice migrate` needs. On loopback it asks for no tokens, and it listens nowhere. */ -}}
{{- define "sluice.migration-environment" -}}
{{- include "sluice.trial-passwords" . }}
- name: SLUICE_HOST
  value: 127.0.0.1
{{- include "sluice.setting" (dict "root" . "name" "metrics_store_url" "kind" "text") }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
