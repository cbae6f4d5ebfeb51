/** Reads a plan's text, one node a line and its children below it, into a tree with places for a picture. */

export interface PlanNode {
  operator: string;
  attributes: ReadonlyMap<string, string>;
  line: string;
  children: PlanNode[];
}

export interface Placed {
  node: PlanNode;
  row: number;
  column: number;
  children: Placed[];
}

const INDENT = 3;
const PREFIX = /^(?:[:+ ][- ] )*/;

/** Returns the root, or null if the text is no plan. */
export function planTree(text: string): PlanNode | null {
  const path: PlanNode[] = [];
  for (const line of text.split("\n")) {
    const prefix = PREFIX.exec(line)?.[0] ?? "";
    const depth = prefix.length / INDENT;
    const node = nodeOf(line.slice(prefix.length));
    if (node === null || depth > path.length || (depth === 0 && path.length > 0)) {
      return null;
    }
    path[depth - 1]?.children.push(node);
    path.length = depth;
    path.push(node);
  }
  return path[0] ?? null;
}

function nodeOf(line: string): PlanNode | null {
  const found = /^(\w+)\((.*)\)(?:\(reuse_id=\[\d+\]\))?$/s.exec(line);
  return found === null ? null : { operator: found[1] ?? "", attributes: attributesOf(found[2] ?? ""), line, children: [] };
}

function attributesOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let at = 0;
  for (;;) {
    const name = /^(?:, )?(\w+)=\[/.exec(text.slice(at));
    if (name === null) {
      return found;
    }
    const start = at + name[0].length;
    const end = closing(text, start);
    found.set(name[1] ?? "", text.slice(start, end));
    at = end + 1;
  }
}

function closing(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    depth += text[at] === "[" ? 1 : text[at] === "]" ? -1 : 0;
    if (depth === 0) {
      return at;
    }
  }
  return text.length;
}

/** Places leaves in columns of their own, and every other node in the middle of its children. */
export function placed(root: PlanNode): Placed {
  let next = 0;
  const place = (node: PlanNode, row: number): Placed => {
    const children = node.children.map((child) => place(child, row + 1));
    const [first, last] = [children[0], children[children.length - 1]];
    const column = first === undefined || last === undefined ? next++ : (first.column + last.column) / 2;
    return { node, row, column, children };
  };
  return place(root, 0);
}

export function walk(from: Placed): Placed[] {
  return [from, ...from.children.flatMap(walk)];
}
