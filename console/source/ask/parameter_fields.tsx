import type { JSX } from "preact";
import { typedFor } from "./parameters";

interface Props {
  names: readonly string[];
  typed: Record<string, string>;
  onChange: (typed: Record<string, string>) => void;
}

/** A field for the value of each parameter of the text. */
export function ParameterFields({ names, typed, onChange }: Props): JSX.Element {
  return (
    <fieldset class="parameters">
      <legend>Parameters</legend>
      {names.map((name) => (
        <label class="choice">
          <span class="mono">:{name}</span>
          <input
            type="text"
            spellcheck={false}
            value={typedFor(typed, name)}
            onInput={(event) => onChange({ ...typed, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      <p class="note">Numbers, <code>true</code>, <code>false</code> and <code>null</code> are values of these types; all else is text, also <code>'2000'</code>.</p>
    </fieldset>
  );
}
