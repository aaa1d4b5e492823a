// src/sweeps/runner-memory.ts
var flapsWithinMs = 36e5;
var goneForMs = 7 * 864e5;
var maxChanges = 50;
var indexKey = "runners";
function createRunnerMemory(store) {
  let writing = Promise.resolve();
  const inTurn = (work) => {
    const turn = writing.then(work, work);
    writing = turn.catch(() => {
    });
    return turn;
  };
  const keyOf = (level) => `${indexKey} ${level}`;
  const read = async (level) => await store.recall(keyOf(level)) ?? {};
  const names = async () => await store.recall(indexKey) ?? [];
  return {
    observe: (level, seen, now) => inTurn(async () => {
      const before = await read(level);
      if (seen.length === 0 && Object.keys(before).length === 0) return before;
      const known = await names();
      if (!known.includes(level)) await store.remember(indexKey, [...known, level]);
      const records = merge(before, seen, now);
      await store.remember(keyOf(level), records);
      return records;
    }),
    told: (level, ids, rule) => inTurn(async () => {
      const records = await read(level);
      const marked = Object.entries(records).map(([id, record]) => [
        id,
        ids.includes(id) ? { ...record, told: [.../* @__PURE__ */ new Set([...record.told ?? [], rule])] } : record
      ]);
      await store.remember(keyOf(level), Object.fromEntries(marked));
    }),
    async levels() {
      const found = {};
      for (const level of await names()) found[level] = await read(level);
      return found;
    }
  };
}
function merge(before, seen, now) {
  const at = now.toISOString();
  const after = {};
  for (const { id, name, labels, status, busy, disabled } of seen) {
    const known = before[id];
    const changed = known !== void 0 && known.status !== status;
    const recent = (known?.changes ?? []).filter(
      (change) => now.getTime() - Date.parse(change) < flapsWithinMs
    );
    after[id] = {
      ...{ name, labels, status, busy, disabled },
      since: known && !changed ? known.since : at,
      activeAt: busy || known === void 0 ? at : known.activeAt,
      changes: changed ? [...recent, at].slice(-maxChanges) : recent
    };
  }
  for (const [id, known] of Object.entries(before)) {
    if (after[id] !== void 0) continue;
    if (known.status !== "gone") after[id] = { ...known, status: "gone", busy: false, since: at };
    else if (now.getTime() - Date.parse(known.since) < goneForMs) after[id] = known;
  }
  return after;
}

export {
  flapsWithinMs,
  createRunnerMemory
};
