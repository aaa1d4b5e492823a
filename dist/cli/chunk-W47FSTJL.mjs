import {
  createGlob
} from "./chunk-D4IFGYQO.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/generated-file.ts
import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
async function loadGenerated(path, make) {
  const made = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const held = await readFile(path).catch((error) => {
      if (error.code !== "ENOENT") throw error;
    });
    if (held) return held;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(made, make(), { mode: 384, flag: "wx" });
    await link(made, path).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
    return await readFile(path);
  } catch (cause) {
    throw new ReeveError("settings", `REEVE_DATA: ${path} cannot be used: ${messageOf(cause)}`, { cause });
  } finally {
    await rm(made, { force: true });
  }
}

// src/named-secrets.ts
import { randomBytes as randomBytes2 } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
var NamedSecret = z.strictObject({
  value: z.string().min(1).optional().describe("The value itself."),
  file: z.string().min(1).optional().describe("A file that holds the value and nothing else."),
  environment: z.string().min(1).optional().describe("A variable of the environment that holds the value.")
}).refine(({ value, file, environment }) => [value, file, environment].filter(Boolean).length === 1, {
  message: "say one of value, file and environment"
});
var NamedSecretsForm = z.record(z.string().regex(/^[A-Za-z]\w{0,63}$/, "a secret is named by letters, digits and _"), NamedSecret).describe("Values that rules of the operator may name (`{ secret: NAME }`), such as those of hooks.");
var prefix = "REEVE_SECRET_";
var leastLength = 8;
function isSecretVariable(name) {
  return /^REEVE_SECRET_[A-Za-z]\w*$/.test(name);
}
function readNamedSecrets(form, environment, problems) {
  const found = /* @__PURE__ */ new Map();
  const add = (name, where, value) => {
    if (found.has(name)) problems.push(`${where}: the secret "${name}" is given twice`);
    else if (value === void 0 || value.length < leastLength) {
      problems.push(`${where}: the secret "${name}" has less than ${leastLength} characters`);
    } else if (/[\r\n\0]/.test(value)) problems.push(`${where}: the secret "${name}" has more than one line`);
    else found.set(name, value);
  };
  for (const [name, { value, file, environment: variable }] of Object.entries(form ?? {})) {
    const where = `named-secrets.${name}`;
    if (file !== void 0) add(name, where, readFrom(file, where, problems));
    else add(name, where, variable === void 0 ? value : environment[variable]);
  }
  for (const [variable, value] of Object.entries(environment)) {
    if (!isSecretVariable(variable) || value === void 0 || value === "") continue;
    const isFile = variable.endsWith("_FILE");
    const name = variable.slice(prefix.length, isFile ? -"_FILE".length : void 0);
    add(name, variable, isFile ? readFrom(value, variable, problems) : value);
  }
  return found;
}
function readFrom(path, where, problems) {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    problems.push(`${where}: ${messageOf(error)}`);
    return void 0;
  }
}
async function loadFingerprintKey(data) {
  const path = join(data, "fingerprint.key");
  const key = await loadGenerated(path, () => randomBytes2(32));
  if (key.byteLength === 32) return key;
  throw new ReeveError(
    "settings",
    `REEVE_DATA: ${path} does not hold 32 bytes: remove it, and hooks with secrets are written anew`
  );
}

// src/receiver/scope.ts
var wholePatterns = /* @__PURE__ */ new Set(["*", "**", "*/*"]);
function isWholeScope(scope) {
  return scope.some((pattern) => wholePatterns.has(pattern));
}
function createScope(scope) {
  if (isWholeScope(scope)) return () => true;
  const globs = scope.map((pattern) => createGlob(pattern.toLowerCase()));
  return (repository) => repository !== void 0 && globs.some((matches) => matches(repository.toLowerCase()));
}

export {
  loadGenerated,
  NamedSecretsForm,
  isSecretVariable,
  readNamedSecrets,
  loadFingerprintKey,
  isWholeScope,
  createScope
};
