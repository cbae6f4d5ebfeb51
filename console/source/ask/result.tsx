import type { JSX } from "preact";
import type { Manifest } from "../gateway/answers";
import { CopyButton } from "../page/copy_button";
import { hashOf } from "../page/route";
import { count, counted, duration, share, size } from "../words/numbers";
import { tabbed } from "./cells";
import { type Choice, firstChoice, fitting } from "./chart/axes";
import { Chart } from "./chart/chart";
import { Grid } from "./grid";
import { MOST_LOADED, type Run } from "./running";

const FORMATS = [
  ["CSV", "CSV"],
  ["JSON_LINES", "JSON lines"],
  ["ARROW_STREAM", "Arrow"],
  ["PARQUET", "Parquet"],
] as const;

interface Props {
  run: Run;
  manifest: Manifest;
  /** What the chart shows. Null: there is no chart. */
  chart: Choice | null;
  onChart: (chart: Choice | null) => void;
  onLoad: () => void;
  onTakeAll: () => void;
}

/** The rows of a query that succeeded, and what can be done with them. */
export function Result({ run, manifest, chart, onChart, onLoad, onTakeAll }: Props): JSX.Element {
  const id = run.answer?.queryId ?? "";
  const first = run.rows.length === 0 ? null : firstChoice(manifest.columns);
  // The columns may be those of another result since.
  const choice = chart === null || first === null ? null : fitting(chart, manifest.columns);
  return (
    <section class="result" aria-label="Result">
      <div class="result-head">
        <p role="status" class="facts"><Facts run={run} manifest={manifest} /></p>
        <div class="tools">
          <a class="button" href={hashOf("explain", id)}>Explain</a>
          {first !== null && (
            <button type="button" class="button" aria-pressed={choice !== null} onClick={() => onChart(choice === null ? first : null)}>Chart</button>
          )}
          <CopyButton text={() => tabbed(manifest.columns, run.rows)} title="Copy the loaded rows, for a spreadsheet" />
          <Downloads id={id} />
        </div>
      </div>
      {manifest.truncated && (
        <p class="note warn">
          Rows were left out: a limit was reached.{" "}
          {!run.question.takesAll && <button type="button" class="link" onClick={onTakeAll}>Run it without this limit</button>}
        </p>
      )}
      {choice !== null && (
        <Chart columns={manifest.columns} rows={run.rows} total={manifest.totalRowCount} choice={choice} onChange={onChart} />
      )}
      {run.rows.length === 0 ? (
        <p class="none">The query has no rows.</p>
      ) : (
        <Grid
          columns={manifest.columns}
          rows={run.rows}
          hasMore={run.next !== null && run.rows.length < MOST_LOADED}
          onEnd={onLoad}
        />
      )}
      {run.rows.length < manifest.totalRowCount && (
        <p class="note">{count(run.rows.length)} of {counted(manifest.totalRowCount, "row")} are loaded. Scroll down for more.</p>
      )}
    </section>
  );
}

function Facts({ run, manifest }: { run: Run; manifest: Manifest }): JSX.Element {
  const { answer } = run;
  const files = answer?.pruning?.dataFiles;
  return (
    <>
      <b>{counted(manifest.totalRowCount, "row")}</b>
      <span>{duration(answer?.status.elapsedMs ?? 0)}</span>
      <span>{size(manifest.totalByteCount)}</span>
      {answer?.reused != null && <span>from the result of {duration(answer.reused.ageMs)} ago</span>}
      {files !== undefined && files.total > 0 && (
        <span title="Data files that the scans read, of those that the tables have">
          read {count(files.selected)} of {counted(files.total, "file")} ({share(files.selected, files.total).toFixed(0)} %)
        </span>
      )}
    </>
  );
}

function Downloads({ id }: { id: string }): JSX.Element {
  return (
    <details class="menu">
      <summary class="button">Download</summary>
      <ul>
        {FORMATS.map(([format, title]) => (
          <li><a href={`/query/${id}/result?format=${format}`} download>{title}</a></li>
        ))}
      </ul>
    </details>
  );
}
