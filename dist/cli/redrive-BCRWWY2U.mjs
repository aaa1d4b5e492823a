import {
  openStore
} from "./chunk-7OPT6IFU.mjs";
import "./chunk-XJ67IZNZ.mjs";
import {
  count
} from "./chunk-2N6KPMKU.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/redrive.ts
import { userInfo } from "node:os";
async function redrive(ids, options, settings, terminal) {
  if (ids.length > 0 === (options.all ?? false))
    throw new ReeveError("usage", "name the ids of dead deliveries, or say --all");
  const store = await openStore(settings);
  try {
    const wanted = options.all ? await deadIds(store) : ids;
    const revived = await store.redrive(wanted, `${userInfo().username} by reeve redrive`);
    if (options.json) terminal.out(JSON.stringify({ asked: wanted.length, redriven: revived }));
    else
      terminal.out(`${count(revived, "delivery").replace(/deliverys$/, "deliveries")} will be tried again`);
    return revived === wanted.length ? 0 : 1;
  } finally {
    await store.close();
  }
}
async function deadIds(store) {
  const ids = [];
  for (let before; ; ) {
    const page = await store.listDeliveries({
      state: "dead",
      limit: 500,
      ...before === void 0 ? {} : { before }
    });
    ids.push(...page.items.map(({ id }) => id));
    if (page.next === void 0) return ids;
    before = page.next;
  }
}
export {
  redrive
};
