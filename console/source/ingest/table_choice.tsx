import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Place } from "../ask/completion";
import { Listing } from "../ask/listing";
import { PlaceFields } from "../ask/place_fields";
import type { Problem } from "../gateway/answers";
import { get, problemIn } from "../gateway/requests";
import type { TableAnswer } from "../gateway/table_answers";
import { ProblemNote } from "../page/problem_note";

interface Props {
  /** null: none is chosen, or it is not known yet. */
  onChoose: (table: TableAnswer | null) => void;
}

/** Chooses a table, and asks for its columns. */
export function TableChoice({ onChoose }: Props): JSX.Element {
  const listing = useMemo(() => new Listing(), []);
  const [place, setPlace] = useState<Place>({ catalog: "", schema: "" });
  const [names, setNames] = useState<{ name: string; table: string }[]>([]);
  const [chosen, setChosen] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    let isLeft = false;
    setNames([]);
    setChosen("");
    if (place.catalog !== "" && place.schema !== "") {
      listing.tables(place.catalog, place.schema).then(
        (found) => isLeft || setNames(found.filter((table) => table.kind === "TABLE")),
        (error: unknown) => isLeft || setProblem(problemIn(error)),
      );
    }
    return () => {
      isLeft = true;
    };
  }, [place.catalog, place.schema]);
  useEffect(() => {
    let isLeft = false;
    onChoose(null);
    setProblem(null);
    if (chosen !== "") {
      get<TableAnswer>(`/tables/${encodeURIComponent(chosen)}`).then(
        (found) => isLeft || onChoose(found),
        (error: unknown) => isLeft || setProblem(problemIn(error)),
      );
    }
    return () => {
      isLeft = true;
    };
  }, [chosen]);
  return (
    <div class="table-choice">
      <PlaceFields listing={listing} place={place} onChange={setPlace} none="choose one" onProblem={setProblem} />
      <label class="choice">
        <span>Table</span>
        <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
          <option value="">choose one</option>
          {names.map((each) => <option value={each.name}>{each.table}</option>)}
        </select>
      </label>
      {problem !== null && <ProblemNote problem={problem} />}
    </div>
  );
}
