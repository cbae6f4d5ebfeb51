/** The plan as a picture: scans with what they read, joins, and where keys of filters come from. */

import type { JSX } from "preact";
import type { Scan, ScanProgress } from "../gateway/answers";
import { share } from "../words/numbers";
import { type Reading, type ReadingByTable, readingByTable, readingOfTable, wordsOfReading } from "./plan_reading";
import { type Placed, type PlanNode, placed, planTree, walk } from "./plan_tree";

const [WIDTH, HEIGHT] = [244, 74];
const [COLUMN, ROW] = [WIDTH + 20, HEIGHT + 36];
const MOST_NODES = 200;
const MOST_CHARACTERS = 31;
const COLLECTOR = "DynamicFilteringDataCollector";
const TITLES: Record<string, string> = {
  [COLLECTOR]: "Filter collector",
  DynamicFilteringTableSourceScan: "Pruned scan",
  TableSourceScan: "Scan",
  LocalTableScan: "Rows in memory",
};
const KINDS: Record<string, string> = {
  [COLLECTOR]: "collector",
  DynamicFilteringTableSourceScan: "pruned",
  TableSourceScan: "scan",
  LocalTableScan: "scan",
};

interface Props {
  /** What the picture is called, for those who hear the page. */
  name?: string;
  text: string;
  scans: readonly Scan[];
  /** What the scans have read so far, while the query runs. */
  progress?: readonly ScanProgress[] | undefined;
}

export function PlanPicture({ name = "The plan", text, scans, progress }: Props): JSX.Element {
  const root = planTree(text);
  if (root === null) {
    return <p class="none">{text}</p>;
  }
  const boxes = walk(placed(root));
  if (boxes.length > MOST_NODES) {
    return <p class="none">The plan has {boxes.length} operators, too many to draw. Its text is below.</p>;
  }
  const width = (Math.max(...boxes.map((box) => box.column)) + 1) * COLUMN;
  const height = (Math.max(...boxes.map((box) => box.row)) + 1) * ROW;
  const reading = progress === undefined ? readingByTable(scans, []) : readingByTable([], progress);
  return (
    <>
      <div class="plan-frame" role="region" aria-label={`${name}, drawn`} tabIndex={0}>
        <svg class="plan" role="img" aria-label={`${name}: ${boxes.length} operators`} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
          {boxes.flatMap(lines)}
          {boxes.map((box) => <Box box={box} reading={reading} />)}
        </svg>
      </div>
      <Outline node={root} reading={reading} />
    </>
  );
}

function lines(box: Placed): JSX.Element[] {
  const [x, y] = corner(box);
  return box.children.map((child) => {
    const [childX, endY] = corner(child);
    const [fromX, fromY, toX] = [x + WIDTH / 2, y + HEIGHT, childX + WIDTH / 2];
    const middle = (fromY + endY) / 2;
    const kind = child.node.operator === COLLECTOR ? "edge filter" : "edge";
    return <path class={kind} d={`M${fromX},${fromY} C${fromX},${middle} ${toX},${middle} ${toX},${endY}`} />;
  });
}

function Box({ box, reading }: { box: Placed; reading: ReadingByTable }): JSX.Element {
  const [x, y] = corner(box);
  const { node } = box;
  const read = readingOf(node, reading);
  return (
    <g class={`node ${kindOf(node)}${read?.isLive === true ? " live" : ""}`} transform={`translate(${x},${y})`}>
      <title>{node.line.slice(0, 2_000)}</title>
      <rect width={WIDTH} height={HEIGHT} rx="8" />
      <text class="title" x="12" y="23">{cut(titleOf(node))}</text>
      <text x="12" y="41">{cut(detailOf(node))}</text>
      {read !== undefined && <Share read={read} />}
    </g>
  );
}

function Share({ read }: { read: Reading }): JSX.Element {
  const width = WIDTH - 24;
  const { files } = read;
  return (
    <>
      <text class="small" x="12" y="57">{cut(wordsOfReading(read))}</text>
      {files !== null && <rect class="track" x="12" y="62" width={width} height="5" rx="2.5" />}
      {files !== null && <rect class="fill" x="12" y="62" width={Math.max(2, (share(files.selected, files.total) / 100) * width)} height="5" rx="2.5" />}
    </>
  );
}

function readingOf(node: PlanNode, reading: ReadingByTable): Reading | undefined {
  return node.operator === COLLECTOR ? undefined : readingOfTable(tableOf(node) ?? "", reading);
}

interface OutlineProps {
  node: PlanNode;
  reading: ReadingByTable;
}

/** The same as a list: for small windows, and for those who hear the page. */
function Outline(props: OutlineProps): JSX.Element {
  return <ul class="outline"><Item {...props} /></ul>;
}

function Item({ node, reading }: OutlineProps): JSX.Element {
  const read = readingOf(node, reading);
  return (
    <li class={kindOf(node)}>
      <b>{titleOf(node)}</b> <span>{detailOf(node).slice(0, 300)}</span>
      {read !== undefined && <i> {wordsOfReading(read)}</i>}
      {node.children.length > 0 && <ul>{node.children.map((child) => <Item node={child} reading={reading} />)}</ul>}
    </li>
  );
}

function corner(box: Placed): [number, number] {
  return [box.column * COLUMN + 2, box.row * ROW + 2];
}

function kindOf(node: PlanNode): string {
  return KINDS[node.operator] ?? (node.operator.endsWith("Join") ? "join" : "other");
}

function titleOf(node: PlanNode): string {
  const isCached = node.operator === COLLECTOR && node.attributes.has("source");
  return isCached ? "Keys from the cache" : (TITLES[node.operator] ?? node.operator);
}

function tableOf(node: PlanNode): string | undefined {
  const table = node.attributes.get("table")?.replace(/^\[|\]$/g, "");
  // The commas of a table function are those of its arguments.
  return table !== undefined && /^[\w.]+\(/.test(table) ? table : table?.split(", ").join(".");
}

function detailOf(node: PlanNode): string {
  const named = ["where", "condition", "fields", "select"].map((name) => node.attributes.get(name));
  const all = [...node.attributes].map(([name, value]) => `${name}: ${value}`).join(", ");
  return tableOf(node) ?? named.find((value) => value !== undefined) ?? all;
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;
}
