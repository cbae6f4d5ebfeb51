import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { IssuerToLogIn, Problem } from "../gateway/answers";
import { beginLogin, problemIn, refusal } from "../gateway/requests";
import { isPage, keepPlace } from "./returning";

/** A button for each issuer whose users may log in. It leads to a page of the issuer, and that one back here. */
export function IssuerButtons({ issuers }: { issuers: readonly IssuerToLogIn[] }): JSX.Element {
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    // A browser may show this page again as it was left.
    const shown = (): void => setBusy(null);
    addEventListener("pageshow", shown);
    return () => removeEventListener("pageshow", shown);
  }, []);
  const begin = (name: string): void => {
    setBusy(name);
    setProblem(null);
    beginLogin(name)
      .then(({ address }) => {
        if (!isPage(address)) {
          throw refusal("CONSOLE", "The issuer's address is not one of a page.");
        }
        keepPlace();
        location.assign(address);
      })
      .catch((error: unknown) => {
        setBusy(null);
        setProblem(problemIn(error));
      });
  };
  return (
    <div class="issuers">
      {issuers.map(({ name, title }) => (
        <button type="button" class="primary" disabled={busy !== null} onClick={() => begin(name)}>
          {busy === name ? `Leading you to ${title} …` : `Log in with ${title}`}
        </button>
      ))}
      {problem !== null && <p class="error" role="alert">{problem.detail}</p>}
    </div>
  );
}
