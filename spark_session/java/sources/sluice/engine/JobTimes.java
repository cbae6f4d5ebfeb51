package sluice.engine;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;

/**
 * The begin and end of jobs and stages of watched runs, and of no others.
 *
 * Spark's own store keeps the newest jobs of all callers, so a run of many jobs would lose its first ones.
 */
public final class JobTimes extends SparkListener {

    private static final int WATCHES_KEPT = 1000;
    private static final int JOBS_KEPT = 64;
    private static final int STAGES_KEPT = 256;

    private final Map watches = new LinkedHashMap();
    private final Map watchOfTag = new HashMap();
    private final Map watchOfJob = new HashMap();
    private final Map placeOfStage = new HashMap();
    private long newest = 0;

    /** Records jobs with this tag from now on, until the returned number is taken. */
    public synchronized long watch(String tag) {
        newest++;
        Watch watch = new Watch(tag);
        watches.put(Long.valueOf(newest), watch);
        watchOfTag.put(tag, watch);
        if (watches.size() > WATCHES_KEPT) {
            // The caller of the oldest has forgotten it.
            take(((Long) watches.keySet().iterator().next()).longValue());
        }
        return newest;
    }

    /** Returns the records, as {"jobs": […], "stages": […], "leftOut": n}; the columns are those of job_spans.py. */
    public String taken(long number) throws Exception {
        Watch watch = take(number);
        Map found = new HashMap();
        found.put("jobs", new ArrayList(watch.jobs.values()));
        found.put("stages", watch.stages);
        found.put("leftOut", Integer.valueOf(watch.leftOut));
        return new ObjectMapper().writeValueAsString(found);
    }

    private synchronized Watch take(long number) {
        Watch watch = (Watch) watches.remove(Long.valueOf(number));
        if (watch == null) {
            return new Watch("");
        }
        if (watchOfTag.get(watch.tag) == watch) {
            watchOfTag.remove(watch.tag);
        }
        watchOfJob.keySet().removeAll(watch.jobs.keySet());
        for (Iterator each = placeOfStage.values().iterator(); each.hasNext();) {
            if (((Place) each.next()).watch == watch) {
                each.remove();
            }
        }
        return watch;
    }

    public synchronized void onJobStart(SparkListenerJobStart started) {
        String tags = started.properties() == null ? null : started.properties().getProperty("spark.job.tags");
        if (tags == null || watchOfTag.isEmpty()) {
            return;
        }
        String[] each = tags.split(",");
        for (int i = 0; i < each.length; i++) {
            Watch watch = (Watch) watchOfTag.get(each[i]);
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
        Integer job = Integer.valueOf(started.jobId());
        watch.jobs.put(job, new Object[] {job, Long.valueOf(started.time()), null, Boolean.FALSE});
        watchOfJob.put(job, watch);
        for (int i = 0; i < list(started.stageIds()).size(); i++) {
            // A later job lists the stages that it need not run again.
            Object stage = list(started.stageIds()).get(i);
            if (!placeOfStage.containsKey(stage)) {
                placeOfStage.put(stage, new Place(watch, job));
            }
        }
    }

    public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
        StageInfo stage = completed.stageInfo();
        Place place = (Place) placeOfStage.get(Integer.valueOf(stage.stageId()));
        if (place == null || stage.submissionTime().isEmpty() || stage.completionTime().isEmpty()) {
            return;
        }
        if (place.watch.stages.size() >= STAGES_KEPT) {
            place.watch.leftOut++;
            return;
        }
        TaskMetrics metrics = stage.taskMetrics();
        place.watch.stages.add(new Object[] {
            place.job,
            Integer.valueOf(stage.stageId()),
            Integer.valueOf(stage.attemptNumber()),
            stage.submissionTime().get(),
            stage.completionTime().get(),
            Boolean.valueOf(stage.failureReason().isDefined()),
            Integer.valueOf(stage.numTasks()),
            Long.valueOf(metrics == null ? 0 : metrics.inputMetrics().bytesRead()),
            Long.valueOf(metrics == null ? 0 : metrics.shuffleReadMetrics().totalBytesRead()),
            Long.valueOf(metrics == null ? 0 : metrics.shuffleWriteMetrics().bytesWritten()),
        });
    }

    public synchronized void onJobEnd(SparkListenerJobEnd ended) {
        Integer job = Integer.valueOf(ended.jobId());
        Watch watch = (Watch) watchOfJob.get(job);
        if (watch != null) {
            Object[] row = (Object[]) watch.jobs.get(job);
            row[2] = Long.valueOf(ended.time());
            row[3] = Boolean.valueOf(!ended.jobResult().getClass().getName().endsWith("JobSucceeded$"));
        }
    }

    private static final class Watch {
        final String tag;
        final Map jobs = new LinkedHashMap();
        final List stages = new ArrayList();
        int leftOut = 0;

        Watch(String tag) {
            this.tag = tag;
        }
    }

    private static final class Place {
        final Watch watch;
        final Integer job;

        Place(Watch watch, Integer job) {
            this.watch = watch;
            this.job = job;
        }
    }
}
