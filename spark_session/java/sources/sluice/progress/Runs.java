package sluice.progress;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;

/** The queries that have counters, by their ids. It has no lock. */
final class Runs {

    private static final int RUNS_KEPT = 1000;
    private static final int ID_LENGTH = 36;
    private static final int[] DASHES = {8, 13, 18};

    private final Map<String, Run> runs = new LinkedHashMap<>();
    private final Map<Long, Run> runOfExecution = new HashMap<>();
    private final Consumer<Run> dropped;

    /** `dropped` gets each run that is no longer kept. */
    Runs(Consumer<Run> dropped) {
        this.dropped = dropped;
    }

    int size() {
        return runs.size();
    }

    /** Returns those of these ids, separated by commas, that have counters. */
    List<Run> named(String tags) {
        List<Run> found = new ArrayList<>();
        for (String tag : tags.split(",")) {
            Run run = runs.get(tag);
            if (run != null) {
                found.add(run);
            }
        }
        return found;
    }

    /** Returns the run to which a job belongs, a new one if there is none; null if the job is not of a query. */
    Run of(Properties properties) {
        String tags = properties == null ? null : properties.getProperty("spark.job.tags");
        return tags == null ? null : of(List.of(tags.split(",")));
    }

    /** Returns the run of the first tag that is an id, a new one if there is none; null without such a tag. */
    Run of(Iterable<String> tags) {
        for (String tag : tags) {
            if (isId(tag)) {
                return of(tag);
            }
        }
        return null;
    }

    private Run of(String tag) {
        Run known = runs.get(tag);
        if (known != null) {
            return known;
        }
        Run run = new Run(tag);
        runs.put(tag, run);
        if (runs.size() > RUNS_KEPT) {
            drop(runs.values().iterator().next());
        }
        return run;
    }

    /** Whether a tag has the form of an id; Spark and the gateway have others. */
    private static boolean isId(String tag) {
        if (tag.length() != ID_LENGTH) {
            return false;
        }
        for (int place : DASHES) {
            if (tag.charAt(place) != '-') {
                return false;
            }
        }
        return true;
    }

    void startExecution(Run run, long id) {
        runOfExecution.put(id, run);
        run.startExecution(id);
    }

    /** Returns null if the execution is not of a query. */
    Run ofExecution(long id) {
        return runOfExecution.get(id);
    }

    /** Returns the run whose execution has ended; null if the execution is not of a query. */
    Run endExecution(long id) {
        Run run = runOfExecution.remove(id);
        if (run != null) {
            run.executions.remove(id);
        }
        return run;
    }

    void drop(Run run) {
        runs.remove(run.tag, run);
        runOfExecution.keySet().removeAll(run.executions);
        dropped.accept(run);
    }
}
