import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/engine/advice.ts
var advice = {
  "forge-not-found": "it is gone, or the account cannot see it: check the name in the rule and the account\u2019s access",
  "forge-conflict": "something else changed it meanwhile: the next event or sweep plans it anew",
  "forge-refused": "the forge does not take these values: compare them with the action\u2019s reference page",
  "forge-moved": "the repository was renamed: what is missing is planned again under its new name"
};
function adviseOn(error, needs) {
  const message = messageOf(error);
  if (!(error instanceof ReeveError)) return message;
  if (error.status === 403 && needs) {
    const scopes = needs.scopes.map((scope) => `write:${scope}`).join(", ");
    return `${message}; it needs ${needs.access} access and a token with ${scopes}`;
  }
  const more = error.status === void 0 && error.code !== "forge-moved" ? void 0 : advice[error.code];
  return more === void 0 ? message : `${message}; ${more}`;
}

export {
  adviseOn
};
