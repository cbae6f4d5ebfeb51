/** A picture of the loaded rows. The table below it has the same values, for all who do not see the picture. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Column, Row } from "../../gateway/answers";
import { count, counted } from "../../words/numbers";
import { type Choice, KINDS, type Kind, bottomsFor, chosen, sidesIn, withKind } from "./axes";
import { Picture } from "./picture";
import { MOST_BARS, MOST_POINTS, type Points, pointsOf } from "./points";

interface Props {
  columns: readonly Column[];
  rows: readonly Row[];
  total: number;
  choice: Choice;
  onChange: (choice: Choice) => void;
}

export function Chart({ columns, rows, total, choice, onChange }: Props): JSX.Element {
  const drawn = useMemo(
    () => pointsOf(rows, columns, choice),
    [rows, columns, choice.kind, choice.x, choice.y],
  );
  const kind = (next: string): void => {
    const found = withKind(choice, next as Kind, columns);
    if (found !== null) {
      onChange(found);
    }
  };
  const kinds = KINDS.filter(([each]) => bottomsFor(each, columns).length > 0);
  return (
    <section class="chart" aria-label="Chart">
      <div class="chart-axes">
        <Select label="Kind" value={choice.kind} options={kinds} onChange={kind} />
        <Select
          label="Bottom"
          value={String(choice.x)}
          options={bottomsFor(choice.kind, columns).map((place) => [String(place), columns[place]?.name ?? ""])}
          onChange={(place) => onChange(chosen(choice.kind, Number(place), choice.y, columns))}
        />
        <Select
          label="Side"
          value={String(choice.y)}
          options={sidesIn(columns).map((place) => [String(place), columns[place]?.name ?? ""])}
          onChange={(place) => onChange(chosen(choice.kind, choice.x, Number(place), columns))}
        />
      </div>
      {drawn.points.length === 0 ? (
        <p class="none">None of the loaded rows has a value on both axes.</p>
      ) : (
        <Picture drawn={drawn} choice={choice} columns={columns} />
      )}
      <p class="note">{wordsFor(drawn, choice, rows.length, total)}</p>
    </section>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}

function Select({ label, value, options, onChange }: SelectProps): JSX.Element {
  return (
    <label class="choice">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([each, title]) => <option value={each} selected={each === value}>{title}</option>)}
      </select>
    </label>
  );
}

/** Says which rows are drawn: a picture of a part looks like one of the whole. */
export function wordsFor(drawn: Points, choice: Choice, loaded: number, total: number): string {
  const most = choice.kind === "bar" ? MOST_BARS : MOST_POINTS;
  const parts = [
    drawn.beyond > 0 ? `The first ${count(most)} of ${counted(loaded, "loaded row")} are drawn.` : `${counted(drawn.points.length, "row")} ${drawn.points.length === 1 ? "is" : "are"} drawn.`,
    drawn.unplaced > 0 ? `${counted(drawn.unplaced, "row")} without a value on an axis ${drawn.unplaced === 1 ? "is" : "are"} left out.` : "",
    loaded < total ? `${counted(total, "row")} are in the result; scroll down in the table to load more.` : "",
  ];
  return parts.filter((part) => part !== "").join(" ");
}
