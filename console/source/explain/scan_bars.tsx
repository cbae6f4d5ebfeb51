import type { JSX } from "preact";
import type { Scan, ScanProgress, Whole } from "../gateway/answers";
import { count, duration, share, size } from "../words/numbers";

interface Level {
  name: string;
  selected: Whole;
  total: Whole;
  shown: (number: Whole) => string;
}

interface Props {
  scans: readonly Scan[];
  /** What the scans have read so far, while the query runs. */
  progress?: readonly ScanProgress[] | undefined;
  isOver: boolean;
}

/** Each scan: what it read of its table, at every level; while the query runs, as far as it is known. */
export function ScanBars({ scans, progress = [], isOver }: Props): JSX.Element {
  if (!isOver && progress.length > 0) {
    return <div class="scans">{progress.map((scan) => <LiveScan scan={scan} />)}</div>;
  }
  if (scans.length === 0) {
    return <p class="none">{isOver ? "No table was read." : "Not known yet."}</p>;
  }
  return <div class="scans">{scans.map((scan) => <ScanCard scan={scan} />)}</div>;
}

function ScanCard({ scan }: { scan: Scan }): JSX.Element {
  return (
    <article class="scan">
      <h3 class="mono">{scan.table}</h3>
      <p class="note">{noteOf(scan)}</p>
      <dl>{levelsOf(scan).map((level) => <Bar {...level} />)}</dl>
    </article>
  );
}

function LiveScan({ scan: { table, rows, dataFiles: { read, selected } } }: { scan: ScanProgress }): JSX.Element {
  return (
    <article class="scan">
      <h3 class="mono">{table ?? "a table"}</h3>
      <p class="note">{read === null && rows === null ? "It has not begun, or nothing is known of it yet" : "So far"}</p>
      <dl>
        {read !== null && selected !== null && <Bar name="Files" selected={read} total={selected} shown={count} />}
        {rows !== null && <><dt>Rows</dt><dd><span class="so-far">{count(rows)} so far</span></dd></>}
      </dl>
    </article>
  );
}

function Bar({ name, selected, total, shown }: Level): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <div class="track" aria-hidden="true">
          <div class="fill" style={{ width: `${share(selected, total)}%` }} />
        </div>
        <span>{shown(selected)} of {shown(total)}</span>
      </dd>
    </>
  );
}

function levelsOf(scan: Scan): Level[] {
  const levels: [string, Whole, Whole, (number: Whole) => string][] = [
    ["Partitions", scan.partitions.selected, scan.partitions.total, count],
    ["Manifests", scan.manifests.selected, scan.manifests.total, count],
    ["Files", scan.dataFiles.selected, scan.dataFiles.total, count],
    ["Bytes", scan.bytes.selected, scan.bytes.total, size],
  ];
  const groups = scan.rowGroups ?? null;
  if (groups !== null) {
    levels.push(["Row groups", groups.selected, groups.total, count]);
  }
  if (scan.rows.read !== null) {
    levels.push(["Rows", scan.rows.read, scan.rows.total, count]);
  }
  return levels.map(([name, selected, total, shown]) => ({ name, selected, total, shown }));
}

function noteOf(scan: Scan): string {
  const parts = [
    scan.hasRun ? "" : "The scan was skipped, or not needed: it read nothing",
    (scan.dataFilesLeftOut ?? 0) > 0 ? `${count(scan.dataFilesLeftOut ?? 0)} files left out by their row groups` : "",
    scan.native === true ? "Spark pruned it by its own keys, too" : "",
    scan.snapshotId === null ? "no snapshot" : `snapshot ${scan.snapshotId}`,
    `planned in ${duration(scan.planningMs)}`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
