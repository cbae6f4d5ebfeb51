package sluice.engine;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Sums up the CPU time of tasks by the tags of their jobs, until it is taken. */
public final class CpuTimes extends SparkListener {

    private static final int KEPT = 10_000;
    private static final long NANOSECONDS = 1_000_000L;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Map<Object, String> tagsOfStage = bounded();
    private final Map<String, Long> nanosOfTags = bounded();

    /** Returns JSON: the milliseconds of each job's tags since they were taken last. */
    public String taken() throws JsonProcessingException {
        Map<String, Long> found = new HashMap<>();
        synchronized (this) {
            nanosOfTags.forEach((tags, nanos) -> found.put(tags, nanos / NANOSECONDS));
            nanosOfTags.clear();
        }
        return MAPPER.writeValueAsString(found);
    }

    @Override
    public synchronized void onJobStart(SparkListenerJobStart started) {
        String tags = started.properties() == null ? null : started.properties().getProperty("spark.job.tags");
        if (tags == null) {
            return;
        }
        for (Object stage : list(started.stageIds())) {
            // A later job lists the stages that it need not run again.
            tagsOfStage.putIfAbsent(stage, tags);
        }
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
        String tags = tagsOfStage.get(ended.stageId());
        TaskMetrics metrics = ended.taskMetrics();
        if (tags != null && metrics != null) {
            long nanos = metrics.executorCpuTime() + metrics.executorDeserializeCpuTime();
            nanosOfTags.merge(tags, nanos, Long::sum);
        }
    }

    private static <K, V> Map<K, V> bounded() {
        return new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > KEPT;
            }
        };
    }
}
