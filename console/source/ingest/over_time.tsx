import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { ListedIngest } from "../gateway/ingest_answers";
import { clock, count, counted } from "../words/numbers";
import { type ColumnNames, schemaWords } from "./column_names";
import { type Group, grouped } from "./groups";

const MOST_SHOWN = 12;
const [WIDTH, HEIGHT] = [240, 28];

interface Props {
  ingests: readonly ListedIngest[];
  names: ColumnNames;
}

/** Records by table and write schema, with a small picture of when they came. */
export function OverTime({ ingests, names }: Props): JSX.Element {
  const found = useMemo(() => grouped(ingests, Date.now()), [ingests]);
  const most = Math.max(1, ...found.groups.flatMap((group) => group.slots));
  return (
    <>
      <p class="note">From {clock(found.from)} until now, the newest {counted(ingests.length, "ingest")} of this page. All pictures have one scale.</p>
      <ul class="came" aria-label="By table and write schema">
        {found.groups.slice(0, MOST_SHOWN).map((group) => (
          <li key={group.key}>
            <span class="what"><span class="mono">{group.table}</span>{group.branch !== "main" && <span class="badge">{group.branch}</span>}<span class="soft">{schemaWords(group.table, group.columnIds, names)}</span></span>
            <Picture group={group} most={most} />
            <span class="sum">
              <b>{counted(group.records, "record")}</b> <span class="soft">in {counted(group.ingests, "ingest")}, {counted(group.dataFiles, "file")}</span>
              {group.waiting > 0 && <span class="warn"> {count(group.waiting)} wait</span>}
              {group.failed > 0 && <span class="error"> {count(group.failed)} failed</span>}
            </span>
          </li>
        ))}
      </ul>
      {found.groups.length > MOST_SHOWN && <p class="note">{counted(found.groups.length - MOST_SHOWN, "group")} with fewer records are in the list alone.</p>}
    </>
  );
}

function Picture({ group, most }: { group: Group; most: number }): JSX.Element {
  const wide = WIDTH / group.slots.length;
  const words = `${counted(group.records, "record")} over time, at most ${count(Math.max(...group.slots))} at once`;
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words} preserveAspectRatio="none">
      {group.slots.map((records, at) => {
        const high = records === 0 ? 0 : Math.max(1.5, (records / most) * HEIGHT);
        return <rect x={at * wide + 0.5} y={HEIGHT - high} width={wide - 1} height={high} />;
      })}
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
    </svg>
  );
}
