/** Scales of axes: from values to pixels, with round numbers or moments at their marks. */

export interface Mark {
  value: number;
  text: string;
}

export interface Scale {
  least: number;
  most: number;
  marks: Mark[];
}

const SECOND = 1000;
const [MINUTE, HOUR, DAY] = [60 * SECOND, 3600 * SECOND, 86_400 * SECOND];
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step),
  ...[1, 2, 5, 10, 15, 30].map((step) => step * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((step) => step * MINUTE),
  ...[1, 2, 3, 6, 12].map((step) => step * HOUR),
  ...[1, 2, 7, 14].map((step) => step * DAY),
];
// No date is further from 1970.
const FURTHEST = 8.64e15;
const [MONTH, YEAR] = [30.4 * DAY, 365.25 * DAY];
const MONTHS = [1, 2, 3, 6];

/** Returns a scale for numbers. With `fromZero`, it has 0: the length of a bar is its value. */
export function numberScale(values: Iterable<number>, wanted: number, fromZero = false): Scale {
  let [least, most] = rangeOf(values);
  if (fromZero) {
    [least, most] = [Math.min(0, least), Math.max(0, most)];
  }
  if (least === most) {
    const around = Math.abs(least) / 2 || 1;
    [least, most] = fromZero ? [Math.min(0, least), Math.max(1, most)] : [least - around, most + around];
  }
  // Half of each: the difference of the largest numbers has no double.
  const step = roundStep(2 * (most / 2 / wanted - least / 2 / wanted));
  const [first, last] = [Math.floor(least / step), Math.ceil(most / step)];
  const numbers = Array.from({ length: Math.min(last - first, 4 * wanted) + 1 }, (_, place) => (first + place) * step);
  const marks = numbers.filter(Number.isFinite).map((value) => ({ value, text: numberText(value, step) }));
  return { least: finite(first * step, least), most: finite(last * step, most), marks };
}

/** Returns a scale for moments in milliseconds, with marks at round ones in UTC. */
export function timeScale(values: Iterable<number>, wanted: number): Scale {
  let [least, most] = rangeOf(values);
  if (least === most) {
    [least, most] = [least - DAY / 2, most + DAY / 2];
  }
  const step = (most - least) / wanted;
  const found = step > 14 * DAY ? byMonths(least, most, step) : bySteps(least, most, step);
  const moments = found.filter((moment) => Math.abs(moment) <= FURTHEST);
  return { least, most, marks: moments.map((value) => ({ value, text: timeText(value, step) })) };
}

/** Returns where a value is, between `from` and `to`. */
export function placed(value: number, scale: Scale, from: number, to: number): number {
  const whole = scale.most / 2 - scale.least / 2;
  const share = whole === 0 ? 0.5 : (value / 2 - scale.least / 2) / whole;
  return from + share * (to - from);
}

function rangeOf(values: Iterable<number>): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return least <= most ? [least, most] : [0, 1];
}

function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const round = [1, 2, 5, 10].find((each) => each * power >= step * 0.999) ?? 10;
  const found = round * power;
  return found > 0 && Number.isFinite(found) ? found : step || Number.MIN_VALUE;
}

function finite(value: number, otherwise: number): number {
  return Number.isFinite(value) ? value : otherwise;
}

function bySteps(least: number, most: number, wanted: number): number[] {
  const step = STEPS.find((each) => each >= wanted) ?? 14 * DAY;
  const first = Math.ceil(least / step);
  const count = Math.floor(most / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, place) => (first + place) * step);
}

function byMonths(least: number, most: number, wanted: number): number[] {
  const months = MONTHS.find((each) => each * MONTH >= wanted) ?? 12 * roundStep(Math.max(1, wanted / YEAR));
  const start = new Date(least);
  const first = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months;
  const found: number[] = [];
  for (let month = first; found.length < 100; month += months) {
    const moment = new Date(0);
    moment.setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
    if (!(moment.getTime() <= most)) {
      break;
    }
    if (moment.getTime() >= least) {
      found.push(moment.getTime());
    }
  }
  return found;
}

function numberText(value: number, step: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-6)) {
    return value.toExponential(1).replace("e+", "e");
  }
  const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step))));
  const scaled: readonly [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]];
  for (const [unit, letter] of scaled) {
    if (size >= unit) {
      const divisor = letter === "k" ? 1e3 : unit;
      const left = Math.max(0, Math.min(6, -Math.floor(Math.log10(step / divisor))));
      return `${(value / divisor).toFixed(left)} ${letter}`;
    }
  }
  return (value === 0 ? 0 : value).toFixed(digits);
}

function timeText(value: number, step: number): string {
  const text = new Date(value).toISOString();
  const at = text.indexOf("T");
  if (step > 300 * DAY) {
    return text.slice(0, at - 6);
  }
  if (step > 14 * DAY) {
    return text.slice(0, at - 3);
  }
  if (step >= DAY / 2) {
    return text.slice(0, at);
  }
  const clock = text.slice(at + 1, step >= MINUTE ? at + 6 : step >= SECOND ? at + 9 : at + 13);
  return clock.startsWith("00:00") && step >= MINUTE ? text.slice(0, at) : clock;
}
