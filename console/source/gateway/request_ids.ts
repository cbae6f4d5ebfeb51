/** Ids of requests that may be sent twice, for example after a lost answer, and are to be written once. */

import { newId } from "./new_id";

export class RequestIds {
  private readonly ids = new Map<string, string>();

  /** Returns the id of a request: the one that it had before, also if others were sent in between. */
  of(request: unknown): string {
    const key = JSON.stringify(request);
    const id = this.ids.get(key) ?? newId();
    this.ids.set(key, id);
    return id;
  }
}
