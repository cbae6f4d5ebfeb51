# Spark names the executor in SPARK_… variables, and the JVM's options in SPARK_JAVA_OPT_0, _1 and so on.
set -eu
home=${SPARK_HOME:-$(python3 -c 'import pyspark; print(pyspark.__path__[0])')}
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
set --
number=0
while option=$(printenv "SPARK_JAVA_OPT_$number"); do
  set -- "$@" "$option"
  number=$((number + 1))
done
exec "$java" "$@" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
  -cp "${SPARK_CLASSPATH:+$SPARK_CLASSPATH:}${SPARK_CONF_DIR:+$SPARK_CONF_DIR:}$home/jars/*" \
  org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
  --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" \
  --app-id "$SPARK_APPLICATION_ID" --hostname "$SPARK_EXECUTOR_POD_IP" \
  --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" --podName "$SPARK_EXECUTOR_POD_NAME"
