{{- /* local, standalone, kubernetes or other. Without spark_master, the image's default: local. */ -}}
{{- define "sluice.spark-mode" -}}
{{- $master := toString (default "local" .Values.settings.spark_master) }}
{{- if or (eq $master "local") (hasPrefix "local[" $master) -}}
local
{{- else if hasPrefix "spark://" $master -}}
standalone
{{- else if hasPrefix "k8s://" $master -}}
kubernetes
{{- else -}}
other
{{- end }}
{{- end }}

{{- /* Spark's properties for the pod that its driver runs in, as JSON. The operator's spark_conf wins. */ -}}
{{- define "sluice.spark-conf" -}}
{{- $mode := include "sluice.spark-mode" . }}
{{- $conf := dict }}
{{- if ne $mode "local" }}
{{- $_ := set $conf "spark.driver.host" (printf "$(POD_NAME).%s.%s.svc" (include "sluice.driver-service" .) .Release.Namespace) }}
{{- $_ := set $conf "spark.driver.bindAddress" "0.0.0.0" }}
{{- $_ := set $conf "spark.driver.port" (toString .Values.spark.driverPort) }}
{{- $_ := set $conf "spark.driver.blockManager.port" (toString .Values.spark.blockManagerPort) }}
{{- $_ := set $conf "spark.blockManager.port" (toString .Values.spark.blockManagerPort) }}
{{- end }}
{{- if eq $mode "kubernetes" }}
{{- $_ := set $conf "spark.authenticate" "true" }}
{{- $_ := set $conf "spark.network.crypto.enabled" "true" }}
{{- $_ := set $conf "spark.executor.instances" (toString .Values.executors.instances) }}
{{- $_ := set $conf "spark.executor.cores" (toString .Values.executors.cores) }}
{{- $_ := set $conf "spark.executor.memory" .Values.executors.memory }}
{{- $_ := set $conf "spark.executor.memoryOverhead" .Values.executors.memoryOverhead }}
{{- $_ := set $conf "spark.kubernetes.namespace" .Release.Namespace }}
{{- /* The owner of executors: they are deleted with the pod. */}}
{{- $_ := set $conf "spark.kubernetes.driver.pod.name" "$(POD_NAME)" }}
{{- $_ := set $conf "spark.kubernetes.container.image" (include "sluice.executor-image" .) }}
{{- $_ := set $conf "spark.kubernetes.container.image.pullPolicy" .Values.image.pullPolicy }}
{{- with .Values.imagePullSecrets }}
{{- $names := list }}
{{- range . }}{{- $names = append $names .name }}{{- end }}
{{- $_ := set $conf "spark.kubernetes.container.image.pullSecrets" (join "," $names) }}
{{- end }}
{{- $_ := set $conf "spark.kubernetes.authenticate.executor.serviceAccountName" (include "sluice.executor-service-account" .) }}
{{- $_ := set $conf "spark.kubernetes.executor.podTemplateFile" "/etc/sluice/executor.yaml" }}
{{- $_ := set $conf "spark.kubernetes.executor.podTemplateContainerName" "executor" }}
{{- end }}
{{- toJson $conf }}
{{- end }}
