package sluice.engine;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;

/**
 * The begin and end of jobs and stages of watched runs, and of no others.
 *
 * <p>Spark's own store keeps the newest jobs of all callers, so a run of many jobs would lose its first ones.
 */
public final class JobTimes extends SparkListener {

    private static final int WATCHES_KEPT = 1000;
    private static final int JOBS_KEPT = 64;
    private static final int STAGES_KEPT = 256;

    private final Map<Long, Watch> watches = new LinkedHashMap<>();
    private final Map<String, Watch> watchOfTag = new HashMap<>();
    private final Map<Integer, Watch> watchOfJob = new HashMap<>();
    private final Map<Integer, Place> placeOfStage = new HashMap<>();
    private long newest = 0;

    private static final class Watch {
        final String tag;
        final Map<Integer, Job> jobs = new LinkedHashMap<>();
        final List<List<Object>> stages = new ArrayList<>();
        int leftOut = 0;

        Watch(String tag) {
            this.tag = tag;
        }
    }

    /** `ended` is null while the job runs. */
    private record Job(int id, long begun, Long ended, boolean hasFailed) {
        List<Object> row() {
            return Arrays.asList(id, begun, ended, hasFailed);
        }
    }

    /** The run and the job to which a stage belongs. */
    private record Place(Watch watch, int job) {}

    /** Records jobs with this tag from now on, until the returned number is taken. */
    public synchronized long watch(String tag) {
        newest++;
        Watch watch = new Watch(tag);
        watches.put(newest, watch);
        watchOfTag.put(tag, watch);
        if (watches.size() > WATCHES_KEPT) {
            // The caller of the oldest has forgotten it.
            take(watches.keySet().iterator().next());
        }
        return newest;
    }

    /** Returns the records, as {"jobs": […], "stages": […], "leftOut": n}; the columns are those of job_spans.py. */
    public String taken(long number) throws Exception {
        Watch watch = take(number);
        Map<String, Object> found = new HashMap<>();
        found.put("jobs", watch.jobs.values().stream().map(Job::row).toList());
        found.put("stages", watch.stages);
        found.put("leftOut", watch.leftOut);
        return new ObjectMapper().writeValueAsString(found);
    }

    private synchronized Watch take(long number) {
        Watch watch = watches.remove(number);
        if (watch == null) {
            return new Watch("");
        }
        watchOfTag.remove(watch.tag, watch);
        watchOfJob.keySet().removeAll(watch.jobs.keySet());
        placeOfStage.values().removeIf(place -> place.watch == watch);
        return watch;
    }

    @Override
    public synchronized void onJobStart(SparkListenerJobStart started) {
        Properties properties = started.properties();
        String tags = properties == null ? null : properties.getProperty("spark.job.tags");
        if (tags == null || watchOfTag.isEmpty()) {
            return;
        }
        for (String tag : tags.split(",")) {
            Watch watch = watchOfTag.get(tag);
            if (watch != null) {
                note(watch, started);
            }
        }
    }

    private void note(Watch watch, SparkListenerJobStart started) {
        if (watch.jobs.size() >= JOBS_KEPT) {
            watch.leftOut++;
            return;
        }
        int job = started.jobId();
        watch.jobs.put(job, new Job(job, started.time(), null, false));
        watchOfJob.put(job, watch);
        for (Object stage : list(started.stageIds())) {
            // A later job lists the stages that it need not run again.
            placeOfStage.putIfAbsent((Integer) stage, new Place(watch, job));
        }
    }

    @Override
    public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
        StageInfo stage = completed.stageInfo();
        Place place = placeOfStage.get(stage.stageId());
        if (place == null || stage.submissionTime().isEmpty() || stage.completionTime().isEmpty()) {
            return;
        }
        if (place.watch.stages.size() >= STAGES_KEPT) {
            place.watch.leftOut++;
            return;
        }
        place.watch.stages.add(rowOf(stage, place.job));
    }

    private static List<Object> rowOf(StageInfo stage, int job) {
        TaskMetrics metrics = stage.taskMetrics();
        return List.of(
            job,
            stage.stageId(),
            stage.attemptNumber(),
            stage.submissionTime().get(),
            stage.completionTime().get(),
            stage.failureReason().isDefined(),
            stage.numTasks(),
            metrics == null ? 0 : metrics.inputMetrics().bytesRead(),
            metrics == null ? 0 : metrics.shuffleReadMetrics().totalBytesRead(),
            metrics == null ? 0 : metrics.shuffleWriteMetrics().bytesWritten());
    }

    @Override
    public synchronized void onJobEnd(SparkListenerJobEnd ended) {
        Watch watch = watchOfJob.get(ended.jobId());
        if (watch != null) {
            boolean hasFailed = !ended.jobResult().getClass().getName().endsWith("JobSucceeded$");
            watch.jobs.computeIfPresent(
                ended.jobId(), (id, job) -> new Job(id, job.begun, ended.time(), hasFailed));
        }
    }
}
