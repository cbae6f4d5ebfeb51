import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Sums up the CPU time of tasks by the tags of their jobs, until it is taken.
 *
 * Compiled at start by Janino, the compiler that Spark ships for its generated code; hence no lambdas.
 */
public final class CpuTimes extends SparkListener {
    private static final int KEPT = 10000;
    private static final long NANOSECONDS = 1000000L;

    private final Map tagsOfStage = bounded();
    private final Map nanosOfTags = bounded();

    /** Returns JSON: the milliseconds of each job's tags since they were taken last. */
    public String taken() throws Exception {
        Map found = new HashMap();
        synchronized (this) {
            for (Iterator each = nanosOfTags.entrySet().iterator(); each.hasNext();) {
                Map.Entry entry = (Map.Entry) each.next();
                found.put(entry.getKey(), Long.valueOf(((Long) entry.getValue()).longValue() / NANOSECONDS));
            }
            nanosOfTags.clear();
        }
        return new ObjectMapper().writeValueAsString(found);
    }

    public synchronized void onJobStart(SparkListenerJobStart started) {
        String tags = started.properties() == null ? null : started.properties().getProperty("spark.job.tags");
        if (tags == null) {
            return;
        }
        for (int i = 0; i < started.stageIds().length(); i++) {
            // A later job lists the stages that it need not run again.
            Object stage = started.stageIds().apply(i);
            if (!tagsOfStage.containsKey(stage)) {
                tagsOfStage.put(stage, tags);
            }
        }
    }

    public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
        Object tags = tagsOfStage.get(Integer.valueOf(ended.stageId()));
        TaskMetrics metrics = ended.taskMetrics();
        if (tags == null || metrics == null) {
            return;
        }
        Long before = (Long) nanosOfTags.get(tags);
        long sum = (before == null ? 0 : before.longValue())
            + metrics.executorCpuTime() + metrics.executorDeserializeCpuTime();
        nanosOfTags.put(tags, Long.valueOf(sum));
    }

    private static Map bounded() {
        return new LinkedHashMap() {
            protected boolean removeEldestEntry(Map.Entry eldest) {
                return size() > KEPT;
            }
        };
    }
}
