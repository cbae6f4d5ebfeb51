package sluice.engine;

import static sluice.collections.Lists.list;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;

/**
 * Signs of the engine's health: its memory, its threads, the time spent in garbage collection, and tasks that still
 * run after their stage has ended.
 *
 * A task whose query was canceled is asked to end, but one in a regular expression or another long computation does
 * not check for that. It holds its slot, and no job or stage shows it any more.
 */
public final class EngineSigns extends SparkListener {

    private static final int STAGES_KEPT = 10000;
    private final Map stageOfTask = new HashMap();
    private final Map endOfStage = new HashMap();
    private final Map tagsOfStage = new HashMap();

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
        List pools = ManagementFactory.getMemoryPoolMXBeans();
        for (int i = 0; i < pools.size(); i++) {
            MemoryPoolMXBean pool = (MemoryPoolMXBean) pools.get(i);
            if (pool.getName().equals("Metaspace")) {
                return pool.getUsage();
            }
        }
        return null;
    }

    private static long directBytes() {
        List pools = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class);
        for (int i = 0; i < pools.size(); i++) {
            BufferPoolMXBean pool = (BufferPoolMXBean) pools.get(i);
            if (pool.getName().equals("direct")) {
                return Math.max(pool.getMemoryUsed(), 0);
            }
        }
        return 0;
    }

    /** Returns the milliseconds since the JVM's start in which it was paused. */
    private static long collectionMillis() {
        long sum = 0;
        List beans = ManagementFactory.getGarbageCollectorMXBeans();
        for (int i = 0; i < beans.size(); i++) {
            GarbageCollectorMXBean bean = (GarbageCollectorMXBean) beans.get(i);
            // "… Cycles" and "… Concurrent" report how long collectors ran beside the program.
            if (!bean.getName().endsWith("Cycles") && !bean.getName().contains("Concurrent")) {
                sum += Math.max(bean.getCollectionTime(), 0);
            }
        }
        return sum;
    }

    public synchronized void onJobStart(SparkListenerJobStart started) {
        Object tags = started.properties() == null ? null : started.properties().getProperty("spark.job.tags");
        for (int i = 0; tags != null && i < list(started.stageIds()).size(); i++) {
            tagsOfStage.put(list(started.stageIds()).get(i), tags);
        }
    }

    public synchronized void onTaskStart(SparkListenerTaskStart started) {
        stageOfTask.put(Long.valueOf(started.taskInfo().taskId()), key(started.stageId(), started.stageAttemptId()));
    }

    public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
        if (ended.taskInfo() != null) {
            stageOfTask.remove(Long.valueOf(ended.taskInfo().taskId()));
        }
    }

    public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
        if (completed.stageInfo().failureReason().isDefined()) {
            String key = key(completed.stageInfo().stageId(), completed.stageInfo().attemptNumber());
            endOfStage.put(key, Long.valueOf(System.nanoTime()));
        }
    }

    /**
     * Returns a line for each task that still runs: milliseconds since its stage failed or was canceled, and its
     * tags.
     */
    public synchronized String lateTasks() {
        StringBuilder late = new StringBuilder();
        Set stages = new HashSet();
        for (Iterator each = stageOfTask.values().iterator(); each.hasNext();) {
            Object stage = each.next();
            Object end = endOfStage.get(stage);
            if (end != null) {
                stages.add(stage);
                long millis = (System.nanoTime() - ((Long) end).longValue()) / 1000000;
                Object tags = tagsOfStage.get(Integer.valueOf(stageOf(stage)));
                late.append(millis).append(' ').append(tags).append('\n');
            }
        }
        endOfStage.keySet().retainAll(stages);
        keepTagsOf(stages);
        return late.toString();
    }

    /** Keeps tags of ended stages only while their tasks run; ids only grow. */
    private void keepTagsOf(Set late) {
        int newest = 0;
        for (Iterator each = tagsOfStage.keySet().iterator(); each.hasNext();) {
            newest = Math.max(newest, ((Integer) each.next()).intValue());
        }
        Set kept = new HashSet();
        for (Iterator each = late.iterator(); each.hasNext();) {
            kept.add(Integer.valueOf(stageOf(each.next())));
        }
        for (Iterator each = tagsOfStage.keySet().iterator(); each.hasNext();) {
            Object stage = each.next();
            if (((Integer) stage).intValue() < newest - STAGES_KEPT && !kept.contains(stage)) {
                each.remove();
            }
        }
    }

    private static int stageOf(Object key) {
        return Integer.parseInt(((String) key).substring(0, ((String) key).indexOf('.')));
    }

    private static String key(int stage, int attempt) {
        return stage + "." + attempt;
    }
}
