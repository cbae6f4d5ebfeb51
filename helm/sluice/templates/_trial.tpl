{{- /* Takes the root and a server's name. A service's name has 63 letters at most. */ -}}
{{- define "trial.name" -}}
{{- printf "%s-%s" ((index . 0).Release.Name | trunc 40 | trimSuffix "-") (index . 1) }}
{{- end }}

{{- define "trial.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: trial
{{- end }}

{{- define "trial.image" -}}
{{- $image := .Values.image }}
{{- $repository := ternary (printf "%s/%s" $image.registry $image.repository) $image.repository (ne $image.registry "") }}
{{- ternary (printf "%s@%s" $repository $image.digest) (printf "%s:%s" $repository $image.tag) (ne $image.digest "") }}
{{- end }}

{{- /* Service, network policy and set of one server. Takes {root, port, path, environment, container}. */ -}}
{{- define "trial.server" -}}
{{- $root := .root }}
{{- $name := include "trial.name" (list $root $root.Chart.Name) }}
{{- if not $root.Values.passwordSecret }}
{{- fail (printf "Name the Secret with its password in %s.passwordSecret." $root.Chart.Name) }}
{{- end }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels:
    {{- include "trial.labels" $root | nindent 4 }}
spec:
  clusterIP: None
  selector:
    {{- include "trial.labels" $root | nindent 4 }}
  ports:
    - name: server
      port: {{ .port }}
      targetPort: server
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $name }}
  labels:
    {{- include "trial.labels" $root | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "trial.labels" $root | nindent 6 }}
  policyTypes: [Ingress]
  ingress:
    - ports:
        - port: server
      from:
        - podSelector:
            matchLabels:
              app.kubernetes.io/instance: {{ $root.Release.Name }}
              app.kubernetes.io/component: gateway
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $name }}
  labels:
    {{- include "trial.labels" $root | nindent 4 }}
spec:
  replicas: 1
  serviceName: {{ $name }}
  selector:
    matchLabels:
      {{- include "trial.labels" $root | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "trial.labels" $root | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: {{ int $root.Values.user }}
        runAsGroup: {{ int $root.Values.user }}
        fsGroup: {{ int $root.Values.user }}
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: server
          image: {{ include "trial.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          {{- .container | nindent 10 }}
          ports:
            - name: server
              containerPort: {{ .port }}
          readinessProbe:
            tcpSocket:
              port: server
            periodSeconds: 5
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
          resources:
            {{- toYaml $root.Values.resources | nindent 12 }}
          volumeMounts:
            - name: data
              mountPath: {{ .path }}
            - name: run
              mountPath: {{ .runPath }}
            - name: tmp
              mountPath: /tmp
      volumes:
        - name: data
          {{- .volume | nindent 10 }}
        - name: run
          emptyDir:
            sizeLimit: 16Mi
        - name: tmp
          emptyDir:
            sizeLimit: 256Mi
{{- end }}
