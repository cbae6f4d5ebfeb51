/** Reads Prometheus' text format, as `GET /metrics` has it. */

export interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

export type Samples = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+\S+)?$/;
const LABEL = /([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\n": "\n", '\\"': '"', "\\\\": "\\" };

/** Returns the samples by the name of their metric. Lines that are no samples are left out. */
export function samplesIn(text: string): Samples {
  const found = new Map<string, Sample[]>();
  for (const line of text.split("\n")) {
    const parsed = line.startsWith("#") ? null : LINE.exec(line.trim());
    if (parsed !== null) {
      const [, name = "", labels = "", value = ""] = parsed;
      const known = found.get(name) ?? [];
      known.push({ labels: labelsIn(labels), value: numberIn(value) });
      found.set(name, known);
    }
  }
  return found;
}

/** Returns the value of a metric without labels, or of the first sample with these; null if there is none. */
export function valueOf(samples: Samples, name: string, labels: Record<string, string> = {}): number | null {
  const wanted = Object.entries(labels);
  const found = samples.get(name)?.find((sample) => wanted.every(([label, value]) => sample.labels[label] === value));
  return found === undefined || Number.isNaN(found.value) ? null : found.value;
}

/** Returns each value that a label has in a metric, in their order. */
export function labelled(samples: Samples, name: string, label: string): string[] {
  const all = (samples.get(name) ?? []).map((sample) => sample.labels[label]).filter((value) => value !== undefined);
  return [...new Set(all)].sort();
}

function labelsIn(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(LABEL)].map(([, name = "", value = ""]) => [name, value.replace(/\\[n"\\]/g, (each) => ESCAPES[each] ?? each)]));
}

function numberIn(text: string): number {
  return text === "+Inf" ? Infinity : text === "-Inf" ? -Infinity : Number(text);
}
