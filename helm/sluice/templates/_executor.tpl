{{- /* The pod that Spark makes executors from. It adds image, resources, environment and local folders. */ -}}
{{- define "sluice.executor-pod" -}}
apiVersion: v1
kind: Pod
metadata:
  labels:
    {{- include "sluice.labels" . | nindent 4 }}
    app.kubernetes.io/component: executor
    {{- with .Values.executors.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.executors.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    {{- include "sluice.pod-security" . | nindent 4 }}
  containers:
    - name: executor
      # In Spark's own images, the entry point does this; the gateway's image has none.
      command:
        - /bin/sh
        - -c
        - |-
          {{- .Files.Get "files/start-executor.sh" | trim | nindent 10 }}
      # The folder for fetched files.
      workingDir: /work
      env:
        - name: HOME
          value: /work
        {{- with .Values.executors.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      securityContext:
        {{- include "sluice.container-security" . | nindent 8 }}
      volumeMounts:
        - name: work
          mountPath: /work
        - name: tmp
          mountPath: /tmp
        - name: spark-local-dir-1
          mountPath: /local
        {{- with .Values.executors.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: work
      emptyDir:
        sizeLimit: {{ .Values.executors.scratchSize }}
    - name: tmp
      emptyDir:
        sizeLimit: {{ .Values.executors.scratchSize }}
    # Spark keeps its shuffle files in volumes of this name.
    - name: spark-local-dir-1
      emptyDir:
        sizeLimit: {{ .Values.executors.scratchSize }}
    {{- with .Values.executors.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.executors.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.executors.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.executors.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
