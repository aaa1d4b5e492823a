import {
  createRuleSet,
  runEvent
} from "./chunk-ZICOA7TD.mjs";
import {
  parsePayload
} from "./chunk-F5HW2RH7.mjs";
import {
  formatProblem
} from "./chunk-LTENOIKX.mjs";
import {
  isRuleFileName,
  loadRuleFile,
  registry,
  repositoryPaths
} from "./chunk-MMU7GUSS.mjs";
import {
  laneOf,
  parseEvent
} from "./chunk-QVU6XQ2A.mjs";
import {
  createScope
} from "./chunk-VTTQ2TL3.mjs";
import {
  createFacts
} from "./chunk-PGPAQ2TF.mjs";
import {
  silentLog
} from "./chunk-OVHSHDHZ.mjs";
import {
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/replay.ts
import { randomUUID } from "node:crypto";
async function replayEvent(event, options) {
  const { rules, now, nowMs, memory, account, delivery, explainAll } = options;
  const client = options.client.counted();
  const subject = event.subject ?? { kind: "repository" };
  const { run } = await runEvent({
    ...options.settings,
    id: randomUUID(),
    mode: "plan",
    trigger: {
      door: "cli",
      kind: event.family ?? event.eventType,
      activity: event.activity,
      ...delivery === void 0 ? {} : { delivery },
      at: now.toISOString()
    },
    rules,
    event,
    facts: createFacts({ client, subject, memory, nowMs }),
    client,
    ...account ? { account } : {},
    ...explainAll ? { explainAll } : {},
    now,
    nowMs
  });
  return run;
}

// src/worker/routing.ts
function eventOf(delivery) {
  return parseEvent(delivery.eventType, parsePayload(delivery.body));
}
function routingOf(delivery) {
  const { id, lane } = delivery;
  if (delivery.door !== "webhook") return { id, to: "lane", lane: lane ?? `job ${delivery.eventType}` };
  try {
    const event = eventOf(delivery);
    const { repository } = event;
    const about = repository === void 0 ? {} : { repositoryId: repository.id, repository: `${repository.owner}/${repository.name}` };
    const route = { lane: laneOf(event), ...about };
    if (event.family === void 0) {
      return { id, to: "settled", reason: `unknown kind ${delivery.eventType}`, ...route };
    }
    return { id, to: "lane", ...route };
  } catch (error) {
    return { id, to: "dead", reason: messageOf(error) };
  }
}

// src/kept.ts
function createKept(options) {
  const entries = /* @__PURE__ */ new Map();
  return {
    get(key, read) {
      const known = entries.get(key);
      if (known && options.nowMs() - known.atMs <= options.maxAgeMs) return known.reading;
      const entry = { reading: read(), atMs: options.nowMs() };
      entries.delete(key);
      entries.set(key, entry);
      entry.reading.then(
        (value) => {
          entry.value = value;
        },
        () => {
          if (entries.get(key) === entry) entries.delete(key);
        }
      );
      const [oldest] = entries.keys();
      if (entries.size > options.maxEntries && oldest !== void 0) entries.delete(oldest);
      return entry.reading;
    },
    drop(key) {
      entries.delete(key);
    },
    dropWhere(matches) {
      for (const [key, { value }] of entries) if (value === void 0 || matches(value)) entries.delete(key);
    }
  };
}

// src/sources/plain-file.ts
var maxBytes = 64 * 1024;
async function readHead(client, given) {
  const params = { owner: given.owner, repo: given.name };
  const live = await client.call(operations.getRepository, { params });
  const at = { id: live.id, owner: live.owner.login, name: live.name };
  const archived = live.archived === true;
  if (live.empty || !live.default_branch) return { at, commit: "", archived };
  try {
    const branch = await client.call(operations.getBranch, {
      params: { owner: at.owner, repo: at.name, branch: live.default_branch }
    });
    return { at, commit: branch.commit?.id ?? "", archived };
  } catch (error) {
    if (isAbsent(error)) return { at, commit: "", archived };
    throw error;
  }
}
var maxMoves = 3;
async function readSteadily(client, given, { read, refuse }) {
  for (let moves = 0; ; moves += 1) {
    const head = await readHead(client, given);
    const { isCertain, has } = await client.capabilities();
    const ref = head.commit === "" || isCertain && has.branches_before_tags ? void 0 : head.commit;
    const { value, decides } = await read({ ...head, ref });
    if (!isCertain && ref !== void 0 && await isName(client, head)) {
      return { head, value: refuse(head, `a branch or tag is called ${ref}, like its newest commit`) };
    }
    if (!decides) return { head, value };
    const after = await readHead(client, head.at);
    if (after.commit === head.commit && after.at.id === head.at.id) return { head, value };
    if (moves === maxMoves) {
      const where = `${head.at.owner}/${head.at.name}`;
      throw new ReeveError("forge-unavailable", `the default branch of ${where} moves while it is read`);
    }
  }
}
async function isName(client, { at, commit }) {
  const params = { owner: at.owner, repo: at.name };
  const asked = await Promise.all([
    unlessAbsent(client.call(operations.getBranch, { params: { ...params, branch: commit } })),
    unlessAbsent(client.call(operations.getTag, { params: { ...params, tag: commit } }))
  ]);
  return asked.some((found) => found !== void 0);
}
async function readEntry(client, { at, ref }, path) {
  return unlessAbsent(
    client.call(operations.getContents, {
      params: { owner: at.owner, repo: at.name, filepath: path },
      ...ref === void 0 ? {} : { query: { ref } }
    })
  );
}
async function unlessAbsent(asked) {
  try {
    return await asked;
  } catch (error) {
    if (isAbsent(error)) return void 0;
    throw error;
  }
}
function isAbsent(error) {
  return error instanceof ReeveError && error.code === "forge-not-found";
}
function loadEntry(entry, options) {
  const type = isList(entry) ? "dir" : entry.type;
  if (isList(entry) || type !== "file") return `it is a ${type}, and rules are read from plain files alone`;
  if ((entry.size ?? 0) > maxBytes) return `it has ${entry.size} bytes, and a rule file may have ${maxBytes}`;
  if (entry.encoding !== "base64" || typeof entry.content !== "string")
    return "the forge did not give its content";
  const text = Buffer.from(entry.content, "base64").toString("utf8");
  const { source, commit, level, grants, home } = options;
  const loaded = loadRuleFile({ path: source, text, level, commit, registry, grants });
  return { ...loaded, rules: loaded.rules.map((rule) => ({ ...rule, home })) };
}
function isList(value) {
  return Array.isArray(value);
}

// src/sources/organization.ts
var folder = "rules";
var maxFiles = 100;
async function readOrganizationRules(client, source, options) {
  const [owner = "", name = ""] = source.rules.split("/");
  try {
    const { head, value } = await readSteadily(
      client,
      { owner, name },
      {
        async read(found) {
          const pinned = await pinnedId(source, found.at.id, options.pins);
          if (pinned !== found.at.id)
            return { value: [refusal(source, found, takenOver(source, found, pinned))], decides: false };
          if (found.commit === "") return { value: [], decides: false };
          const files = await readFilesAt(client, source, found, options.grants);
          return { value: files, decides: files.length > 0 };
        },
        refuse: (found, why) => [refusal(source, found, `${source.rules}: ${why}`)]
      }
    );
    return { head, files: value };
  } catch (error) {
    const isAway = error instanceof ReeveError && (error.code === "forge-not-found" || error.code === "forge-forbidden");
    if (!isAway) throw error;
    const problem = `${source.rules} cannot be seen: it is gone, or the account may not read it`;
    return { files: [{ rules: [], source: source.rules, commit: "", problems: [problem] }] };
  }
}
function takenOver(source, { at }, pinned) {
  return `${source.rules} is another repository now (id ${at.id}, rules were read from ${pinned}); if that is wanted, say id: ${at.id} beside it in the operator file`;
}
function refusal(source, head, problem) {
  return { rules: [], source: source.rules, commit: head.commit, problems: [problem] };
}
async function readFilesAt(client, source, head, grants) {
  const refuse = (problem) => [refusal(source, head, problem)];
  const entries = await readEntry(client, head, folder);
  if (entries === void 0) return [];
  if (!Array.isArray(entries)) return refuse(`${source.rules}/${folder} is no folder`);
  const named = entries.filter(({ name: file }) => isRuleFileName(file));
  if (named.length > maxFiles) {
    return refuse(`${source.rules}/${folder} has ${named.length} rule files, and may have ${maxFiles}`);
  }
  return Promise.all(
    named.map(async ({ path }) => {
      const place = `${source.rules}/${path}`;
      const entry = await readEntry(client, head, path);
      const loaded = loadEntry(entry ?? [], {
        source: place,
        commit: head.commit,
        level: "organization",
        grants,
        home: { organization: source.name }
      });
      if (typeof loaded === "string") {
        return { rules: [], source: place, commit: head.commit, problems: [`${place}: ${loaded}`] };
      }
      const rules = loaded.rules.map((rule) => withinOrganization(rule, source.name));
      return { rules, source: place, commit: head.commit, problems: loaded.problems.map(formatProblem) };
    })
  );
}
async function pinnedId(source, seen, pins) {
  if (source.id !== void 0) return source.id;
  const key = `organization rules ${source.name.toLowerCase()} ${source.rules.toLowerCase()}`;
  const known = await pins.recall(key);
  if (typeof known === "number") return known;
  await pins.remember(key, seen);
  return seen;
}
function withinOrganization(rule, organization) {
  const wanted = organization.toLowerCase();
  const own = {
    written: [`${organization}/*`],
    matches: (name) => name.split("/")[0]?.toLowerCase() === wanted
  };
  return { ...rule, scopes: [own, ...rule.scopes] };
}

// src/sources/powers.ts
function createPowers(grants) {
  const rows = grants.map(({ repositories, organizations, names }) => ({
    takes: repositories.length === 0 ? () => false : createScope(repositories),
    organizations: new Set(organizations.map((name) => name.toLowerCase())),
    names
  }));
  const union = (granted) => [...new Set(granted.flatMap(({ names }) => names))].sort();
  return {
    ofRepository: ({ owner, name }) => union(rows.filter(({ takes }) => takes(`${owner}/${name}`))),
    ofOrganization: (name) => union(rows.filter(({ organizations }) => organizations.has(name.toLowerCase())))
  };
}

// src/sources/repository-file.ts
async function readRepositoryRules(client, at, grants = []) {
  const { head, value } = await readSteadily(client, at, {
    async read(found) {
      const file = await readFileAt(client, at, found, grants);
      return { value: file, decides: file.rules.length + file.problems.length > 0 && file.commit !== "" };
    },
    refuse: ({ at: there, commit }, why) => ({
      rules: [],
      source: `${there.owner}/${there.name}`,
      commit,
      problems: [`${there.owner}/${there.name}: ${why}; while it is there, no rule file is used`]
    })
  });
  return { head, file: value };
}
async function readFileAt(client, wanted, { at, commit, ref }, grants) {
  if (at.id !== wanted.id) {
    const problem = `${wanted.owner}/${wanted.name} is another repository now (id ${at.id})`;
    return { rules: [], source: `${wanted.owner}/${wanted.name}`, commit: "", problems: [problem] };
  }
  const none2 = { rules: [], source: `${at.owner}/${at.name}`, commit, problems: [] };
  if (commit === "") return none2;
  const found = (await Promise.all(
    repositoryPaths.map(async (path) => ({ path, entry: await readEntry(client, { at, ref }, path) }))
  )).filter(({ entry }) => entry !== void 0);
  const [first] = found;
  if (first?.entry === void 0) return none2;
  if (found.length > 1) {
    const names = found.map(({ path }) => path).join(" and ");
    const problem = `${names} are both there; keep one of them, until then none is used`;
    return { ...none2, problems: [problem] };
  }
  const source = `${at.owner}/${at.name}/${first.path}`;
  const home = { repositoryId: at.id };
  const loaded = loadEntry(first.entry, { source, commit, level: "repository", grants, home });
  if (typeof loaded === "string") return { ...none2, source, problems: [`${source}: ${loaded}`] };
  return { rules: loaded.rules, source, commit, problems: loaded.problems.map(formatProblem) };
}

// src/sources/rules-for.ts
var maxAgeMs = 10 * 6e4;
var maxRepositories = 5e3;
function createRuleSource(options) {
  const { client, nowMs, onRead, log = silentLog } = options;
  const powers = createPowers(options.grants ?? []);
  const organizations = new Map(
    (options.organizations ?? []).map((source) => [source.name.toLowerCase(), source])
  );
  let operatorRules = options.operatorRules;
  let operatorSet = createRuleSet(operatorRules);
  const pins = options.pins ?? forgetful;
  const repositories = createKept({
    maxAgeMs,
    maxEntries: maxRepositories,
    nowMs
  });
  const shared = createKept({ maxAgeMs, maxEntries: maxRepositories, nowMs });
  const sets = /* @__PURE__ */ new WeakMap();
  const tell = (head, files) => {
    for (const { source, problems } of files) {
      if (problems.length > 0) log.warn({ file: source, problems }, "rule file refused");
    }
    if (head) onRead?.(head, files);
  };
  const readOwn = (at) => repositories.get(at.id, async () => {
    const reading = await readRepositoryRules(client, at, powers.ofRepository(at));
    tell(reading.head, [reading.file]);
    return reading;
  });
  const readShared = async (owner) => {
    const key = owner.toLowerCase();
    const source = organizations.get(key);
    if (source === void 0) return [];
    const { head, files } = await shared.get(key, async () => {
      const reading = await readOrganizationRules(client, source, {
        pins,
        grants: powers.ofOrganization(source.name)
      });
      tell(reading.head, reading.files);
      return reading;
    });
    if (head === void 0) shared.drop(key);
    return files;
  };
  const setOf = (own, ofOrganization) => {
    const rules = [...ofOrganization.flatMap((file) => file.rules), ...own.rules];
    if (rules.length === 0) return operatorSet;
    const byOwn = sets.get(operatorRules) ?? /* @__PURE__ */ new WeakMap();
    sets.set(operatorRules, byOwn);
    const known = byOwn.get(own);
    if (known && sameRules(known, operatorRules, rules)) return known;
    const made = createRuleSet([...operatorRules, ...rules]);
    byOwn.set(own, made);
    return made;
  };
  return {
    async rulesFor(event) {
      const { repository } = event;
      if (repository === void 0) return { rules: operatorSet, broken: [] };
      if (movesDefaultBranch(event)) {
        repositories.drop(repository.id);
        shared.dropWhere(({ head: head2 }) => head2 === void 0 || head2.at.id === repository.id);
      }
      if (!await options.served.has(repository)) return none;
      const { head, file } = await readOwn(repository);
      if (head.archived) return none;
      const isSame = head.at.id === repository.id;
      const at = isSame ? head.at : repository;
      if (isSame && nameOf(at) !== nameOf(repository) && !await options.served.has(at)) return none;
      const ofOrganization = await readShared(at.owner);
      const broken = [...ofOrganization, file].filter(({ problems }) => problems.length > 0);
      return { rules: setOf(file, ofOrganization), broken, ...isSame ? { repository: at } : {} };
    },
    operator: () => operatorRules,
    async everyRule() {
      const found = [...operatorRules];
      const owners = [...organizations.keys()];
      const readings = [
        ...owners.map((owner) => async () => (await readShared(owner)).flatMap(({ rules }) => rules)),
        ...(await options.served.starred()).map((at) => async () => {
          const { head, file } = await readOwn(at);
          return head.archived ? [] : file.rules;
        })
      ];
      for (const read of readings) {
        try {
          found.push(...await read());
        } catch (error) {
          log.warn({ error: messageOf(error) }, "rules could not be read for the clocks");
        }
      }
      return found;
    },
    forget: (repositoryId) => repositories.drop(repositoryId),
    replaceOperatorRules(rules) {
      operatorRules = rules;
      operatorSet = createRuleSet(rules);
    }
  };
}
var none = { rules: createRuleSet([]), broken: [] };
var forgetful = { recall: async () => void 0, remember: async () => {
} };
function nameOf({ owner, name }) {
  return `${owner}/${name}`.toLowerCase();
}
function sameRules(set, operator, others) {
  if (set.rules.length !== operator.length + others.length) return false;
  return others.every((rule) => set.find(rule.id) === rule);
}
function movesDefaultBranch(event) {
  if (event.family === "repository") return true;
  if (event.family !== "push" && event.family !== "create" && event.family !== "delete") return false;
  const repository = event.payload.repository;
  const branch = typeof repository === "object" && repository !== null && "default_branch" in repository ? repository.default_branch : void 0;
  return event.subject?.ref === branch;
}

export {
  createKept,
  replayEvent,
  readFilesAt,
  createPowers,
  readFileAt,
  eventOf,
  routingOf,
  createRuleSource
};
