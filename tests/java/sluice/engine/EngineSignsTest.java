package sluice.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.apache.spark.Success$;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.junit.jupiter.api.Test;
import scala.Option;

final class EngineSignsTest {

    private final EngineSigns signs = new EngineSigns();

    @Test
    void aSampleHasSevenNumbers() {
        List<Long> numbers = Arrays.stream(signs.sample().split(" ")).map(Long::valueOf).toList();
        assertEquals(7, numbers.size());
        assertTrue(numbers.get(0) > 0 && numbers.get(0) <= numbers.get(1), numbers.toString());
        assertTrue(numbers.get(2) > 0 && numbers.get(5) > 0, numbers.toString());
    }

    @Test
    void aTaskOfAFailedStageIsLate() {
        start("mine", 3);
        startTask(3, 17);
        assertEquals("", signs.lateTasks());
        end(3, "canceled");
        assertTrue(signs.lateTasks().matches("\\d+ mine\n"));
        assertTrue(signs.lateTasks().matches("\\d+ mine\n"));
    }

    @Test
    void aTaskThatHasEndedIsNotLate() {
        start("mine", 3);
        TaskInfo task = startTask(3, 17);
        end(3, "canceled");
        signs.onTaskEnd(new SparkListenerTaskEnd(
            3, 0, "ResultTask", Success$.MODULE$, task, new ExecutorMetrics(), null));
        assertEquals("", signs.lateTasks());
    }

    @Test
    void aTaskOfAStageThatSucceededIsNotLate() {
        start("mine", 3);
        startTask(3, 17);
        end(3, null);
        assertEquals("", signs.lateTasks());
    }

    @Test
    void aTaskOfAJobWithoutTagsIsLateToo() {
        start(null, 3);
        startTask(3, 17);
        end(3, "canceled");
        assertTrue(signs.lateTasks().matches("\\d+ null\n"));
    }

    @Test
    void tagsAreKeptWhileATaskIsLate() {
        start("mine", 3);
        startTask(3, 17);
        end(3, "canceled");
        start("newest", 20_000);
        assertTrue(signs.lateTasks().matches("\\d+ mine\n"));
        assertTrue(signs.lateTasks().matches("\\d+ mine\n"));
    }

    private void start(String tags, int stage) {
        Properties properties = new Properties();
        if (tags != null) {
            properties.setProperty("spark.job.tags", tags);
        }
        signs.onJobStart(new SparkListenerJobStart(1, 100, seq(List.of(info(stage))), properties));
    }

    private TaskInfo startTask(int stage, long task) {
        TaskInfo info = new TaskInfo(task, 0, 0, 0, 100, "1", "host", TaskLocality.ANY(), false);
        signs.onTaskStart(new SparkListenerTaskStart(stage, 0, info));
        return info;
    }

    private void end(int stage, String reason) {
        StageInfo info = info(stage);
        if (reason != null) {
            info.stageFailed(reason);
        }
        signs.onStageCompleted(new SparkListenerStageCompleted(info));
    }

    private static StageInfo info(int stage) {
        return new StageInfo(
            stage, 0, "stage", 1, seq(new ArrayList<>()), seq(List.of()), "", null, seq(List.of()), Option.empty(), 0,
            false, 0);
    }
}
