/** Asks for the text of a query as its caller wrote it: without filters, and without any other change. */

import type { Explanation, QueryAnswer } from "../gateway/answers";
import { post, remove } from "../gateway/requests";

/** A text with its place and its values. */
export interface Question {
  sql: string;
  catalog: string | null;
  schema: string | null;
  parameters: Record<string, unknown>;
}

/** Plans the text as written, and reads no data of it. The gateway refuses to plan a statement that writes. */
export function planAsWritten(question: Question): Promise<Explanation> {
  return post<Explanation>("/explain", bodyAsWritten(question));
}

/** Plans the text as the gateway would run it now. */
export function planAsUsual(question: Question): Promise<Explanation> {
  return post<Explanation>("/explain", question);
}

/**
 * Runs the text as written, and returns the id of that query. Only a text that was planned before is run. With the
 * same `requestId`, it runs once, however often it is sent.
 */
export async function runAsWritten(question: Question, prunedId: string, requestId: string): Promise<string> {
  const body = {
    ...bodyAsWritten(question),
    waitTimeout: "0s",
    // An earlier result would say nothing about what a run reads.
    reuseResult: false,
    requestId,
    tags: { from: "console", asWrittenOf: prunedId },
  };
  return (await post<QueryAnswer>("/query", body)).queryId;
}

export function cancelRun(id: string): Promise<unknown> {
  return remove(`/query/${encodeURIComponent(id)}`);
}

export function bodyAsWritten(question: Question): Record<string, unknown> {
  return { ...question, dynamicFiltering: { enabled: false } };
}
