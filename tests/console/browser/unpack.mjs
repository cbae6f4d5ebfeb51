// Unpacks a Chromium, and what it needs on a machine without libraries and fonts, into the working folder.
import { spawnSync } from "node:child_process";
import { createReadStream, createWriteStream, chmodSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";

const packed = "node_modules/@sparticuz/chromium/bin";

async function inflated(name, to) {
  await pipeline(createReadStream(`${packed}/${name}.br`), createBrotliDecompress(), createWriteStream(to));
}

await inflated("chromium", "chromium");
chmodSync("chromium", 0o755);
for (const name of ["swiftshader.tar", "fonts.tar", "al2023.tar"]) {
  await inflated(name, name);
  const { status } = spawnSync("tar", ["-xf", name], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
