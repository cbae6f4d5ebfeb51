import type { JSX } from "preact";
import type { Scan, Whole } from "../gateway/answers";
import { count, duration, share, size } from "../words/numbers";

interface Level {
  name: string;
  selected: Whole;
  total: Whole;
  shown: (number: Whole) => string;
}

/** Each scan: what it read of its table, at every level. */
export function ScanBars({ scans, isOver }: { scans: readonly Scan[]; isOver: boolean }): JSX.Element {
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
      <dl>
        {levelsOf(scan).map((level) => (
          <>
            <dt>{level.name}</dt>
            <dd>
              <div class="track" aria-hidden="true">
                <div class="fill" style={{ width: `${share(level.selected, level.total)}%` }} />
              </div>
              <span>{level.shown(level.selected)} of {level.shown(level.total)}</span>
            </dd>
          </>
        ))}
      </dl>
    </article>
  );
}

function levelsOf(scan: Scan): Level[] {
  const levels: [string, Whole, Whole, (number: Whole) => string][] = [
    ["Partitions", scan.partitions.selected, scan.partitions.total, count],
    ["Manifests", scan.manifests.selected, scan.manifests.total, count],
    ["Files", scan.dataFiles.selected, scan.dataFiles.total, count],
    ["Bytes", scan.bytes.selected, scan.bytes.total, size],
  ];
  if (scan.rows.read !== null) {
    levels.push(["Rows", scan.rows.read, scan.rows.total, count]);
  }
  return levels.map(([name, selected, total, shown]) => ({ name, selected, total, shown }));
}

function noteOf(scan: Scan): string {
  const parts = [
    scan.hasRun ? "" : "The scan was skipped, or not needed: it read nothing",
    scan.native === true ? "Spark pruned it by its own keys, too" : "",
    scan.snapshotId === null ? "no snapshot" : `snapshot ${scan.snapshotId}`,
    `planned in ${duration(scan.planningMs)}`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
