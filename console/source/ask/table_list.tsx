import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ListedTable, Problem } from "../gateway/answers";
import { problemIn } from "../gateway/requests";
import { type Place, quoted } from "./completion";
import type { Listing } from "./listing";

const MOST_SHOWN = 500;

interface Props {
  listing: Listing;
  place: Place;
  onShow: (sql: string) => void;
  onInsert: (name: string) => void;
}

/** The tables of the chosen schema, with their columns. */
export function TableList({ listing, place, onShow, onInsert }: Props): JSX.Element {
  const [tables, setTables] = useState<ListedTable[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [sought, setSought] = useState("");
  useEffect(() => {
    let isLeft = false;
    setTables(null);
    setProblem(null);
    if (place.catalog !== "" && place.schema !== "") {
      listing.tables(place.catalog, place.schema).then(
        (found) => isLeft || setTables(found),
        (error: unknown) => isLeft || setProblem(problemIn(error)),
      );
    }
    return () => {
      isLeft = true;
    };
  }, [listing, place.catalog, place.schema]);
  const found = (tables ?? []).filter((table) => table.table.toLowerCase().includes(sought.toLowerCase()));
  return (
    <section class="tables" aria-labelledby="tables-title">
      <h2 id="tables-title">Tables</h2>
      {problem !== null && <p class="error" role="alert">{problem.detail}</p>}
      {tables === null && problem === null && <p class="note">{hint(place)}</p>}
      {tables !== null && tables.length > 10 && (
        <input type="search" aria-label="Find a table" placeholder="Find" value={sought} onInput={(event) => setSought(event.currentTarget.value)} />
      )}
      {tables?.length === 0 && <p class="note">This schema has no tables that you may know of.</p>}
      <ul>
        {found.slice(0, MOST_SHOWN).map((table) => (
          <li key={table.name}><Entry table={table} onShow={onShow} onInsert={onInsert} /></li>
        ))}
      </ul>
      {found.length > MOST_SHOWN && <p class="note">{found.length - MOST_SHOWN} more: find them by their names.</p>}
    </section>
  );
}

interface EntryProps {
  table: ListedTable;
  onShow: (sql: string) => void;
  onInsert: (name: string) => void;
}

function Entry({ table, onShow, onInsert }: EntryProps): JSX.Element {
  return (
    <details>
      <summary title={table.name}><span class="mono">{table.table}</span>{table.kind !== "TABLE" && <span class="soft"> {table.kind.toLowerCase()}</span>}</summary>
      <button type="button" class="link" onClick={() => onShow(`SELECT *\nFROM ${quoted(table.table)}\nLIMIT 100`)}>Show some rows</button>
      <ul class="columns">
        {table.columns?.map((column) => (
          <li>
            <button type="button" class="column" title={`Insert ${column.name}`} onClick={() => onInsert(quoted(column.name))}>
              <span class="mono">{column.name}</span> <span class="soft">{column.type}</span>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

function hint(place: Place): string {
  return place.catalog === "" || place.schema === "" ? "Choose a catalog and a schema to see their tables." : "Loading …";
}
