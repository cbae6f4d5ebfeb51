/** The parts of the room for operators, and for whom each is. */

import type { Login, Right } from "../gateway/answers";

export interface Section {
  name: string;
  title: string;
  /** Without one, the part is for everyone who may enter the room. */
  right: Right | null;
}

export const SECTIONS: readonly Section[] = [
  { name: "queries", title: "Queries", right: null },
  { name: "gateway", title: "Gateway", right: null },
  { name: "filters", title: "Filters", right: "filters" },
  { name: "keys", title: "Keys", right: "keys" },
  { name: "policies", title: "Policies", right: "policies" },
  { name: "audit", title: "Audit", right: "audit" },
];

/** Whether the room is for the caller: somebody without any right would see only what other rooms show. */
export function mayOperate(login: Login): boolean {
  return login.rights.length > 0;
}

export function sectionsFor(login: Login): Section[] {
  return SECTIONS.filter(({ right }) => right === null || login.rights.includes(right));
}
