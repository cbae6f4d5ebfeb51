package sluice.progress;

import java.util.Map;

/** A task that runs, and what it has counted so far. It has no lock. */
final class RunningTask {

    private final int partition;
    private Map<Metric, Long> soFar = Map.of();

    RunningTask(int partition) {
        this.partition = partition;
    }

    /** Takes the newest counts: its executor reports them now and then. */
    void countSoFar(Map<Metric, Long> counted) {
        soFar = counted;
    }

    void addTo(Map<ScanCounters, RunningCounts> counted, int stageTasks) {
        soFar.forEach((metric, value) ->
            counted.computeIfAbsent(metric.scan(), scan -> new RunningCounts())
                .add(metric.kind(), value, partition, stageTasks));
    }
}
