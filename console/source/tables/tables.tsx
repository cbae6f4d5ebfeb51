import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { PlaceFields } from "../ask/place_fields";
import { Listing } from "../ask/listing";
import type { Place } from "../ask/completion";
import type { Problem } from "../gateway/answers";
import { ProblemNote } from "../page/problem_note";
import type { RoomProps } from "../page/rooms";
import { hashOf } from "../page/route";
import { TableIndex } from "./table_index";
import { TablePage } from "./table_page";

/** What a table is: columns, layout, files, snapshots, filters, pruning and maintenance. */
export function Tables({ route }: RoomProps): JSX.Element {
  const listing = useMemo(() => new Listing(), []);
  const table = route.values.get("table") ?? "";
  const [place, setPlace] = useState<Place>(() => placeIn(route.values));
  // The way back leads to the place of that table.
  useEffect(() => {
    if (table !== "") {
      setPlace(placeIn(route.values));
    }
  }, [route.values.toString()]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, setTurn] = useState(0);
  const again = (): void => {
    setProblem(null);
    setTurn(turn + 1);
  };
  const choose = (chosen: Place): void => {
    setPlace(chosen);
    setProblem(null);
    window.history.replaceState(null, "", hashOf("tables", "", { ...chosen, table }));
  };
  return (
    <div class="browse">
      <aside class="index" aria-label="Tables">
        <div class="places"><PlaceFields key={turn} listing={listing} place={place} onChange={choose} none="choose one" onProblem={setProblem} /></div>
        {problem !== null && <ProblemNote problem={problem}><p><button type="button" class="link" onClick={again}>Try again</button></p></ProblemNote>}
        <TableIndex listing={listing} place={place} shown={table} />
      </aside>
      <div class="desk">
        {table === "" ? <><h1>Tables</h1><p class="note">Choose a catalog, a schema and a table.</p></> : <TablePage key={table} name={table} />}
      </div>
    </div>
  );
}

// A link to a table need not have its place.
function placeIn(values: URLSearchParams): Place {
  const [catalog = "", ...rest] = (values.get("table") ?? "").split(".");
  return { catalog: values.get("catalog") ?? catalog, schema: values.get("schema") ?? rest.slice(0, -1).join(".") };
}
