import {
  openSqliteStore
} from "./chunk-XJ67IZNZ.mjs";
import {
  createClient
} from "./chunk-WHXP6K3X.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/open-store.ts
import { existsSync } from "node:fs";
import { join } from "node:path";
async function openStore(settings, role = "reader") {
  const path = join(settings.data, "reeve.db");
  if (!existsSync(path)) {
    throw new ReeveError(
      "usage",
      `there is no store at ${path}: set REEVE_DATA to the folder of reeve serve`
    );
  }
  return openSqliteStore({ path, role });
}
function clientOf(settings) {
  if (settings.forge === void 0)
    throw new ReeveError("usage", "this asks the forge: set FORGE_URL and FORGE_TOKEN");
  return createClient({ ...settings.forge });
}

export {
  openStore,
  clientOf
};
