import {
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/account.ts
async function findAccount(client, options) {
  const self = await client.call(operations.getSelf, {});
  if (self.is_admin && !options.allowAdmin) {
    throw new ReeveError(
      "settings",
      `@${self.login} is a site administrator: use an account with the rights your rules need, or say allow-admin: true in the operator file`
    );
  }
  return { id: self.id, login: self.login };
}

export {
  findAccount
};
