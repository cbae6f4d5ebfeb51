import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Problem } from "../gateway/answers";
import { problemIn } from "../gateway/requests";
import type { Place } from "./completion";
import type { Listing } from "./listing";

interface Props {
  listing: Listing;
  place: Place;
  onChange: (place: Place) => void;
  /** What no choice means. */
  none?: string;
  /** Called if there is nothing to choose because a part is down. */
  onProblem?: (problem: Problem) => void;
}

/** The catalog and the schema for names without one. */
export function PlaceFields({ listing, place, onChange, none = "default", onProblem }: Props): JSX.Element {
  const [catalogs, setCatalogs] = useState<string[]>([]);
  const [schemas, setSchemas] = useState<string[]>([]);
  useEffect(() => {
    listing.catalogs().then(setCatalogs, (error: unknown) => onProblem?.(problemIn(error)));
  }, [listing]);
  useEffect(() => {
    setSchemas([]);
    let isLeft = false;
    if (place.catalog !== "") {
      listing.schemas(place.catalog).then((found) => {
        // An answer for an earlier choice would undo the later one.
        if (isLeft) {
          return;
        }
        setSchemas(found);
        const [only] = found;
        if (place.schema === "" && found.length === 1 && only !== undefined) {
          onChange({ ...place, schema: only });
        }
      }, (error: unknown) => isLeft || onProblem?.(problemIn(error)));
    }
    return () => {
      isLeft = true;
    };
  }, [listing, place.catalog]);
  return (
    <>
      <Choice name="Catalog" none={none} all={catalogs} chosen={place.catalog} onChange={(catalog) => onChange({ catalog, schema: "" })} />
      <Choice name="Schema" none={none} all={schemas} chosen={place.schema} onChange={(schema) => onChange({ ...place, schema })} />
    </>
  );
}

interface ChoiceProps {
  name: string;
  none: string;
  all: readonly string[];
  chosen: string;
  onChange: (chosen: string) => void;
}

function Choice({ name, none, all, chosen, onChange }: ChoiceProps): JSX.Element {
  const options = chosen === "" || all.includes(chosen) ? all : [chosen, ...all];
  return (
    <label class="choice">
      <span>{name}</span>
      <select value={chosen} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{none}</option>
        {options.map((each) => <option value={each}>{each}</option>)}
      </select>
    </label>
  );
}
