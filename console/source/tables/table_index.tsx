import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Place } from "../ask/completion";
import type { Listing } from "../ask/listing";
import type { ListedTable } from "../gateway/answers";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { hashOf } from "../page/route";

const MOST_SHOWN = 500;
const FEW = 10;

interface Props {
  listing: Listing;
  place: Place;
  shown: string;
}

/** The tables and views of the chosen schema, as links. */
export function TableIndex({ listing, place, shown }: Props): JSX.Element {
  const { catalog, schema } = place;
  const isChosen = catalog !== "" && schema !== "";
  const ask = (): Promise<ListedTable[]> => (isChosen ? listing.tables(catalog, schema) : Promise.resolve([]));
  const answer = useAnswer(ask, `${catalog}\n${schema}`);
  if (!isChosen) {
    return <p class="note">Choose a catalog and a schema to see their tables.</p>;
  }
  return <Answered answer={answer}>{(tables) => <Found tables={tables} place={place} shown={shown} />}</Answered>;
}

function Found({ tables, place, shown }: { tables: readonly ListedTable[]; place: Place; shown: string }): JSX.Element {
  const [sought, setSought] = useState("");
  const found = tables.filter((table) => table.table.toLowerCase().includes(sought.toLowerCase()));
  if (tables.length === 0) {
    return <p class="note">This schema has no tables that you may know of.</p>;
  }
  return (
    <>
      {tables.length > FEW && (
        <input type="search" aria-label="Find a table" placeholder="Find" value={sought} onInput={(event) => setSought(event.currentTarget.value)} />
      )}
      <ul>
        {found.slice(0, MOST_SHOWN).map((table) => (
          <li key={table.name}>
            <a class="mono" href={hashOf("tables", "", { ...place, table: table.name })} aria-current={table.name === shown ? "page" : undefined}>{table.table}</a>
            {table.kind !== "TABLE" && <span class="soft"> {table.kind.toLowerCase()}</span>}
          </li>
        ))}
      </ul>
      {found.length > MOST_SHOWN && <p class="note">{found.length - MOST_SHOWN} more: find them by their names.</p>}
    </>
  );
}
