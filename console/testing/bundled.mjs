// Bundles modules of the console, so that Node can run what needs no browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { build } from "esbuild";

const here = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), "console-rules-"));
after(() => rmSync(folder, { recursive: true }));

export async function rules(path) {
  const outfile = join(folder, path.replace("/", "-") + ".mjs");
  await build({ entryPoints: [join(here, "../source", `${path}.ts`)], outfile, bundle: true, format: "esm" });
  return import(outfile);
}
