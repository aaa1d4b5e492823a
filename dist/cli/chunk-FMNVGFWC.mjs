// src/sweeps/drift.ts
var maxEntries = 1e3;
var indexKey = "drift";
async function openDriftBook(store, rule) {
  const key = `${indexKey} ${rule}`;
  let entries = await store.recall(key) ?? [];
  let isChanged = false;
  return {
    get size() {
      return entries.length;
    },
    note(item, run, now) {
      const found = driftOf(run);
      const before = entries.filter((entry) => entry.item === item);
      if (found.length === 0 && before.length === 0) return;
      isChanged = true;
      const at = now.toISOString();
      const after = found.map((one) => {
        const known = before.find(({ target }) => target === one.target);
        return { rule, item, ...one, since: known?.since ?? at, seen: at };
      });
      entries = [...entries.filter((entry) => entry.item !== item), ...after].slice(-maxEntries);
    },
    close(sweptFrom) {
      const from = sweptFrom.toISOString();
      const kept = entries.filter(({ seen }) => seen >= from);
      isChanged ||= kept.length < entries.length;
      entries = kept;
    },
    async save() {
      if (!isChanged) return;
      isChanged = false;
      const known = await store.recall(indexKey) ?? [];
      if (!known.includes(rule)) await store.remember(indexKey, [...known, rule]);
      await store.remember(key, entries.length === 0 ? void 0 : entries);
    }
  };
}
async function readDrift(store) {
  const rules = await store.recall(indexKey) ?? [];
  const found = [];
  for (const rule of rules) {
    found.push(...await store.recall(`${indexKey} ${rule}`) ?? []);
  }
  return found.toSorted((a, b) => a.since < b.since ? -1 : 1);
}
function driftOf(run) {
  const outcomes = new Map(run.outcomes.map((outcome) => [outcome.change, outcome]));
  const left = run.changes.flatMap((change) => {
    const outcome = outcomes.get(change.id);
    if (outcome === void 0 || outcome.status === "applied" || outcome.status === "skipped") return [];
    return [{ change, why: outcome.error ?? "only observed" }];
  });
  return [...left, ...run.refused].map(({ change, why }) => ({
    target: change.target,
    live: change.before,
    wanted: change.value,
    why
  }));
}

export {
  openDriftBook,
  readDrift
};
