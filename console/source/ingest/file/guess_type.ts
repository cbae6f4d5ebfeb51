/** Guesses the type of a column from values as a file has them. A guess is a proposal: the user may choose another one. */

/** The types that a new column may get here, as Iceberg spells them. */
export const TYPES = [
  "string", "long", "int", "double", "float", "decimal(18, 2)", "decimal(38, 9)", "boolean", "date", "timestamp", "timestamptz", "binary",
] as const;

const WHOLE = /^-?(?:0|[1-9]\d{0,17})$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i;
// A value of more kinds than these is none that a column here can hold.
const NESTED = "nested";
type Guess = (typeof TYPES)[number] | typeof NESTED;

export class TypeGuess {
  private found: Guess | null = null;

  /** Takes a value of CSV, without its quotes. */
  seeText(value: string): void {
    this.take(isBoolean(value) ? "boolean" : (numberType(value) ?? textType(value)));
  }

  /** Takes a value as JSON has it. null says nothing. */
  seeJson(value: string): void {
    const first = value[0];
    if (value === "null") {
      return;
    }
    if (first === "{" || first === "[") {
      this.take(NESTED);
    } else if (first === '"') {
      this.take(textType(value.slice(1, -1)));
    } else {
      this.take(isBoolean(value) ? "boolean" : (numberType(value) ?? "string"));
    }
  }

  /** The type that all values fit; a text if they have nothing in common. null: at least one is nested. */
  get type(): string | null {
    return this.found === NESTED ? null : (this.found ?? "string");
  }

  private take(guess: Guess): void {
    this.found = this.found === null ? guess : both(this.found, guess);
  }
}

function both(left: Guess, right: Guess): Guess {
  if (left === right) {
    return left;
  }
  const pair = [left, right];
  if (pair.includes(NESTED)) {
    return NESTED;
  }
  return pair.every((each) => each === "long" || each === "double") ? "double" : "string";
}

function isBoolean(value: string): boolean {
  return value === "true" || value === "false";
}

function numberType(value: string): Guess | null {
  return WHOLE.test(value) ? "long" : /^-?\d{19,}$/.test(value) || !NUMBER.test(value) ? null : "double";
}

function textType(value: string): Guess {
  const moment = MOMENT.exec(value);
  return DATE.test(value) ? "date" : moment === null ? "string" : moment[1] === undefined ? "timestamp" : "timestamptz";
}
