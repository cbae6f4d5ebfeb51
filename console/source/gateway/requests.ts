/** Asks the gateway that served this page, and no other. */

import type { Problem, WaysToLogIn } from "./answers";
import { exactJson } from "./exact_json";

const UNREACHABLE: Problem = {
  title: "Not reachable",
  status: 0,
  detail: "The gateway does not answer. Look at the connection, and try again.",
  code: "UNREACHABLE",
  errors: [],
};
const ANSWERS_WITHIN_MS = 120_000;
// A large file takes its time on the way.
const RECORDS_WITHIN_MS = 1_800_000;
const LATE: Problem = {
  ...UNREACHABLE,
  title: "Too late",
  detail: "The gateway did not answer in time. Try again.",
  code: "NO_ANSWER_IN_TIME",
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

/** Returns an answer that is not JSON. */
export function getText(path: string): Promise<string> {
  return ask<string>(path, { method: "GET", headers: { Accept: "*/*" } }, { read: (text) => text });
}

/** Returns the answer of a probe, whose 503 is no error but a state. */
export async function getState<T>(path: string): Promise<T> {
  const answer = await sent(path, { method: "GET" });
  const isState = answer.headers.get("Content-Type")?.startsWith("application/json") === true;
  if (!isState) {
    throw new Refused(await problemOf(answer));
  }
  return exactJson(await textOf(answer)) as T;
}

export function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return ask<T>(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Sends a body of records alone. */
export function sendRecords<T>(path: string, records: Blob | string, type: string): Promise<T> {
  return ask<T>(path, { method: "POST", headers: { "Content-Type": type }, body: records }, { withinMs: RECORDS_WITHIN_MS });
}

/** Replaces what is at an address. The headers say which version of it is meant. */
export function put<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
  const sent = { "Content-Type": "application/json", ...headers };
  return ask<T>(path, { method: "PUT", headers: sent, body: JSON.stringify(body) });
}

export function remove<T>(path: string): Promise<T> {
  return ask<T>(path, { method: "DELETE" });
}

/** Says who is logged in. That nobody is, is an answer like others here. */
export function whoIsHere<T>(): Promise<T> {
  return ask<T>(SESSION, { method: "GET" }, { isAboutLogin: true });
}

/** Exchanges an API key for a session, which the browser keeps where no script can read it. */
export function logIn<T>(key: string): Promise<T> {
  return ask<T>(SESSION, { method: "POST", headers: { Authorization: `Bearer ${key}` } }, { isAboutLogin: true });
}

/** Says how users log in here. */
export function waysToLogIn(): Promise<WaysToLogIn> {
  return ask<WaysToLogIn>("/console/logins", { method: "GET" }, { isAboutLogin: true });
}

/** Begins a login at an issuer, and returns the address of its page. */
export function beginLogin(issuer: string): Promise<{ address: string }> {
  return ask(`/console/login/${encodeURIComponent(issuer)}`, { method: "POST" }, { isAboutLogin: true });
}

interface Options {
  isAboutLogin?: boolean;
  read?: (text: string) => unknown;
  withinMs?: number;
}

async function ask<T>(path: string, init: RequestInit, options: Options = {}): Promise<T> {
  const { isAboutLogin = false, read = exactJson, withinMs = ANSWERS_WITHIN_MS } = options;
  const answer = await sent(path, init, AbortSignal.timeout(withinMs));
  if (answer.ok) {
    return (answer.status === 204 ? undefined : read(await textOf(answer))) as T;
  }
  const problem = await problemOf(answer);
  if (answer.status === 401 && !isAboutLogin) {
    onLoggedOut();
  }
  throw new Refused(problem);
}

/** Opens an answer that comes in pieces. It has no bound but `signal`. */
export async function opened(path: string, type: string, signal: AbortSignal): Promise<Response> {
  const answer = await sent(path, { method: "GET", headers: { Accept: type } }, signal);
  if (answer.status === 401) {
    onLoggedOut();
  }
  if (!answer.ok) {
    throw new Refused(await problemOf(answer));
  }
  return answer;
}

async function sent(path: string, init: RequestInit, signal = AbortSignal.timeout(ANSWERS_WITHIN_MS)): Promise<Response> {
  const headers = { Accept: "application/json", "X-Sluice-Console": "1", ...init.headers };
  try {
    return await fetch(path, { ...init, headers, signal, credentials: "same-origin", redirect: "error" });
  } catch (error) {
    throw new Refused(lostBy(error));
  }
}

// The bound is for the body, too.
async function textOf(answer: Response): Promise<string> {
  try {
    return await answer.text();
  } catch (error) {
    throw new Refused(lostBy(error));
  }
}

function lostBy(error: unknown): Problem {
  return error instanceof DOMException && error.name === "TimeoutError" ? LATE : UNREACHABLE;
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

/** Makes the exception of a problem that this page finds by itself. */
export function refusal(code: string, detail: string): Refused {
  return new Refused({ ...UNREACHABLE, title: "Refused", code, detail });
}
