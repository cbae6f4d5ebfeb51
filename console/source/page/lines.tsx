import type { ComponentChildren, JSX } from "preact";

export interface Head {
  name: string;
  isNumber?: boolean;
}

interface Props {
  /** What the table shows, for those who hear the page. */
  label: string;
  heads: readonly (Head | string)[];
  rows: readonly { key: string; cells: readonly ComponentChildren[] }[];
  /** What stands there if there are no rows. */
  none: string;
}

/** A small table. A wide one scrolls by itself, also by keyboard. */
export function Lines({ label, heads, rows, none }: Props): JSX.Element {
  if (rows.length === 0) {
    return <p class="none">{none}</p>;
  }
  const known = heads.map((head) => (typeof head === "string" ? { name: head } : head));
  return (
    <div class="lines" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>{known.map((head) => <th scope="col" class={head.isNumber === true ? "number" : undefined}>{head.name}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>{row.cells.map((cell, at) => <td class={known[at]?.isNumber === true ? "number" : undefined}>{cell}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
