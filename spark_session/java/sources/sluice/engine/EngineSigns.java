package sluice.engine;

import static sluice.collections.Lists.list;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;

/**
 * Signs of the engine's health: its memory, its threads, the time spent in garbage collection, and tasks that still
 * run after their stage has ended.
 *
 * <p>A task whose query was canceled is asked to end, but one in a regular expression or another long computation does
 * not check for that. It holds its slot, and no job or stage shows it any more.
 */
public final class EngineSigns extends SparkListener {

    private static final int STAGES_KEPT = 10_000;
    private static final long NANOS_OF_MILLI = 1_000_000;

    private final Map<Long, StageAttempt> stageOfTask = new HashMap<>();
    private final Map<StageAttempt, Long> endOfStage = new HashMap<>();
    private final Map<Integer, String> tagsOfStage = new HashMap<>();

    private record StageAttempt(int stage, int attempt) {}

    /**
     * Returns numbers separated by spaces: used bytes of the heap and its bound, the same of metaspace, bytes of
     * buffers outside of the heap, threads, and milliseconds since the JVM's start in which it was paused. No bound
     * is 0.
     */
    public String sample() {
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        MemoryUsage metaspace = metaspace();
        StringBuilder sample = new StringBuilder();
        sample.append(heap.getUsed()).append(' ').append(Math.max(heap.getMax(), 0)).append(' ');
        sample.append(metaspace == null ? 0 : metaspace.getUsed()).append(' ');
        sample.append(metaspace == null ? 0 : Math.max(metaspace.getMax(), 0)).append(' ');
        sample.append(directBytes()).append(' ');
        sample.append(ManagementFactory.getThreadMXBean().getThreadCount()).append(' ');
        return sample.append(collectionMillis()).toString();
    }

    private static MemoryUsage metaspace() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals("Metaspace")) {
                return pool.getUsage();
            }
        }
        return null;
    }

    private static long directBytes() {
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct")) {
                return Math.max(pool.getMemoryUsed(), 0);
            }
        }
        return 0;
    }

    /** Returns the milliseconds since the JVM's start in which it was paused. */
    private static long collectionMillis() {
        long sum = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            // "… Cycles" and "… Concurrent" report how long collectors ran beside the program.
            if (!bean.getName().endsWith("Cycles") && !bean.getName().contains("Concurrent")) {
                sum += Math.max(bean.getCollectionTime(), 0);
            }
        }
        return sum;
    }

    @Override
    public synchronized void onJobStart(SparkListenerJobStart started) {
        Properties properties = started.properties();
        String tags = properties == null ? null : properties.getProperty("spark.job.tags");
        if (tags != null) {
            for (Object stage : list(started.stageIds())) {
                tagsOfStage.put((Integer) stage, tags);
            }
        }
    }

    @Override
    public synchronized void onTaskStart(SparkListenerTaskStart started) {
        stageOfTask.put(
            started.taskInfo().taskId(), new StageAttempt(started.stageId(), started.stageAttemptId()));
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
        if (ended.taskInfo() != null) {
            stageOfTask.remove(ended.taskInfo().taskId());
        }
    }

    @Override
    public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
        StageInfo stage = completed.stageInfo();
        if (stage.failureReason().isDefined()) {
            endOfStage.put(new StageAttempt(stage.stageId(), stage.attemptNumber()), System.nanoTime());
        }
    }

    /**
     * Returns a line for each task that still runs: milliseconds since its stage failed or was canceled, and its
     * tags.
     */
    public synchronized String lateTasks() {
        StringBuilder lines = new StringBuilder();
        Set<StageAttempt> late = new HashSet<>();
        for (StageAttempt running : stageOfTask.values()) {
            Long end = endOfStage.get(running);
            if (end != null) {
                late.add(running);
                long millis = (System.nanoTime() - end) / NANOS_OF_MILLI;
                lines.append(millis).append(' ').append(tagsOfStage.get(running.stage())).append('\n');
            }
        }
        endOfStage.keySet().retainAll(late);
        keepTagsOf(late);
        return lines.toString();
    }

    /** Keeps tags of ended stages only while their tasks run; ids only grow. */
    private void keepTagsOf(Set<StageAttempt> late) {
        int newest = tagsOfStage.keySet().stream().mapToInt(Integer::intValue).max().orElse(0);
        Set<Integer> kept = late.stream().map(StageAttempt::stage).collect(Collectors.toSet());
        tagsOfStage.keySet().removeIf(stage -> stage < newest - STAGES_KEPT && !kept.contains(stage));
    }
}
