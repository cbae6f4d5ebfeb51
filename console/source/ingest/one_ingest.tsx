import type { JSX } from "preact";
import type { BadRecord, Commit, Ingest } from "../gateway/ingest_answers";
import { get } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { hashOf } from "../page/route";
import { atLeast, count, counted, size } from "../words/numbers";
import { type ColumnNames, schemaWords, useColumnNames } from "./column_names";
import { DeadLetters } from "./dead_letters";
import { isDeadLetters } from "./dead_letter_sql";
import { placeWords, stateClass } from "./ingest_words";

const LOOK_EVERY_MS = 5_000;
const MOST_SAMPLES = 100;

/** One ingest: what it wrote to each table, and the records that did not fit. */
export function OneIngest({ ingestId }: { ingestId: string }): JSX.Element {
  const path = `/ingest/${encodeURIComponent(ingestId)}`;
  const answer = useAnswer(() => get<Ingest>(path), path, LOOK_EVERY_MS);
  return <Answered answer={answer}>{(ingest) => <Parts ingest={ingest} />}</Answered>;
}

function Parts({ ingest }: { ingest: Ingest }): JSX.Element {
  const names = useColumnNames(ingest.commits.map((commit) => commit.table));
  const letters = ingest.commits.filter((commit) => isDeadLetters(commit.table) && commit.snapshotId !== null);
  return (
    <>
      <p class="row one-ingest"><span class={`state ${stateClass(ingest.state)}`}>{ingest.state.toLowerCase()}</span> <code>{ingest.ingestId}</code></p>
      {ingest.note !== null && <p class="note">{ingest.note}</p>}
      <Card title="Tables"><CommitLines commits={ingest.commits} names={names} /></Card>
      {ingest.rejected.count > 0 && (
        <Card title="Rejected records">
          <p>{counted(ingest.rejected.count, "record")} did not fit.</p>
          <Samples samples={ingest.rejected.samples} />
        </Card>
      )}
      {letters.map((commit) => <DeadLetters key={commit.table} ingest={ingest} table={commit.table} names={names} />)}
    </>
  );
}

function CommitLines({ commits, names }: { commits: readonly Commit[]; names: ColumnNames }): JSX.Element {
  const rows = commits.map((commit) => ({
    key: `${commit.table} ${commit.branch}`,
    cells: [
      <a class="mono" href={hashOf("tables", "", { table: commit.table })}>{commit.table}</a>,
      commit.branch,
      outcome(commit),
      <ul>{commit.writeTargets.map((target) => <li>{schemaWords(commit.table, target.writeSchemaColumnIds, names)} <span class="soft">{counted(target.records, "record")} in {counted(target.dataFiles, "file")}{target.deletedKeys > 0 && `, ${counted(target.deletedKeys, "deleted key")}`}{target.upsert !== null && ", replaces rows"}</span></li>)}</ul>,
      count(commit.addedRecords),
      size(commit.addedBytes),
    ],
  }));
  return <Lines label="Tables of this ingest" heads={["Table", "Branch", "Commit", "Write schemas", { name: "Records", isNumber: true }, { name: "Bytes", isNumber: true }]} rows={rows} none="It wrote to no table." />;
}

function outcome(commit: Commit): JSX.Element {
  if (commit.error !== null) {
    return <span class="error"><code>{commit.error.code}</code> {commit.error.detail}</span>;
  }
  if (commit.snapshotId === null) {
    return <span class="warn">waits{commit.postponed !== null && `: ${commit.postponed}`}</span>;
  }
  return <span>snapshot <span class="mono">{String(commit.snapshotId)}</span></span>;
}

function Samples({ samples }: { samples: readonly BadRecord[] }): JSX.Element {
  const rows = samples.map((sample, at) => ({ key: String(at), cells: [placeWords(sample), sample.detail] }));
  return (
    <>
      <Lines label="Rejected records" heads={["Place", "Reason"]} rows={rows} none="The log has no samples of them." />
      {samples.length >= MOST_SAMPLES && <p class="note">{atLeast(samples.length, MOST_SAMPLES, "record")}: these are the first.</p>}
    </>
  );
}
