import type { JSX } from "preact";
import type { CachedFilter } from "../gateway/admin_answers";
import { get, remove } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { SureButton } from "../page/sure_button";
import { clock, count, counted, size } from "../words/numbers";

const LOOK_EVERY_MS = 15_000;
const MOST_LISTED = 200;
const SHOWN_LETTERS = 200;

/** The keys that filters of several queries share. Without them, the next queries collect them again. */
export function Filters(): JSX.Element {
  const answer = useAnswer(async () => (await get<{ filters: CachedFilter[] }>(`/filters?limit=${MOST_LISTED}`)).filters, "filters", LOOK_EVERY_MS);
  const all = <SureButton name="Delete all" what="keys of filters" act={() => remove("/filters")} onDone={answer.again} />;
  return (
    <Card title="Keys of filters" tools={answer.value !== null && answer.value.length > 0 && all}>
      <Answered answer={answer}>
        {(filters) => (
          <>
            <p class="note">{filters.length < MOST_LISTED ? counted(filters.length, "entry", "entries") : `The newest ${MOST_LISTED}`}, {size(filters.reduce((sum, each) => sum + each.bytes, 0))}</p>
            <FilterLines filters={filters} onDone={answer.again} />
          </>
        )}
      </Answered>
    </Card>
  );
}

function FilterLines({ filters, onDone }: { filters: readonly CachedFilter[]; onDone: () => void }): JSX.Element {
  const rows = filters.map((filter) => ({
    key: filter.fingerprint,
    cells: [
      <span class="mono">{filter.tables.join(", ")}</span>,
      <span class="mono">{filter.columns.join(", ")}</span>,
      <span class="mono sql" title={filter.predicate}>{filter.predicate.slice(0, SHOWN_LETTERS)}</span>,
      filter.exceedsThreshold ? "too many" : `${count(filter.values)} ${filter.form}`,
      size(filter.bytes),
      clock(filter.expiresAt),
      <SureButton name="Delete" what={`the keys of ${filter.tables.join(", ")}`} act={() => remove(`/filters/${encodeURIComponent(filter.fingerprint)}`)} onDone={onDone} />,
    ],
  }));
  return (
    <Lines
      label="Keys of filters"
      heads={["Build side", "Columns", "Condition", { name: "Keys", isNumber: true }, { name: "Bytes", isNumber: true }, "Until", "Delete"]}
      rows={rows}
      none="There are none: no query has collected keys lately."
    />
  );
}
