/** Returns the words of a field, such as roles: divided by commas or spaces, each once. */
export function wordsIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((word) => word !== ""))];
}
