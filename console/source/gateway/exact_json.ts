/** Reads JSON without a loss: whole numbers of more digits than JavaScript holds become text. */

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG = /^-?\d{16,}$/;

export function exactJson(text: string): unknown {
  return JSON.parse(text.replace(TOKEN, (token) => (LONG.test(token) ? `"${token}"` : token)));
}
