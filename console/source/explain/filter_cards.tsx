import type { JSX } from "preact";
import type { Filter, Scan } from "../gateway/answers";
import { hashOf } from "../page/route";
import { count, counted, duration, size } from "../words/numbers";
import CURES from "./cures.json";
import REASONS from "./reasons.json";
import SOURCES from "./sources.json";

const MOST_RANGES = 5;
const FORMS: Readonly<Record<string, string>> = { IN: " as a list", RANGES: " as ranges", EMPTY: ": nothing matches" };
const SENTENCES: Readonly<Record<string, string>> = REASONS;
const ORIGINS: Readonly<Record<string, string>> = SOURCES;

interface Cure {
  says: string;
  settings: readonly string[];
  page: string;
  isAboutLayout: boolean;
}
const CURE_OF: Readonly<Record<string, Cure>> = CURES;

interface Props {
  filters: readonly Filter[];
  scans: readonly Scan[];
  isOver: boolean;
}

/** Each candidate filter: what it prunes, by which keys, what it saved, and why it was applied or not. */
export function FilterCards({ filters, scans, isOver }: Props): JSX.Element {
  if (filters.length === 0) {
    return <p class="none">{isOver ? "No table was read." : "Not known yet."}</p>;
  }
  const ordered = filters.toSorted((left, right) => Number(right.applied) - Number(left.applied));
  return <ul class="filters">{ordered.map((filter) => <Card filter={filter} saved={savedBy(filter, filters, scans)} />)}</ul>;
}

function Card({ filter, saved }: { filter: Filter; saved: string }): JSX.Element {
  const { probe, build } = filter;
  // The detail of contained keys is about the set that contains them.
  const isOfKeys = filter.source === "CONTAINED" && filter.applied;
  return (
    <li class={filter.applied ? "filter applied" : "filter"}>
      <p class="filter-head">
        <span class={filter.applied ? "badge applied" : "badge"}>{wordsOf(filter.reason)}</span>
        <b class="mono">{probe.table}{probe.columns.length > 0 && `.${probe.columns.join(", ")}`}</b>
        {build.tables.length > 0 && (
          <span class="by">by the keys of <span class="mono">{build.tables.join(", ")}{build.columns.length > 0 && `.${build.columns.join(", ")}`}</span></span>
        )}
      </p>
      {build.predicate !== "" && <p class="mono predicate">{build.predicate}</p>}
      <p class="why">{filter.detail === "" || isOfKeys ? sentenceOf(filter.reason) : `${sentenceOf(filter.reason)} Here: ${filter.detail}.`}</p>
      <CureNote filter={filter} />
      {filter.source !== "NONE" && <p class="keys">{keysOf(filter)}{isOfKeys && filter.detail !== "" && ` · ${filter.detail}`}</p>}
      {filter.ranges.length > 0 && <Ranges filter={filter} />}
      {saved !== "" && <p class="saved">{saved}</p>}
      {filter.cacheNote !== "" && <p class="note">{filter.cacheNote}</p>}
    </li>
  );
}

function CureNote({ filter }: { filter: Filter }): JSX.Element | null {
  const cure = Object.hasOwn(CURE_OF, filter.reason) ? CURE_OF[filter.reason] : undefined;
  if (cure === undefined) {
    return null;
  }
  const [page, heading] = cure.page.split("#");
  return (
    <p class="cure">
      <b>Cure:</b> <Coded text={cure.says} />
      {cure.isAboutLayout && <> <a href={hashOf("tables", "", { table: filter.probe.table })}>The layout of this table, with advice</a>.</>}
      {cure.settings.length > 0 && <> For the operator: {cure.settings.map((name) => <><code>{name}</code> </>)}</>}
      <span class="page">More in <span class="mono">{page}</span>{heading !== undefined && <> at “{wordsIn(heading)}”</>}.</span>
    </p>
  );
}

/** A sentence with code between backticks. */
function Coded({ text }: { text: string }): JSX.Element {
  return <>{text.split("`").map((part, at) => (at % 2 === 0 ? part : <code>{part}</code>))}</>;
}

function Ranges({ filter }: { filter: Filter }): JSX.Element {
  const more = filter.ranges.length - MOST_RANGES;
  return (
    <p class="note mono">
      {filter.ranges.slice(0, MOST_RANGES).map(([low, high]) => `${low} … ${high}`).join(", ")}
      {more > 0 && `, and ${count(more)} more`}
    </p>
  );
}

function keysOf(filter: Filter): string {
  const form = FORMS[filter.form] ?? "";
  return `${counted(filter.values, "key")}${form} · ${ORIGINS[filter.source] ?? wordsOf(filter.source)} · ${duration(filter.collectMs)} · ${size(filter.bytes)}`;
}

/** Returns what was left out of the table's scan. Filters of one scan cannot be told apart. */
function savedBy(filter: Filter, filters: readonly Filter[], scans: readonly Scan[]): string {
  const own = scans.filter((scan) => scan.table === filter.probe.table);
  const [scan] = own;
  if (!filter.applied || scan === undefined || own.length > 1) {
    return "";
  }
  const files = Number(scan.dataFiles.total) - Number(scan.dataFiles.selected);
  const bytes = Number(scan.bytes.total) - Number(scan.bytes.selected);
  const others = filters.filter((each) => each.applied && each.probe.table === filter.probe.table).length - 1;
  const together = others > 0 ? ", together with the other filters of this table" : "";
  return `Left out ${count(files)} of ${counted(scan.dataFiles.total, "file")} and ${size(bytes)} of ${size(scan.bytes.total)}${together}.`;
}

function sentenceOf(reason: string): string {
  return SENTENCES[reason] ?? "";
}

function wordsOf(code: string): string {
  return code.toLowerCase().replaceAll("_", " ");
}

function wordsIn(heading: string): string {
  return heading.replaceAll("-", " ");
}
