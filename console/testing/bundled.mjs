// Bundles modules of the console, so that Node can run what needs no browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { build } from "esbuild";

const here = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), "console-rules-"));
after(() => rmSync(folder, { recursive: true }));

/** Returns what the modules export. Those that are named together share what they import. */
export async function rules(...paths) {
  const outfile = join(folder, paths.join("+").replaceAll("/", "-") + ".mjs");
  const stdin = { contents: paths.map((path) => `export * from "./${path}";`).join("\n"), resolveDir: join(here, "../source") };
  await build({ stdin, outfile, bundle: true, format: "esm" });
  return import(outfile);
}
