/** The rows of a result. Only those that can be seen are in the page, however many there are. */

import type { JSX, TargetedEvent, TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Column, Row } from "../gateway/answers";
import { type Order, isNumeric, sorted, textOf } from "./cells";

const ROW_PX = 30;
const SPARE_ROWS = 12;
const CHARACTER_PX = 8.2;
const SAMPLED_ROWS = 200;
const [LEAST_PX, MOST_PX] = [72, 420];

interface Props {
  columns: readonly Column[];
  rows: readonly Row[];
  hasMore: boolean;
  onEnd: () => void;
}

interface At {
  row: number;
  column: number;
}

export function Grid({ columns, rows, hasMore, onEnd }: Props): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(480);
  const [order, setOrder] = useState<Order | null>(null);
  const [at, setAt] = useState<At>({ row: 0, column: 0 });
  const shown = useMemo(
    () => sorted(rows, order === null ? undefined : columns[order.column], order),
    [rows, columns, order],
  );
  const widths = useMemo(() => columns.map((column, index) => widthOf(column, index, rows)), [columns, rows.length > 0]);
  const template = widths.map((width) => `${width}px`).join(" ");

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) {
      return undefined;
    }
    const watcher = new ResizeObserver(() => setHeight(element.clientHeight));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);

  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS);
  const last = Math.min(shown.length, Math.ceil((top + height) / ROW_PX) + SPARE_ROWS);
  useEffect(() => {
    if (hasMore && last >= shown.length - 200) {
      onEnd();
    }
  }, [last, hasMore, shown.length, onEnd]);

  const move = (next: At): void => {
    const row = Math.max(0, Math.min(shown.length - 1, next.row));
    const column = Math.max(0, Math.min(columns.length - 1, next.column));
    setAt({ row, column });
    if (frame.current !== null) {
      reveal(frame.current, row, widths, column);
    }
  };
  const press = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const to = moved(event, at, Math.max(1, Math.floor(height / ROW_PX) - 2), shown.length, columns.length);
    if (to !== null) {
      event.preventDefault();
      move(to);
    } else if ((event.ctrlKey || event.metaKey) && event.key === "c" && getSelection()?.isCollapsed !== false) {
      const cell = shown[at.row]?.[at.column];
      void navigator.clipboard?.writeText(cell === null || cell === undefined ? "" : textOf(cell));
    }
  };
  const scrolled = (event: TargetedEvent<HTMLDivElement>): void => setTop(event.currentTarget.scrollTop);

  return (
    <div
      class="grid"
      role="grid"
      aria-label="Rows of the result"
      aria-rowcount={hasMore ? -1 : shown.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={shown.length > 0 ? `cell-${at.row}-${at.column}` : undefined}
      tabIndex={0}
      ref={frame}
      onScroll={scrolled}
      onKeyDown={press}
    >
      <div class="grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map((column, index) => (
          <Head column={column} index={index} order={order} onOrder={setOrder} />
        ))}
      </div>
      <div class="grid-body" role="rowgroup" style={{ height: `${shown.length * ROW_PX}px` }}>
        {shown.slice(first, last).map((row, offset) => (
          <Line
            key={first + offset}
            row={row}
            index={first + offset}
            columns={columns}
            template={template}
            active={at.row === first + offset ? at.column : -1}
            onPick={(column) => setAt({ row: first + offset, column })}
          />
        ))}
      </div>
    </div>
  );
}

interface HeadProps {
  column: Column;
  index: number;
  order: Order | null;
  onOrder: (order: Order | null) => void;
}

function Head({ column, index, order, onOrder }: HeadProps): JSX.Element {
  const own = order?.column === index ? order : null;
  const next = own === null ? { column: index, isDescending: false } : own.isDescending ? null : { ...own, isDescending: true };
  const sort = own === null ? "none" : own.isDescending ? "descending" : "ascending";
  return (
    <div role="columnheader" aria-colindex={index + 1} aria-sort={sort} class={isNumeric(column) ? "number" : ""}>
      <button type="button" title={`${column.name}: ${column.type}. Sort the loaded rows.`} onClick={() => onOrder(next)}>
        <span class="name">{column.name}</span>
        <span class="type">{column.type.toLowerCase()}{column.nullable ? "" : " not null"}</span>
        <span class="arrow" aria-hidden="true">{own === null ? "" : own.isDescending ? "↓" : "↑"}</span>
      </button>
    </div>
  );
}

interface LineProps {
  row: Row;
  index: number;
  columns: readonly Column[];
  template: string;
  active: number;
  onPick: (column: number) => void;
}

function Line({ row, index, columns, template, active, onPick }: LineProps): JSX.Element {
  const style = { gridTemplateColumns: template, transform: `translateY(${index * ROW_PX}px)` };
  return (
    <div role="row" aria-rowindex={index + 2} class={index % 2 === 0 ? "line" : "line odd"} style={style}>
      {columns.map((column, place) => {
        const cell = row[place];
        const kind = cell === null ? "null" : isNumeric(column) ? "number" : "";
        return (
          <div
            role="gridcell"
            id={`cell-${index}-${place}`}
            aria-colindex={place + 1}
            class={place === active ? `${kind} active` : kind}
            title={cell === null ? undefined : textOf(cell).slice(0, 2_000)}
            onClick={() => onPick(place)}
          >
            {cell === null ? "NULL" : textOf(cell).slice(0, 1_000)}
          </div>
        );
      })}
    </div>
  );
}

function moved(event: KeyboardEvent, at: At, page: number, rows: number, columns: number): At | null {
  const isFar = event.ctrlKey || event.metaKey;
  const steps: Record<string, At> = {
    ArrowDown: { row: at.row + 1, column: at.column },
    ArrowUp: { row: at.row - 1, column: at.column },
    ArrowLeft: { row: at.row, column: at.column - 1 },
    ArrowRight: { row: at.row, column: at.column + 1 },
    PageDown: { row: at.row + page, column: at.column },
    PageUp: { row: at.row - page, column: at.column },
    Home: { row: isFar ? 0 : at.row, column: 0 },
    End: { row: isFar ? rows - 1 : at.row, column: columns - 1 },
  };
  return event.target === event.currentTarget ? (steps[event.key] ?? null) : null;
}

function reveal(frame: HTMLElement, row: number, widths: readonly number[], column: number): void {
  const head = frame.firstElementChild?.clientHeight ?? 0;
  const [up, down] = [row * ROW_PX, (row + 1) * ROW_PX + head - frame.clientHeight];
  frame.scrollTop = Math.max(down, Math.min(up, frame.scrollTop));
  const left = widths.slice(0, column).reduce((sum, width) => sum + width, 0);
  const right = left + (widths[column] ?? 0) - frame.clientWidth;
  frame.scrollLeft = Math.max(right, Math.min(left, frame.scrollLeft));
}

function widthOf(column: Column, index: number, rows: readonly Row[]): number {
  const cells = rows.slice(0, SAMPLED_ROWS).map((row) => (row[index] === null ? 4 : textOf(row[index]).length));
  const head = Math.max(column.name.length * 1.1, column.type.length + (column.nullable ? 0 : 9)) + 3;
  const characters = Math.max(head, ...cells);
  return Math.round(Math.max(LEAST_PX, Math.min(MOST_PX, characters * CHARACTER_PX + 24)));
}
