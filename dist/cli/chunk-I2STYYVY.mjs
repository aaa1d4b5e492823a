import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/commands/read-data.ts
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
async function readData(path) {
  let value;
  try {
    const text = await readFile(path, "utf8");
    value = path.endsWith(".json") ? JSON.parse(text) : parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    throw new ReeveError("usage", `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value;
  throw new ReeveError("usage", `${path} must hold a map`);
}

export {
  readData
};
