// src/package.ts
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
var packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)));
function findRoot(folder) {
  return existsSync(join(folder, "package.json")) || dirname(folder) === folder ? folder : findRoot(dirname(folder));
}
function packageVersion() {
  const about = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));
  return typeof about === "object" && about !== null && "version" in about ? String(about.version) : "unknown";
}

export {
  packageRoot,
  packageVersion
};
