import type { ComponentChildren, JSX } from "preact";
import type { Explanation, Selection, Whole } from "../gateway/answers";
import { Lines } from "../page/lines";
import { count, counted, duration, share, size } from "../words/numbers";
import { type ComparedTable, LEVELS, type Level, comparedTables, leftOut, workMs } from "./compare_scans";
import { PlanPicture } from "./plan_picture";

const NAMES: Record<Level, string> = { partitions: "partitions", manifests: "manifests", dataFiles: "files", bytes: "bytes" };
const HEADS = ["Read", { name: "As written", isNumber: true }, { name: "Pruned", isNumber: true }, { name: "Left out", isNumber: true }];

interface Props {
  /** The text as written: run, or only planned. */
  written: Explanation;
  pruned: Explanation;
}

/** The text as written beside the query that ran: what each read of each table, how long it took, and its plan. */
export function Comparison({ written, pruned }: Props): JSX.Element {
  const tables = comparedTables(written.scans, pruned.scans);
  const hasRun = written.state !== "PLANNED";
  return (
    <>
      {written.sql !== pruned.sql && <p class="warn">The other query has another text.</p>}
      <p class="note">
        {hasRun
          ? "The two ran at different times, so caches and other queries have a share in the difference of their times."
          : "Planned, not run: Spark can leave out more while it runs, and rows and times are not known."}
      </p>
      <div class="compared">
        {tables.map((table) => <Table table={table} />)}
        {hasRun && <Time written={written} pruned={pruned} />}
      </div>
      <div class="sides">
        <Side title="As written"><PlanPicture name="The plan as written" text={written.plans.optimizedPhysical} scans={written.scans} /></Side>
        <Side title="Pruned"><PlanPicture name="The pruned plan" text={pruned.plans.optimizedPhysical} scans={pruned.scans} /></Side>
      </div>
    </>
  );
}

function Table({ table }: { table: ComparedTable }): JSX.Element {
  const { written, pruned, hasMoved } = table;
  const rows: { key: string; cells: ComponentChildren[] }[] = LEVELS.map((level) => ({
    key: level,
    cells: [
      NAMES[level],
      <Cell of={written?.[level]} level={level} kind="written" />,
      <Cell of={pruned?.[level]} level={level} kind="pruned" />,
      written === null || pruned === null ? "" : leftOut(written[level].selected, pruned[level].selected),
    ],
  }));
  const [groupsBefore, groupsAfter] = [written?.rowGroups ?? null, pruned?.rowGroups ?? null];
  if (groupsBefore !== null || groupsAfter !== null) {
    const left = groupsBefore === null || groupsAfter === null ? "" : leftOut(groupsBefore.selected, groupsAfter.selected);
    rows.push({ key: "rowGroups", cells: ["row groups", <Groups of={groupsBefore} kind="written" />, <Groups of={groupsAfter} kind="pruned" />, left] });
  }
  const [before, after] = [written?.rows ?? null, pruned?.rows ?? null];
  if (before !== null || after !== null) {
    const left = before === null || after === null ? "" : leftOut(before, after);
    rows.push({ key: "rows", cells: ["rows", <>{known(before)}</>, <>{known(after)}</>, left] });
  }
  const scans = Math.max(written?.scans ?? 0, pruned?.scans ?? 0);
  return (
    <article>
      <h3 class="mono">{table.table}</h3>
      {scans > 1 && <p class="note">{counted(scans, "scan")} together</p>}
      {hasMoved && <p class="warn">The table has changed between the two: they read different snapshots.</p>}
      <Lines label={`What was read of ${table.table}`} heads={HEADS} rows={rows} none="" />
    </article>
  );
}

function Cell({ of, level, kind }: { of: Selection | undefined; level: Level | "rowGroups"; kind: string }): JSX.Element {
  if (of === undefined) {
    return <span class="soft">no scan</span>;
  }
  const shown = level === "bytes" ? size : count;
  return (
    <>
      {shown(of.selected)} <span class="soft">of {shown(of.total)}</span>
      <div class="track" aria-hidden="true"><div class={`fill ${kind}`} style={{ width: `${share(of.selected, of.total)}%` }} /></div>
    </>
  );
}

function Groups({ of, kind }: { of: Selection | null; kind: string }): JSX.Element {
  return of === null ? <>not known</> : <Cell of={of} level="rowGroups" kind={kind} />;
}

function Time({ written, pruned }: Props): JSX.Element {
  const [left, right] = [workMs(written), workMs(pruned)];
  const line = (name: string, before: number, after: number): { key: string; cells: ComponentChildren[] } => ({
    key: name,
    cells: [name, duration(before), duration(after), leftOut(before, after)],
  });
  const rows = [
    line("planning, with filters", left.planning, right.planning),
    line("running", left.running, right.running),
    line("together", left.planning + left.running, right.planning + right.running),
  ];
  return (
    <article>
      <h3>Time, without waiting</h3>
      <Lines label="Time of the two queries" heads={["Stage", ...HEADS.slice(1)]} rows={rows} none="" />
    </article>
  );
}

function Side({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return <section class="side" aria-label={`${title}: the plan`}><h3>{title}</h3>{children}</section>;
}

function known(rows: Whole | null): string {
  return rows === null ? "not known" : count(rows);
}
