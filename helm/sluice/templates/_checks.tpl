{{- /* Checks that values.schema.json cannot express: values that contradict one another. */ -}}
{{- define "sluice.checks" -}}
{{- $values := .Values }}
{{- $has_tokens := or $values.secretSettings.api_tokens $values.secretProperties.api_tokens }}
{{- $has_certificates := has (default "none" $values.settings.tls_client_certificates) (list "optional" "required") }}
{{- $asks_who := or $has_tokens $values.settings.api_keys $values.settings.oidc_issuers $has_certificates }}
{{- if and (not $asks_who) (not $values.settings.allow_unauthenticated) }}
{{- fail "Who may ask? Name a Secret in secretSettings.api_tokens, set settings.api_keys or settings.oidc_issuers, or set settings.allow_unauthenticated to true to let everyone in." }}
{{- end }}
{{- if and $has_certificates (not (and $values.tls.secretName $values.tls.clientCaSecretName)) }}
{{- fail "Client certificates need tls.secretName and tls.clientCaSecretName." }}
{{- end }}
{{- if and $values.tls.clientCaSecretName (not $has_certificates) }}
{{- fail "tls.clientCaSecretName has no effect: set settings.tls_client_certificates to optional or required." }}
{{- end }}
{{- $is_many := or (gt (int $values.replicas) 1) $values.autoscaling.enabled }}
{{- if $is_many }}
{{- if not (or $values.secretSettings.metrics_store_url $values.postgresql.enabled) }}
{{- fail "Several gateways need one metrics store: name a Secret in secretSettings.metrics_store_url." }}
{{- end }}
{{- if not (or $values.secretSettings.filter_cache_url $values.valkey.enabled) }}
{{- fail "Several gateways need one filter cache: name a Secret in secretSettings.filter_cache_url." }}
{{- end }}
{{- if not (or $values.settings.catalogs $values.secretSettings.catalogs $values.secretProperties.catalogs) }}
{{- fail "Several gateways need catalogs that all of them reach: set settings.catalogs." }}
{{- end }}
{{- if $values.settings.embedded_catalog }}
{{- fail "settings.embedded_catalog is a lake of one gateway: several would each have their own." }}
{{- end }}
{{- if eq $values.data.kind "claim" }}
{{- fail "data.kind claim is for a single gateway: use emptyDir or ephemeral for several." }}
{{- end }}
{{- end }}
{{- if and $values.autoscaling.enabled (kindIs "invalid" $values.autoscaling.cpuPercent) (kindIs "invalid" $values.autoscaling.queuedQueries) }}
{{- fail "The autoscaler has nothing to go by: set autoscaling.cpuPercent or autoscaling.queuedQueries." }}
{{- end }}
{{- if gt (int $values.autoscaling.minReplicas) (int $values.autoscaling.maxReplicas) }}
{{- fail "autoscaling.minReplicas is more than autoscaling.maxReplicas." }}
{{- end }}
{{- $conf := default dict $values.settings.spark_conf }}
{{- range list "spark.driver.host" "spark.driver.port" "spark.driver.blockManager.port" "spark.blockManager.port" }}
{{- if and (hasKey $conf .) (ne (include "sluice.spark-mode" $) "local") }}
{{- fail (printf "settings.spark_conf must leave out %s: services and network policies have it from spark.driverPort and spark.blockManagerPort." .) }}
{{- end }}
{{- end }}
{{- $ports := list (int (default 8080 $values.settings.port)) }}
{{- if ne (include "sluice.spark-mode" .) "local" }}
{{- $ports = concat $ports (list (int $values.spark.driverPort) (int $values.spark.blockManagerPort)) }}
{{- end }}
{{- range include "sluice.protocol-ports" . | fromYaml }}
{{- $ports = append $ports (int .) }}
{{- end }}
{{- if ne (len $ports) (len (uniq $ports)) }}
{{- fail "settings.port, settings.hive_port, settings.flight_port, spark.driverPort and spark.blockManagerPort have to differ." }}
{{- end }}
{{- range $values.extraEnv }}
{{- if hasPrefix "SLUICE_" (upper .name) }}
{{- fail (printf "%s is a setting: it belongs to settings, secretSettings or secretProperties, not to extraEnv." .name) }}
{{- end }}
{{- end }}
{{- if and $values.postgresql.enabled $values.secretSettings.metrics_store_url }}
{{- fail "There are two metrics stores: postgresql.enabled and secretSettings.metrics_store_url." }}
{{- end }}
{{- if and $values.valkey.enabled $values.secretSettings.filter_cache_url }}
{{- fail "There are two filter caches: valkey.enabled and secretSettings.filter_cache_url." }}
{{- end }}
{{- if and (eq $values.migration.mode "hook") $values.postgresql.enabled }}
{{- fail "The chart's PostgreSQL is not there before the release is: use migration.mode init." }}
{{- end }}
{{- end }}
