{{- define "sluice.pod-security" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "sluice.container-security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "sluice.data-claim" -}}
{{- default (printf "%s-data" (include "sluice.fullname" .)) .Values.data.existingClaim }}
{{- end }}

{{- define "sluice.data-volume" -}}
name: data
{{- if eq .Values.data.kind "claim" }}
persistentVolumeClaim:
  claimName: {{ include "sluice.data-claim" . }}
{{- else if eq .Values.data.kind "ephemeral" }}
ephemeral:
  volumeClaimTemplate:
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .Values.data.storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources:
        requests:
          storage: {{ .Values.data.size }}
{{- else }}
emptyDir:
  sizeLimit: {{ .Values.data.size }}
{{- end }}
{{- end }}

{{- define "sluice.migration-mode" -}}
{{- if .Values.migration.mode }}
{{- .Values.migration.mode }}
{{- else if .Values.postgresql.enabled -}}
init
{{- else if .Values.secretSettings.metrics_store_url -}}
hook
{{- else -}}
none
{{- end }}
{{- end }}

{{- define "sluice.migration-container" -}}
name: migrate
image: {{ include "sluice.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args: [migrate]
env:
  {{- include "sluice.migration-environment" . | nindent 2 }}
securityContext:
  {{- include "sluice.container-security" . | nindent 2 }}
resources:
  {{- toYaml .Values.migration.resources | nindent 2 }}
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
