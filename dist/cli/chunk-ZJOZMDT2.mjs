import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/commands/connection/env-file.ts
import { existsSync, readFileSync } from "node:fs";
import { chmod, rename, writeFile } from "node:fs/promises";
import { parseEnv } from "node:util";
var head = `# Settings of Reeve, made by reeve setup. It holds secrets: keep it readable by its owner alone.
# Use it with  reeve serve --settings FILE,  or as EnvironmentFile= of a systemd unit.
`;
function readEnvFile(path, { mustExist = true } = {}) {
  if (!mustExist && !existsSync(path)) return {};
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new ReeveError("usage", `--settings: ${messageOf(cause)}`, { cause });
  }
}
function mergeEnvironments(file, environment) {
  const merged = { ...file };
  for (const [name, value] of Object.entries(environment)) {
    if (value === void 0 || value === "") continue;
    delete merged[name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`];
    merged[name] = value;
  }
  return merged;
}
function editEnvText(text, values) {
  let edited = text === "" ? head : text;
  for (const [name, value] of Object.entries(values)) {
    const line = new RegExp(`^(?:export )?${name}=(?:'[^']*'|"[^"]*"|[^\\n]*)\\n?`, "m");
    const wanted = value === void 0 ? "" : `${name}=${quote(name, value)}
`;
    if (line.test(edited)) edited = edited.replace(line, () => wanted);
    else edited += edited.endsWith("\n") || edited === "" ? wanted : `
${wanted}`;
  }
  return edited;
}
function quote(name, value) {
  if (!value.includes("'")) return `'${value}'`;
  throw new ReeveError(
    "settings",
    `${name} holds a quote, which an env file cannot: put it into a file of its own and set ${name}_FILE`
  );
}
async function writePrivateFile(path, text) {
  const made = `${path}.new`;
  try {
    await writeFile(made, text, { mode: 384 });
    await chmod(made, 384);
    await rename(made, path);
  } catch (cause) {
    throw new ReeveError("settings", `${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

export {
  readEnvFile,
  mergeEnvironments,
  editEnvText,
  writePrivateFile
};
