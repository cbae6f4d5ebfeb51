import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ParameterFields } from "../ask/parameter_fields";
import { parametersIn, typedFor, valueOf } from "../ask/parameters";
import type { Explanation, Problem } from "../gateway/answers";
import { problemIn } from "../gateway/requests";
import { Card } from "../page/card";
import { ProblemNote } from "../page/problem_note";
import { planAsUsual } from "./as_written";
import { Parts, Texts } from "./parts";

/** The text in an address of somebody else's query. It can be planned with the rights of who reads it. */
export function SharedText({ values }: { values: URLSearchParams }): JSX.Element | null {
  const sql = values.get("sql") ?? "";
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [planned, setPlanned] = useState<Explanation | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (sql === "") {
    return <p class="note">The gateway shows a query to its caller alone.</p>;
  }
  const names = parametersIn(sql);
  const plan = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    const parameters = Object.fromEntries(names.map((name) => [name, valueOf(typedFor(typed, name))]));
    try {
      setPlanned(await planAsUsual({ sql, catalog: values.get("catalog"), schema: values.get("schema"), parameters }));
    } catch (error) {
      setProblem(problemIn(error));
    }
    setBusy(false);
  };
  // A plan is of the values that it was asked with.
  const change = (next: Record<string, string>): void => {
    setTyped(next);
    setPlanned(null);
  };
  return (
    <>
      <Card title="The text that was shared">
        <p>The gateway shows a query to its caller alone. You can plan its text with your own rights: that says what it would read now.</p>
        {planned === null && <pre tabIndex={0} aria-label="Shared SQL">{sql}</pre>}
        {names.length > 0 && <ParameterFields names={names} typed={typed} onChange={change} />}
        {problem !== null && <ProblemNote problem={problem} />}
        <p class="look"><button type="button" disabled={isBusy} onClick={() => void plan()}>{isBusy ? "Planning …" : "Plan it"}</button></p>
      </Card>
      {planned !== null && <><Parts explanation={planned} live={null} /><Texts explanation={planned} /></>}
    </>
  );
}
