// Bundles the console into one script and one style sheet, named by the hashes of their bytes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;
const target = process.argv[2] ?? join(here, "../api/http/console/static");

const bundled = await build({
  entryPoints: { console: join(here, "source/main.tsx") },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  metafile: true,
  write: false,
  outdir: target,
});

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const names = {};
for (const file of bundled.outputFiles) {
  const ending = file.path.slice(file.path.lastIndexOf("."));
  const hash = createHash("sha256").update(file.contents).digest("hex").slice(0, 16);
  names[ending] = `console-${hash}${ending}`;
  writeFileSync(join(target, names[ending]), file.contents);
}
const page = readFileSync(join(here, "source/index.html"), "utf8");
writeFileSync(
  join(target, "index.html"),
  page.replace("console.js", names[".js"]).replace("console.css", names[".css"]),
);
writeFileSync(join(target, "mark.svg"), readFileSync(join(here, "source/mark.svg")));
writeFileSync(join(target, "licences.txt"), licences(Object.keys(bundled.metafile.inputs)));

writeFileSync(join(target, "sources.sha256"), `${stamp()}\n`);

// Tells, without Node, whether these files were built from the sources beside them.
function stamp() {
  const paths = readdirSync(join(here, "source"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(here, join(entry.parentPath, entry.name)));
  const hash = createHash("sha256");
  for (const path of [...paths, "build.mjs", "package-lock.json", "package.json", "tsconfig.json"].sort()) {
    hash.update(`${path}\n`).update(readFileSync(join(here, path)));
  }
  return hash.digest("hex");
}

// The licences of the packages whose code is in the script ask for their texts to go with it.
function licences(inputs) {
  const packages = inputs
    .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
    .filter((name) => name !== undefined);
  return [...new Set(packages)]
    .sort()
    .map((name) => {
      const folder = join(here, "node_modules", name);
      const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    })
    .join(`\n${"-".repeat(80)}\n\n`);
}
