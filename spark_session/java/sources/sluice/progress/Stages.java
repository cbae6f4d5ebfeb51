package sluice.progress;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.StageInfo;

/** The stages of queries that some job needs, or that have tasks, by their ids. It has no lock. */
final class Stages {

    /** Of one query. */
    private static final int STAGES_KEPT = 2000;

    private final Map<Integer, Stage> stages = new HashMap<>();
    private final Map<Integer, List<Stage>> stagesOfJob = new HashMap<>();

    /** Returns null if the stage is not of a query, or is dropped. */
    Stage get(int id) {
        return stages.get(id);
    }

    void startJob(Run run, int job, List<StageInfo> infos) {
        List<Stage> ofJob = new ArrayList<>();
        for (StageInfo info : infos) {
            Stage stage = of(run, info);
            if (stage != null) {
                stage.addJob();
                ofJob.add(stage);
            }
        }
        stagesOfJob.put(job, ofJob);
        run.jobs.add(job);
    }

    void endJob(int job) {
        List<Stage> ofJob = stagesOfJob.remove(job);
        if (ofJob == null) {
            return;
        }
        for (Stage stage : ofJob) {
            stage.run.jobs.remove(job);
            stage.removeJob();
            dropIfOver(stage);
        }
    }

    /** Returns a stage that runs though none of the jobs is known to need it; null if the run has too many. */
    Stage addWithoutJob(Run run, StageInfo info) {
        Stage stage = add(run, info);
        if (stage != null) {
            // Nobody knows which job needs it: it is kept as long as the query.
            stage.addJob();
        }
        return stage;
    }

    /** Keeps only the sums of a stage that no job needs, and that has no task. */
    void dropIfOver(Stage stage) {
        if (stage.isOver() && stages.get(stage.id) == stage) {
            stages.remove(stage.id);
            stage.run.drop(stage);
        }
    }

    void drop(Run run) {
        stages.keySet().removeAll(run.stages.keySet());
        stagesOfJob.keySet().removeAll(run.jobs);
    }

    private Stage of(Run run, StageInfo info) {
        Stage known = stages.get(info.stageId());
        if (known != null) {
            return known;
        }
        // A stage whose shuffle is there will not run again.
        boolean isThere = info.shuffleDepId().isDefined() && run.hasShuffle(info.shuffleDepId().get());
        return isThere ? null : add(run, info);
    }

    private Stage add(Run run, StageInfo info) {
        if (run.stageCount() >= STAGES_KEPT) {
            return null;
        }
        Stage stage = new Stage(run, info);
        stages.put(stage.id, stage);
        run.stages.put(stage.id, stage);
        return stage;
    }
}
