import type { JSX } from "preact";
import type { Reference, TableAnswer } from "../gateway/table_answers";
import { Card } from "../page/card";
import { hashOf } from "../page/route";
import { exactClock } from "../words/numbers";
import { sqlName } from "./metadata_sql";

const MOST_KNOWN = 100;

/** The table's commits, the newest first, with the branches and tags that name them. */
export function SnapshotsCard({ table }: { table: TableAnswer }): JSX.Element {
  const known = new Set(table.snapshots.map((snapshot) => String(snapshot.snapshotId)));
  const elsewhere = table.references.filter((reference) => !known.has(String(reference.snapshotId)));
  return (
    <Card title="Snapshots">
      {table.snapshots.length === 0 && <p class="none">There are none yet: nothing was committed.</p>}
      <ol class="snapshots">
        {table.snapshots.map((snapshot, at) => {
          const id = String(snapshot.snapshotId);
          const before = table.snapshots[at + 1];
          const isNext = snapshot.parentId === null || String(before?.snapshotId) === String(snapshot.parentId);
          return (
            <li key={id}>
              <p>
                <b>{exactClock(snapshot.committedAt)}</b> <span class="badge">{snapshot.operation ?? "unknown"}</span>
                {table.references.filter((reference) => String(reference.snapshotId) === id).map((reference) => <Name reference={reference} />)}
              </p>
              <p class="note">
                <span class="mono">{id}</span>
                {!isNext && <span> after <span class="mono">{String(snapshot.parentId)}</span></span>}
                <a href={hashOf("ask", "", { sql: `SELECT *\nFROM ${sqlName(table)} VERSION AS OF ${id}\nLIMIT 100`, catalog: table.catalog, schema: table.schema })}>
                  rows as of then<span class="hidden">, snapshot {id}</span>
                </a>
              </p>
            </li>
          );
        })}
      </ol>
      {table.snapshots.length >= MOST_KNOWN && <p class="note">The newest {MOST_KNOWN} are shown.</p>}
      {elsewhere.length > 0 && <p class="note">Older ones have the names {elsewhere.map((reference) => <Name reference={reference} />)}</p>}
    </Card>
  );
}

function Name({ reference }: { reference: Reference }): JSX.Element {
  return <span class="badge applied">{reference.kind.toLowerCase()} <span class="mono">{reference.name}</span></span>;
}
