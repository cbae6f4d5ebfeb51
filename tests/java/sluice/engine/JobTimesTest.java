package sluice.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.seq;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Properties;
import org.apache.spark.scheduler.JobSucceeded$;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.junit.jupiter.api.Test;

final class JobTimesTest {

    private static final int JOBS_KEPT = 64;
    private static final int WATCHES_KEPT = 1000;

    private final JobTimes times = new JobTimes();

    @Test
    void aJobOfAWatchedTagHasItsBeginAndEnd() throws Exception {
        long watch = times.watch("mine");
        start(1, 100, "mine");
        end(1, 150);
        JsonNode jobs = taken(watch).get("jobs");
        assertEquals(1, jobs.size());
        assertEquals("[1,100,150,false]", jobs.get(0).toString());
    }

    @Test
    void aJobThatStillRunsHasNoEnd() throws Exception {
        long watch = times.watch("mine");
        start(1, 100, "mine");
        assertTrue(taken(watch).get("jobs").get(0).get(2).isNull());
    }

    @Test
    void oneOfSeveralTagsIsEnough() throws Exception {
        long watch = times.watch("mine");
        start(1, 100, "other,mine");
        assertEquals(1, taken(watch).get("jobs").size());
    }

    @Test
    void jobsOfOthersAndWithoutATagAreNotRecorded() throws Exception {
        long watch = times.watch("mine");
        start(1, 100, "other");
        start(2, 100, null);
        assertEquals(0, taken(watch).get("jobs").size());
    }

    @Test
    void jobsBeyondTheBoundAreCounted() throws Exception {
        long watch = times.watch("mine");
        for (int job = 0; job < JOBS_KEPT + 3; job++) {
            start(job, 100, "mine");
        }
        JsonNode found = taken(watch);
        assertEquals(JOBS_KEPT, found.get("jobs").size());
        assertEquals(3, found.get("leftOut").asInt());
    }

    @Test
    void recordsAreTakenOnce() throws Exception {
        long watch = times.watch("mine");
        start(1, 100, "mine");
        taken(watch);
        assertEquals(0, taken(watch).get("jobs").size());
    }

    @Test
    void theOldestOfTooManyWatchesIsForgotten() throws Exception {
        long oldest = times.watch("oldest");
        start(1, 100, "oldest");
        for (int other = 0; other < WATCHES_KEPT; other++) {
            times.watch("other " + other);
        }
        assertEquals(0, taken(oldest).get("jobs").size());
    }

    private JsonNode taken(long watch) throws Exception {
        return new ObjectMapper().readTree(times.taken(watch));
    }

    private void start(int job, long time, String tags) {
        Properties properties = new Properties();
        if (tags != null) {
            properties.setProperty("spark.job.tags", tags);
        }
        times.onJobStart(new SparkListenerJobStart(job, time, seq(List.of()), properties));
    }

    private void end(int job, long time) {
        times.onJobEnd(new SparkListenerJobEnd(job, time, JobSucceeded$.MODULE$));
    }
}
