/** Asks the gateway that served this page, and no other. */

import type { Problem } from "./answers";
import { exactJson } from "./exact_json";

const UNREACHABLE: Problem = {
  title: "Not reachable",
  status: 0,
  detail: "The gateway does not answer. Look at the connection, and try again.",
  code: "UNREACHABLE",
  errors: [],
};

/** An error answer of the gateway. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

const SESSION = "/console/session";

type Listener = () => void;
let onLoggedOut: Listener = () => undefined;

/** Calls the listener whenever the gateway does not know who asks. */
export function whenLoggedOut(listener: Listener): void {
  onLoggedOut = listener;
}

export function get<T>(path: string): Promise<T> {
  return ask<T>(path, { method: "GET" });
}

export function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return ask<T>(path, { method: "POST", headers, body: JSON.stringify(body) });
}

export function remove<T>(path: string): Promise<T> {
  return ask<T>(path, { method: "DELETE" });
}

/** Says who is logged in. That nobody is, is an answer like others here. */
export function whoIsHere<T>(): Promise<T> {
  return ask<T>(SESSION, { method: "GET" }, true);
}

/** Exchanges an API key for a session, which the browser keeps where no script can read it. */
export function logIn<T>(key: string): Promise<T> {
  return ask<T>(SESSION, { method: "POST", headers: { Authorization: `Bearer ${key}` } }, true);
}

async function ask<T>(path: string, init: RequestInit, isAboutLogin = false): Promise<T> {
  const answer = await sent(path, init);
  if (answer.ok) {
    return (answer.status === 204 ? undefined : exactJson(await answer.text())) as T;
  }
  const problem = await problemOf(answer);
  if (answer.status === 401 && !isAboutLogin) {
    onLoggedOut();
  }
  throw new Refused(problem);
}

async function sent(path: string, init: RequestInit): Promise<Response> {
  const headers = { Accept: "application/json", "X-Sluice-Console": "1", ...init.headers };
  try {
    return await fetch(path, { ...init, headers, credentials: "same-origin", redirect: "error" });
  } catch {
    throw new Refused(UNREACHABLE);
  }
}

async function problemOf(answer: Response): Promise<Problem> {
  const unknown = { ...UNREACHABLE, status: answer.status, code: `HTTP ${answer.status}`, detail: answer.statusText };
  try {
    return { ...unknown, ...((await answer.json()) as Partial<Problem>) };
  } catch {
    return unknown;
  }
}

/** Returns the problem behind an exception. One that is no answer of the gateway is a defect of this page. */
export function problemIn(error: unknown): Problem {
  if (error instanceof Refused) {
    return error.problem;
  }
  return { ...UNREACHABLE, code: "CONSOLE", title: "Defect", detail: String(error) };
}
