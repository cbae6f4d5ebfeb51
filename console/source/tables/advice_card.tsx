import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../gateway/answers";
import { get, post, problemIn } from "../gateway/requests";
import type { LayoutAdvice, Maintenances, TableAdvice } from "../gateway/table_answers";
import type { Answer } from "../gateway/use_answer";
import { Card } from "../page/card";
import { CopyButton } from "../page/copy_button";
import { ProblemNote } from "../page/problem_note";
import { COMPACTION, basisOf, gainOf, leftOf, titleOf } from "./layout_advice";
import { isMaintained, mayRequest } from "./maintenance_words";

interface Props {
  /** The full name of the table. */
  name: string;
  /** Where maintenance of the table is asked for. */
  address: string;
  maintenances: Answer<Maintenances>;
}

/** Other layouts of the table, and what each would save. It takes a sample of rows, so it is asked for by a click. */
export function AdviceCard({ name, address, maintenances }: Props): JSX.Element {
  const [found, setFound] = useState<TableAdvice | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isHere = useRef(true);
  useEffect(() => () => { isHere.current = false; }, []);
  const ask = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const answer = await get<TableAdvice>(`/advice/${encodeURIComponent(name)}`);
      if (isHere.current) {
        setFound(answer);
      }
    } catch (error) {
      if (isHere.current) {
        setProblem(problemIn(error));
      }
    }
    if (isHere.current) {
      setBusy(false);
    }
  };
  return (
    <Card title="Advice on its layout">
      {problem !== null && <ProblemNote problem={problem} />}
      {found !== null && <Found advice={found} address={address} maintenances={maintenances} />}
      <p class="look">
        <button type="button" disabled={isBusy} onClick={() => void ask()}>
          {isBusy ? "Comparing layouts …" : problem !== null ? "Try again" : found === null ? "Find advice" : "Find advice again"}
        </button>
        {found === null && <span class="note">The gateway compares other layouts for the queries that it has recorded. It samples rows, and changes nothing.</span>}
      </p>
    </Card>
  );
}

function Found({ advice, address, maintenances }: { advice: TableAdvice } & Pick<Props, "address" | "maintenances">): JSX.Element {
  return (
    <>
      <p class="note" role="status">{basisOf(advice)}</p>
      {advice.advice.length === 0 && <p class="none">Nothing would save enough: the table lies well for these queries.</p>}
      <ol class="layouts" aria-label="Advice">
        {advice.advice.map((each) => (
          <li key={`${each.kind} ${each.columns.join(" ")}`}>
            <One advice={each}>
              {each.kind === COMPACTION && mayRequest(maintenances.value) && <Compact address={address} maintenances={maintenances} />}
            </One>
          </li>
        ))}
      </ol>
      {advice.advice.length > 1 && <p class="note">These are alternatives: each is compared with the layout of now. Follow one, and ask again after a day.</p>}
      {advice.notes.map((note) => <p class="note">{note}</p>)}
    </>
  );
}

function One({ advice, children }: { advice: LayoutAdvice; children: JSX.Element | false }): JSX.Element {
  const text = advice.statements.map((statement) => `${statement};`).join("\n");
  return (
    <>
      <h3 class="as-it-is">{titleOf(advice)}</h3>
      <dl class="bars">
        <dt>Left</dt>
        <dd class="gain">
          <div class="track" aria-hidden="true"><div class="fill" style={{ width: `${leftOf(advice)}%` }} /></div>
          <span>{gainOf(advice)}</span>
        </dd>
      </dl>
      <p>{advice.reason}</p>
      {children}
      <details>
        <summary>Statements of Spark SQL that do it</summary>
        <pre tabIndex={0}>{text}</pre>
        <p class="row"><CopyButton text={() => text} title="Copy the statements" /><span class="note">For a Spark that may write to the table. They rewrite its files.</span></p>
      </details>
    </>
  );
}

/** Follows the advice by the gateway's own maintenance, whose course is in the card of maintenance. */
function Compact({ address, maintenances }: Pick<Props, "address" | "maintenances">): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isOpen = isMaintained(maintenances.value);
  const send = (): void => {
    setBusy(true);
    post(address, { operations: ["compact"] }).then(
      () => {
        setBusy(false);
        setProblem(null);
        maintenances.again();
      },
      (error: unknown) => {
        setBusy(false);
        setProblem(problemIn(error));
      },
    );
  };
  return (
    <>
      <p class="row">
        <button type="button" class="primary" disabled={isBusy || isOpen} onClick={send}>{isBusy ? "Sending …" : isOpen ? "A maintenance runs" : "Compact now"}</button>
        <span class="note">Rows do not change. “Maintenance”, below, shows how it goes on.</span>
      </p>
      {problem !== null && <ProblemNote problem={problem} />}
    </>
  );
}
