import type { ComponentChildren, JSX } from "preact";
import type { Problem } from "../gateway/answers";

/** An error of the gateway, as it says it. */
export function ProblemNote({ problem, children }: { problem: Problem; children?: ComponentChildren }): JSX.Element {
  const others = problem.errors.filter((error) => !problem.detail.includes(error.detail));
  const nearest = problem.errors.flatMap((error) => error.nearest ?? []).filter((name) => !problem.detail.includes(name));
  return (
    <section class="problem" role="alert">
      <p><code>{problem.code}</code> <span class="detail">{problem.detail}</span></p>
      {others.length > 0 && <ul>{others.map((error) => <li>{placeOf(error.line, error.column)}{error.detail}</li>)}</ul>}
      {nearest.length > 0 && <p class="note">Did you mean {nearest.join(", ")}?</p>}
      {children}
    </section>
  );
}

function placeOf(line: number | null, column: number | null): string {
  return line == null ? "" : `Line ${line}${column == null ? "" : `, column ${column}`}: `;
}
