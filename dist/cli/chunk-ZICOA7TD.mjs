import {
  adviseOn
} from "./chunk-4PU7AWH5.mjs";
import {
  budgets
} from "./chunk-Z6LLQXQ6.mjs";
import {
  findFact,
  keyOf,
  namesSecret
} from "./chunk-PGPAQ2TF.mjs";
import {
  lackOf
} from "./chunk-WHXP6K3X.mjs";
import {
  fillPath,
  findOperation
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/actions/memory.ts
function createActionMemory() {
  const entries = /* @__PURE__ */ new Map();
  return {
    async get(key) {
      return entries.get(key);
    },
    async set(key, value) {
      if (value === void 0) entries.delete(key);
      else entries.set(key, value);
    }
  };
}

// src/rules/knowledge.ts
var Learning = class {
  #facts;
  #given;
  #sees;
  #known = /* @__PURE__ */ new Map();
  /** `sees`: all, or what anybody may know who may write in the repository. */
  constructor(facts, given, sees = "all") {
    this.#facts = facts;
    this.#given = given;
    this.#sees = sees;
  }
  /** Asks what is not known yet. */
  async learn(requests) {
    const missing = requests.filter((request) => this.find(request) === void 0);
    const held = missing.filter(({ name }) => findFact(name)?.within);
    const others = missing.filter((request) => !held.includes(request));
    await Promise.all([...others, ...held].map((request) => this.#ask(request)));
  }
  find(request) {
    if (request.argument === void 0 && Object.hasOwn(this.#given, request.name)) {
      return { value: this.#given[request.name] };
    }
    return this.#known.get(keyOf(request));
  }
  async #ask(request) {
    try {
      const value = await this.#facts.ask(request);
      const narrow = this.#sees === "all" ? void 0 : findFact(request.name)?.narrow;
      this.#known.set(keyOf(request), { value: narrow ? narrow(value, this.#facts.subject) : value });
    } catch (error) {
      const reason = error instanceof Error ? error : new ReeveError("internal", messageOf(error));
      this.#known.set(keyOf(request), { error: reason });
    }
  }
};

// src/rules/match.ts
function skipReason(rule, event) {
  const heard = rule.on.filter((listening) => listensTo(listening, event));
  if (heard.length === 0) return "kind";
  if (!heard.some((listening) => passesRefs(listening, event))) return "filter";
  return outOfScope(rule, scopeNameOf(event)) ? "scope" : void 0;
}
function isInScope(rule, subject) {
  const { repository, organization } = subject;
  return !outOfScope(rule, repository ? `${repository.owner}/${repository.name}` : organization);
}
function listeningsFor(rule, event) {
  return rule.on.filter((listening) => listensTo(listening, event) && passesRefs(listening, event));
}
function passesPaths({ paths, pathsIgnore }, files) {
  if (paths) return files.some(paths.matches);
  return pathsIgnore === void 0 || files.some((file) => !pathsIgnore.matches(file));
}
function listensTo({ family, activities }, event) {
  return event.family === family && (activities === void 0 || activities.includes(event.activity));
}
function outOfScope(rule, name) {
  return rule.scopes.some((scope) => !(name === void 0 ? takesEverything(scope) : scope.matches(name)));
}
function takesEverything({ written }) {
  return written.some((pattern) => pattern === "*" || pattern === "**");
}
function scopeNameOf({ repository, subject, payload }) {
  if (repository) return `${repository.owner}/${repository.name}`;
  if (subject?.organization !== void 0) return subject.organization;
  const organization = memberOf(payload, ["organization", "username"]) ?? memberOf(payload, ["organization", "name"]);
  return typeof organization === "string" ? organization : void 0;
}
function passesRefs(listening, event) {
  const { branches, branchesIgnore, tags, tagsIgnore } = listening;
  if (!branches && !branchesIgnore && !tags && !tagsIgnore) return true;
  const ref = refOf(event);
  if (ref === void 0) return false;
  if (ref.kind === "tag") return passesNames(tags, tagsIgnore, branches ?? branchesIgnore, ref.name);
  return passesNames(branches, branchesIgnore, tags ?? tagsIgnore, ref.name);
}
function passesNames(only, ignored, ofOther, name) {
  if (only) return only.matches(name);
  if (ignored) return !ignored.matches(name);
  return ofOther === void 0;
}
function refOf({ family, payload }) {
  const { ref, ref_type: type } = payload;
  if (typeof ref === "string" && (family === "push" || family === "create" || family === "delete")) {
    const isTag = type === "tag" || ref.startsWith("refs/tags/");
    return { kind: isTag ? "tag" : "branch", name: ref.replace(/^refs\/(heads|tags)\//, "") };
  }
  const base = memberOf(payload, ["pull_request", "base", "ref"]);
  return typeof base === "string" ? { kind: "branch", name: base } : void 0;
}
function memberOf(value, path) {
  let inner = value;
  for (const name of path) {
    if (typeof inner !== "object" || inner === null) return void 0;
    inner = Reflect.get(inner, name);
  }
  return inner;
}

// src/rules/evaluate.ts
function skipRule(rule, reason) {
  return { ...headOf(rule), verdict: "skipped", reason, findings: [] };
}
async function evaluateRule(rule, situation) {
  const knowledge = new Learning(
    situation.facts,
    givenBy(situation),
    rule.level === "operator" ? "all" : "repository"
  );
  const filtered = await filterPaths(rule, situation.event, knowledge);
  if (filtered) return filtered;
  const findings = [];
  if (rule.condition) {
    await knowledge.learn(rule.condition.facts);
    const answer = rule.condition.evaluate(knowledge);
    findings.push(...answer.findings);
    if (answer.result === "error") return failed(rule, findings, [], answer.reason ?? "", answer.cause);
    if (answer.result === "not") {
      return { verdict: { ...headOf(rule), verdict: "unmatched", findings }, steps: [] };
    }
  }
  return resolveSteps(rule, knowledge, findings);
}
function givenBy({ event, item, now }) {
  const given = { ...item, now };
  if (event) {
    given.event = event.payload;
    given.sender = event.payload.sender ?? null;
  }
  return given;
}
var filesRequest = { name: "files" };
async function filterPaths(rule, event, knowledge) {
  if (event === void 0) return void 0;
  const listenings = listeningsFor(rule, event);
  if (listenings.some(({ paths, pathsIgnore }) => !paths && !pathsIgnore)) return void 0;
  if (listenings.length === 0) return { verdict: skipRule(rule, "filter"), steps: [] };
  await knowledge.learn([filesRequest]);
  const known = knowledge.find(filesRequest);
  if (known === void 0 || "error" in known) {
    return failed(rule, [], [], `paths: ${known?.error.message ?? "files are not known"}`, known?.error);
  }
  const files = pathsOf(known.value);
  if (listenings.some((listening) => passesPaths(listening, files))) return void 0;
  return { verdict: skipRule(rule, "filter"), steps: [] };
}
function pathsOf(files) {
  if (!Array.isArray(files)) return [];
  return files.flatMap((file) => {
    if (typeof file !== "object" || file === null) return [];
    const paths = [Reflect.get(file, "filename"), Reflect.get(file, "previous_filename")];
    return paths.filter((path) => typeof path === "string" && path !== "");
  });
}
async function resolveSteps(rule, knowledge, findings) {
  await knowledge.learn(rule.steps.flatMap((step) => step.condition?.facts ?? []));
  const answers = rule.steps.map((step) => ({ step, answer: step.condition?.evaluate(knowledge) }));
  const speaking = answers.filter(({ answer }) => answer === void 0 || answer.result === "held");
  await knowledge.learn(speaking.flatMap(({ step }) => step.arguments.facts));
  const steps = [];
  const failures = [];
  for (const { step, answer } of answers) {
    findings.push(...answer?.findings ?? []);
    if (answer?.result === "not") {
      steps.push({ step, state: "unmatched" });
      continue;
    }
    const failure = answer?.result === "error" ? { reason: answer.reason ?? "", ...causeOf(answer) } : void 0;
    const given = failure ? void 0 : step.arguments.resolve(knowledge);
    findings.push(...given?.findings ?? []);
    if (given?.ok) {
      steps.push({ step, state: "ready", arguments: given.value });
      continue;
    }
    const { reason, cause } = failure ?? given ?? { reason: "it could not be known" };
    steps.push({ step, state: "failed", reason });
    failures.push({ reason: `step ${step.name}: ${reason}`, ...causeOf({ cause }) });
  }
  const worst = failures.find(({ cause }) => retryOf(cause)) ?? failures[0];
  if (worst) return failed(rule, findings, steps, failures[0]?.reason ?? worst.reason, worst.cause);
  return { verdict: { ...headOf(rule), verdict: "matched", findings }, steps };
}
function causeOf({ cause }) {
  return cause === void 0 ? {} : { cause };
}
function failed(rule, findings, steps, reason, cause) {
  const retry = retryOf(cause);
  return {
    verdict: { ...headOf(rule), verdict: "failed", reason, findings },
    steps,
    ...retry && { retry }
  };
}
function retryOf(cause) {
  return cause instanceof ReeveError && cause.keepsWork ? cause : void 0;
}
function headOf({
  id,
  source,
  commit,
  line
}) {
  return { rule: id, source, commit, line };
}

// src/engine/bounds.ts
function refuseBeyond(plan, { repository }) {
  const changes = [];
  const refused = [...plan.refused];
  for (const planned of plan.changes) {
    const { input } = planned.change;
    const why = leavesBounds(planned, input, repository) ?? unsendable(planned);
    if (why === void 0) changes.push(planned);
    else refused.push({ planned, why });
  }
  return { changes, refused };
}
async function refuseEscape(planned, input, facts) {
  const { repository } = facts.subject;
  const why = leavesBounds(planned, input, repository);
  if (why !== void 0) throw new ReeveError("forge-forbidden", why);
  if (repository && isHome(repository, input.params ?? {})) await holdIdentity(repository, facts);
}
function leavesBounds(planned, { params = {} }, repository) {
  const goesHome = repository !== void 0 && isHome(repository, params);
  const refusals = planned.wishes.map(({ rule }) => escapeOf(rule, params, goesHome, repository));
  return refusals.every((refusal) => refusal !== void 0) ? refusals[0] : void 0;
}
function unsendable({ change }) {
  const operation = findOperation(change.operation);
  if (operation === void 0) return `there is no operation "${change.operation}"`;
  try {
    fillPath(operation, change.input.params);
    return void 0;
  } catch (error) {
    return messageOf(error);
  }
}
function escapeOf(rule, params, goesHome, repository) {
  const { home, level } = rule;
  if (level === "operator") return void 0;
  if (level === "organization" && home && "organization" in home) {
    const owner = params.owner ?? params.org;
    if (same(owner, home.organization)) return void 0;
    return `a rule of ${home.organization} must not write anywhere else`;
  }
  if (!goesHome || repository === void 0) {
    const where = repository ? `${repository.owner}/${repository.name}` : rule.source;
    return `a rule of ${where} must not write anywhere else`;
  }
  const isOther = home !== void 0 && "repositoryId" in home && home.repositoryId !== repository.id;
  return isOther ? `a rule of ${rule.source} must not write to another repository` : void 0;
}
function isHome(home, params) {
  return same(params.owner, home.owner) && same(params.repo, home.name);
}
function same(given, name) {
  return typeof given === "string" && given.toLowerCase() === name.toLowerCase();
}
async function holdIdentity(home, facts) {
  const { id } = await facts.ask({ name: "repository_id" });
  if (id === home.id) return;
  throw new ReeveError(
    "forge-not-found",
    `${home.owner}/${home.name} is another repository now (id ${id}, the event spoke of ${home.id}); nothing was written`
  );
}

// src/rules/rule.ts
var levels = ["operator", "organization", "repository"];

// src/engine/wish.ts
function rankOf(planned) {
  return Math.min(...planned.wishes.map((wish) => levels.indexOf(wish.rule.level)));
}
function namesOf(...planned) {
  return [...new Set(planned.flatMap(({ wishes }) => wishes.map(({ rule }) => rule.id)))].join(" and ");
}
function levelOf(planned) {
  return levels[rankOf(planned)] ?? "repository";
}
function isEnforced({ wishes }) {
  return wishes.some(isEnforcing);
}
function isEnforcing({ rule }) {
  return rule.mode === "enforce";
}

// src/engine/apply.ts
var freshMs = 250;
async function applyPlan(options) {
  const { facts, client, secrets } = options;
  const outcomes = /* @__PURE__ */ new Map();
  const sent = /* @__PURE__ */ new Map();
  const failedSteps = /* @__PURE__ */ new Set();
  let wrote = false;
  let retry;
  let isMoved = false;
  for (const group of together(options.changes)) {
    const open = [];
    for (const planned of group) {
      if (planned.wishes.every((wish) => failedSteps.has(wish)))
        settle(planned, "skipped", "an earlier change of its step failed");
      else open.push(planned);
    }
    await writeTogether(open);
  }
  return {
    outcomes: options.changes.flatMap(({ id }) => outcomes.get(id) ?? []),
    sent,
    ...retry ? { retry } : {},
    ...isMoved ? { moved: true } : {}
  };
  function settle(planned, status, error) {
    outcomes.set(planned.id, { change: planned.id, status, ...error === void 0 ? {} : { error } });
  }
  function fail(planned, error) {
    const needs = planned.wishes[0]?.action.needs;
    settle(planned, "failed", withoutSecrets(`${planned.change.target}: ${adviseOn(error, needs)}`));
    if (error instanceof ReeveError && error.code === "forge-moved") isMoved = true;
    for (const wish of planned.wishes) failedSteps.add(wish);
    if (error instanceof ReeveError && error.keepsWork) {
      const { code, retryAfterMs, status } = error;
      retry ??= new ReeveError(code, withoutSecrets(error.message), { retryAfterMs, status });
    }
  }
  async function writeTogether(group) {
    const [first] = group;
    if (first === void 0) return;
    try {
      const now = facts.fresh(readsOf(group), wrote ? -1 : freshMs);
      let open = await stillWanted(group, now);
      if (open.length === 0) return;
      let answer = await write(open, now);
      let unshown = open.filter((planned) => unconfirmed(planned, answer) !== void 0);
      const inVain = unshown.length > 0 && await isInVain(unshown, answer);
      if (unshown.length > 0 && !inVain) {
        const again = facts.fresh([...readsOf(group), ...await factsOf(group)]);
        open = await stillWanted(open, again);
        if (open.length > 0) answer = await write(open, again);
        unshown = open.filter((planned) => unconfirmed(planned, answer) !== void 0);
      }
      for (const planned of open) {
        if (inVain && unshown.includes(planned)) settle(planned, "failed", unconfirmed(planned, answer));
        else if (unshown.includes(planned)) fail(planned, new Error(unconfirmed(planned, answer)));
        else if (!await isSo(planned))
          fail(planned, new Error("the forge took the request, yet it is not so"));
        else {
          await keep(planned, answer);
          settle(planned, "applied");
        }
      }
    } catch (error) {
      for (const planned of group) if (!outcomes.has(planned.id)) fail(planned, error);
    }
  }
  async function isInVain(unshown, answer) {
    let inVain = true;
    for (const { change, wishes } of unshown) {
      const [wish] = wishes;
      if (!await wish?.action.learn?.(change, answer, wish.context)) inVain = false;
    }
    return inVain;
  }
  async function isSo(planned) {
    const { verify, reads } = planned.change;
    return !verify || await planAgain(planned, facts.fresh(reads ?? [])) === void 0;
  }
  async function keep({ change, wishes }, answer) {
    const [wish] = wishes;
    await wish?.action.remember?.(change, answer, wish.context);
  }
  function withoutSecrets(text) {
    return secrets?.hide(text) ?? text;
  }
  function reveal(group, input) {
    if (!namesSecret(input.body)) return input;
    if (secrets === void 0 || group.some((planned) => levelOf(planned) !== "operator")) {
      throw new ReeveError("forge-forbidden", "only rules of the operator may name secrets");
    }
    return secrets.reveal(input);
  }
  async function stillWanted(group, now) {
    const open = [];
    for (const planned of group) {
      if (planned.change.reads === void 0) {
        open.push(planned);
        continue;
      }
      const again = await planAgain(planned, now);
      if (again === void 0 || again.already) settle(planned, "skipped", "it is so already");
      else open.push({ ...planned, change: again });
    }
    return open;
  }
  async function planAgain(planned, now) {
    for (const wish of planned.wishes) {
      const changes = await wish.action.plan(wish.arguments, now, wish.context);
      const same2 = changes.find(
        ({ target, value }) => target === planned.change.target && JSON.stringify(value) === JSON.stringify(planned.change.value)
      );
      if (same2 && !same2.already) return same2;
    }
    return void 0;
  }
  async function write(group, now) {
    const input = await inputOf(group, now);
    for (const planned of group) await refuseEscape(planned, input, facts);
    const operation = findOperation(group[0]?.change.operation ?? "");
    if (operation === void 0)
      throw new ReeveError("internal", `no operation "${group[0]?.change.operation}"`);
    wrote = true;
    for (const planned of group) sent.set(planned.id, input);
    const answer = await client.send(operation, reveal(group, input));
    facts.forget(group.flatMap((planned) => planned.change.forgets ?? []));
    return answer;
  }
  function unconfirmed(planned, answer) {
    return planned.wishes[0]?.action.confirm?.(planned.change, answer);
  }
}
async function inputOf(group, facts) {
  const [first] = group;
  if (first === void 0) throw new ReeveError("internal", "a request without a change");
  const join = first.change.joins === void 0 ? void 0 : first.wishes[0]?.action.join;
  return join ? join(
    group.map((planned) => planned.change),
    facts
  ) : first.change.input;
}
function together(changes) {
  const groups = /* @__PURE__ */ new Map();
  for (const planned of changes) {
    const { joins, operation } = planned.change;
    const key = joins === void 0 ? planned.id : `${operation} ${joins}`;
    const group = groups.get(key);
    if (group) group.push(planned);
    else groups.set(key, [planned]);
  }
  return [...groups.values()];
}
function readsOf(group) {
  return group.flatMap((planned) => planned.change.reads ?? []);
}
async function factsOf(group) {
  return group.flatMap((planned) => planned.wishes.flatMap((wish) => wish.action.facts(wish.arguments)));
}

// src/engine/lacking.ts
async function refuseLacking(plan, capabilities) {
  if (capabilities === void 0 || !plan.changes.some(({ change }) => change.requires)) return plan;
  const known = await capabilities();
  const changes = [];
  const refused = [...plan.refused];
  for (const planned of plan.changes) {
    const why = lackOf(known, planned.change.requires ?? []);
    if (why === void 0) changes.push(planned);
    else refused.push({ planned, why });
  }
  return { changes, refused };
}

// src/engine/ledger.ts
var maxFlips = 5;
var hourMs = 36e5;
var flipMs = 6e5;
var maxPlaces = 5e3;
function createLedger(options) {
  const places = /* @__PURE__ */ new Map();
  const nowMs = () => options.now().getTime();
  const load = async (place) => {
    const found = [];
    if (typeof place === "string" || options.readRuns === void 0) return found;
    for (let before, page = 0; page < 20; page += 1) {
      const { items, next } = await options.readRuns(place, before);
      const recent = items.filter((run2) => Date.parse(run2.trigger.at) > nowMs() - hourMs);
      found.push(...recent.flatMap(entriesOf));
      if (next === void 0 || recent.length < items.length) break;
      before = next;
    }
    return found.sort((a, b) => a.atMs - b.atMs);
  };
  return {
    async of(place) {
      let entries = places.get(place);
      if (entries === void 0) {
        entries = load(place);
        places.set(place, entries);
        entries.catch(() => places.delete(place));
        const [oldest] = places.keys();
        if (places.size > maxPlaces && oldest !== void 0) places.delete(oldest);
      }
      return pastOf(await entries, nowMs);
    }
  };
}
function pastOf(entries, nowMs) {
  const since = (ms) => entries.filter(({ atMs }) => atMs > nowMs() - ms);
  return {
    spent() {
      entries.splice(0, entries.length, ...since(hourMs));
      return {
        all: entries.length,
        repository: entries.filter(({ level }) => level === "repository").length
      };
    },
    flips(target, value) {
      const history = since(flipMs).filter((entry) => entry.target === target);
      return { count: countReturns(history), returns: seenBefore(history, JSON.stringify(value) ?? "") };
    },
    note(noted) {
      entries.push(...noted);
      return (notSent) => {
        const gone = new Set(notSent.map((place) => noted[place]));
        entries.splice(0, entries.length, ...entries.filter((entry) => !gone.has(entry)));
      };
    }
  };
}
function countReturns(history) {
  return history.filter(({ value }, place) => seenBefore(history.slice(0, place), value)).length;
}
function seenBefore(history, value) {
  return history[0]?.before === value || history.some((entry) => entry.value === value);
}
function targetKey(params, target) {
  const { owner: _owner, repo: _repo, id: _id, ...rest } = params ?? {};
  return `${JSON.stringify(rest)} ${target}`;
}
function entriesOf(run2) {
  const written = new Set(
    run2.outcomes.filter(({ status }) => status === "applied").map(({ change }) => change)
  );
  return run2.changes.filter(({ id }) => written.has(id)).map((change) => ({
    atMs: Date.parse(run2.trigger.at),
    level: change.level ?? "repository",
    target: targetKey(change.input?.params, change.target),
    value: JSON.stringify(change.value) ?? "",
    before: JSON.stringify(change.before) ?? ""
  }));
}

// src/engine/limits.ts
var removalsAlways = 5;
var removalShare = 0.25;
function withinLimits(changes, limits, refused) {
  const { delivery, hour } = limits.budgets ?? budgets;
  const spent = limits.past?.spent() ?? { all: 0, repository: 0 };
  const removals = excessOf(changes);
  const spentByRule = /* @__PURE__ */ new Map();
  let byRepositoryFiles = 0;
  const allowed = [];
  for (const planned of changes) {
    const why = beyond(planned);
    if (why) {
      refused.push({ planned, why });
      continue;
    }
    allowed.push(planned);
    for (const { rule } of planned.wishes) spentByRule.set(rule.id, (spentByRule.get(rule.id) ?? 0) + 1);
    if (levelOf(planned) === "repository") byRepositoryFiles += 1;
  }
  return allowed;
  function beyond(planned) {
    const ofFiles = levelOf(planned) === "repository";
    if (allowed.length >= delivery.all) return `over the budget of ${delivery.all} changes a delivery`;
    if (ofFiles && byRepositoryFiles >= delivery.repository) {
      return `over the budget of ${delivery.repository} changes a delivery for rules of repositories`;
    }
    if (spent.all + allowed.length >= hour.all) {
      return `over the budget of ${hour.all} changes an hour in one repository`;
    }
    if (ofFiles && spent.repository + byRepositoryFiles >= hour.repository) {
      return `over the budget of ${hour.repository} changes an hour for rules of repositories`;
    }
    return removals.get(planned) ?? flipping(planned, limits.past) ?? overItsOwn(planned);
  }
  function overItsOwn(planned) {
    const isNarrow = planned.wishes.every(({ rule }) => {
      const limit = rule.limits.changes;
      return limit !== void 0 && (spentByRule.get(rule.id) ?? 0) >= limit;
    });
    return isNarrow ? `over the limit of changes that ${namesOf(planned)} sets itself` : void 0;
  }
}
function flipping({ change }, past) {
  const flips = past?.flips(targetKey(change.input.params, change.target), change.value);
  if (flips === void 0 || !flips.returns || flips.count < maxFlips) return void 0;
  return `${change.target} went back and forth ${flips.count} times in ten minutes: somebody else wants it otherwise`;
}
function excessOf(changes) {
  const lists = /* @__PURE__ */ new Map();
  for (const planned of changes) {
    const { removes } = planned.change;
    if (removes === void 0) continue;
    const list = lists.get(removes.from) ?? { there: removes.there, removed: [] };
    list.removed.push(planned);
    lists.set(removes.from, list);
  }
  const excess = /* @__PURE__ */ new Map();
  for (const { there, removed } of lists.values()) {
    const allowed = Math.max(removalsAlways, Math.floor(there * removalShare));
    if (removed.length <= allowed) continue;
    const why = `${removed.length} of ${there} would be deleted, at most ${allowed} may: nothing of this is`;
    for (const planned of removed) excess.set(planned, why);
  }
  return excess;
}

// src/engine/plan.ts
function makePlan(wishes, limits = {}) {
  const done = planOf(wishes.filter(isEnforcing), limits, 0);
  const watched = planOf(
    wishes.filter((wish) => !isEnforcing(wish)),
    limits,
    done.count
  );
  const byPlace = new Map(done.groups.flatMap((group) => group.map((one) => [keyOf2(one.change), group])));
  const watchers = /* @__PURE__ */ new Map();
  const changes = [];
  const refused = [];
  for (const planned of watched.changes) {
    const group = byPlace.get(keyOf2(planned.change));
    const same2 = group?.find((one) => valueKeyOf(one.change) === valueKeyOf(planned.change));
    if (group === void 0) changes.push(planned);
    else if (same2) watchers.set(same2, planned.wishes);
    else refused.push({ planned, why: `it is only observed, and up to ${namesOf(...group)}` });
  }
  const withWatchers = (planned) => {
    const found = watchers.get(planned);
    return found ? { ...planned, watchers: found } : planned;
  };
  return {
    changes: inOrder([...done.changes.map(withWatchers), ...changes]),
    refused: [...done.refused, ...watched.refused, ...refused]
  };
}
function planOf(wishes, limits, from) {
  const refused = [];
  const kept = [];
  const { groups, count } = byTarget(wishes, from);
  for (const group of groups) {
    const { winner, losers, why } = decide(group);
    for (const loser of losers) if (!loser.change.already) refused.push({ planned: loser, why });
    if (winner && !winner.change.already) kept.push(winner);
  }
  return { changes: withinLimits(inOrder(kept), limits, refused), refused, groups, count };
}
function inOrder(changes) {
  return changes.toSorted((a, b) => (a.change.stage ?? 1) - (b.change.stage ?? 1));
}
function byTarget(wishes, from) {
  const targets = /* @__PURE__ */ new Map();
  let count = from;
  for (const wish of wishes) {
    for (const change of wish.changes) {
      const values = targets.get(keyOf2(change)) ?? /* @__PURE__ */ new Map();
      targets.set(keyOf2(change), values);
      const value = valueKeyOf(change);
      const same2 = values.get(value);
      if (same2) {
        values.set(value, { ...same2, wishes: [...same2.wishes, wish] });
        continue;
      }
      count += 1;
      values.set(value, { id: `c${count}`, change, wishes: [wish] });
    }
  }
  return { groups: [...targets.values()].map((values) => [...values.values()]), count };
}
function keyOf2(change) {
  return `${placeOf(change)} ${change.target}`;
}
function valueKeyOf({ value }) {
  return JSON.stringify(value) ?? "undefined";
}
function placeOf({ input }) {
  const { id: _id, ...place } = input.params ?? {};
  return JSON.stringify(place);
}
function refuseUnfounded(plan) {
  const changes = [];
  const refused = [...plan.refused];
  for (const planned of plan.changes) {
    const { needs } = planned.change;
    const isFounded = needs === void 0 || plan.changes.some(
      (other) => other.change.target === needs && [...other.wishes, ...other.watchers ?? []].some((wish) => planned.wishes.includes(wish)) && (isEnforced(other) || !isEnforced(planned))
    );
    if (isFounded) changes.push(planned);
    else refused.push({ planned, why: `it goes only together with ${needs}, which is not made` });
  }
  return { changes, refused };
}
function decide(group) {
  const [first] = group;
  if (group.length <= 1) return { winner: first, losers: [], why: "" };
  const highest = Math.min(...group.map(rankOf));
  const best = group.filter((planned) => rankOf(planned) === highest);
  const [winner] = best;
  if (best.length === 1 && winner) {
    const losers = group.filter((planned) => planned !== winner);
    return { winner, losers, why: `${namesOf(winner)} decides this otherwise, and ranks higher` };
  }
  const names = [...new Set(best.flatMap((planned) => planned.wishes.map((wish) => wish.rule.id)))].join(
    " and "
  );
  return {
    winner: void 0,
    losers: group,
    why: `${names} want different values, and neither ranks higher`
  };
}

// src/engine/reason.ts
var maxWords = 300;
function reasonOf(action, change, written) {
  if (change.already) return change.reason;
  const own = action.words?.(change, written);
  if (own !== void 0) return shorten(own);
  const when = typeof written === "object" && written !== null ? Reflect.get(written, "when") : void 0;
  return typeof when === "string" ? shorten(`${change.reason}, decided by when: ${when}`) : change.reason;
}
function shorten(text) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= maxWords ? line : `${line.slice(0, maxWords - 1)}\u2026`;
}

// src/engine/run.ts
async function runEvent(input) {
  return run(input);
}
async function runItem(input) {
  return run(input);
}
async function run(input) {
  const startedMs = input.nowMs();
  const { considered, skipped } = selectRules(input);
  const memory = input.memory ?? createActionMemory();
  const evaluated = await Promise.all(
    considered.map((rule) => evaluate(rule, input, contextFor(rule, input, memory)))
  );
  const verdicts = inOrder2(input, [...skipped, ...evaluated.map(({ verdict }) => verdict)]);
  const unknown = evaluated.find(({ retry: retry2 }) => retry2)?.retry;
  const wishes = unknown ? [] : evaluated.flatMap((one) => one.wishes);
  const past = hasWork(wishes) ? await input.ledger?.of(placeOf2(input.facts.subject)) : void 0;
  const { budgets: budgets2 } = input;
  const wanted = makePlan(wishes, { ...budgets2 ? { budgets: budgets2 } : {}, ...past ? { past } : {} });
  const made = refuseBeyond(wanted, input.facts.subject);
  const noted = made.changes.filter((planned) => maySend(planned, input));
  const takeBack = past?.note(noted.map((planned) => entryOf(planned, input.now)));
  const plan = refuseUnfounded(await refuseLacking(made, input.capabilities));
  const writes = plan.changes.filter((planned) => maySend(planned, input));
  const shown = await recordChanges(plan.changes, input.facts);
  const applied = input.client ? await applyPlan({
    changes: writes,
    facts: input.facts,
    client: input.client,
    ...input.secrets ? { secrets: input.secrets } : {}
  }) : { outcomes: [], sent: /* @__PURE__ */ new Map() };
  const isApplied = ({ id }) => applied.outcomes.some(({ change, status }) => change === id && status === "applied");
  takeBack?.(noted.flatMap((planned, place) => isApplied(planned) ? [] : [place]));
  const record = {
    schema: 1,
    id: input.id,
    mode: input.mode,
    trigger: input.trigger,
    rules: verdicts,
    changes: shown.map((change) => asSent(change, applied.sent.get(change.id))),
    refused: plan.refused.map(({ planned, why }) => ({
      change: recordChange(planned, planned.change.input),
      why
    })),
    outcomes: plan.changes.map(({ id }) => {
      const outcome = applied.outcomes.find(({ change }) => change === id);
      return outcome ?? { change: id, status: "planned" };
    }),
    requests: input.client?.requests ?? 0,
    ms: Math.round(input.nowMs() - startedMs)
  };
  const retry = unknown ?? applied.retry;
  const moved = "moved" in applied && applied.moved;
  return { run: record, ...retry ? { retry } : {}, ...moved ? { moved } : {} };
}
function hasWork(wishes) {
  return wishes.some(({ changes }) => changes.some(({ already }) => !already));
}
function placeOf2({ kind, repository, organization }) {
  return repository?.id ?? `${kind} ${organization ?? ""}`;
}
function entryOf(planned, now) {
  const { input, target, value, before } = planned.change;
  return {
    atMs: now.getTime(),
    level: levelOf(planned),
    target: targetKey(input.params, target),
    value: JSON.stringify(value) ?? "",
    before: JSON.stringify(before) ?? ""
  };
}
function contextFor(rule, input, memory) {
  return {
    rule: rule.name,
    level: rule.level,
    ...input.account ? { account: input.account } : {},
    memory,
    ...input.secrets ? { secrets: input.secrets } : {},
    now: input.now,
    dryRun: input.mode !== "enforce" || input.client === void 0 || rule.mode !== "enforce"
  };
}
function maySend(planned, input) {
  return input.mode === "enforce" && input.client !== void 0 && isEnforced(planned);
}
function selectRules(input) {
  const { event, rules } = input;
  if (event === void 0) return selectForItem(input);
  const listening = event.family === void 0 ? [] : rules.listeningTo(event.family);
  const own = input.account !== void 0 && event.sender?.id === input.account.id;
  const considered = [];
  const skipped = [];
  for (const rule of input.explainAll ? rules.rules : listening) {
    const reason = own ? "own" : skipReason(rule, event);
    if (reason === void 0) considered.push(rule);
    else skipped.push(skippedVerdict(rule, reason));
  }
  return { considered, skipped };
}
function selectForItem({ rules, facts }) {
  const considered = rules.rules.filter((rule) => isInScope(rule, facts.subject));
  const left = rules.rules.filter((rule) => !considered.includes(rule));
  return { considered, skipped: left.map((rule) => skippedVerdict(rule, "scope")) };
}
function skippedVerdict(rule, reason) {
  const { id, source, commit, line } = rule;
  return { rule: id, source, commit, line, verdict: "skipped", reason, findings: [] };
}
function inOrder2({ rules }, verdicts) {
  return verdicts.toSorted((a, b) => rules.placeOf(a.rule) - rules.placeOf(b.rule));
}
async function evaluate(rule, input, context) {
  const { event, item, facts, now } = input;
  const situation = { ...event ? { event } : {}, ...item ? { item } : {}, facts, now };
  const evaluation = await evaluateRule(rule, situation);
  const wishes = [];
  for (const resolved of evaluation.steps) {
    if (resolved.state === "unmatched") continue;
    if (resolved.state === "failed") return failed2(evaluation, wishes, resolved, resolved.reason);
    const { action, name } = resolved.step;
    try {
      await Promise.allSettled(action.facts(resolved.arguments).map((request) => facts.ask(request)));
      const planned = await action.plan(resolved.arguments, facts, context);
      const { written } = resolved.step.arguments;
      const changes = planned.map((change) => ({ ...change, reason: reasonOf(action, change, written) }));
      wishes.push({ rule, step: name, action, arguments: resolved.arguments, context, changes });
    } catch (error) {
      return failed2(evaluation, wishes, resolved, messageOf(error), error);
    }
  }
  return { ...evaluation, wishes };
}
function failed2({ verdict, retry: known }, wishes, { step }, reason, error) {
  const retry = error instanceof ReeveError && error.keepsWork ? error : known;
  const told = { ...verdict, verdict: "failed", reason: `step ${step.name}: ${reason}` };
  return { verdict: told, wishes, ...retry ? { retry } : {} };
}
async function recordChanges(changes, facts) {
  const recorded = /* @__PURE__ */ new Map();
  const [sent, observed] = [true, false].map((is) => changes.filter((one) => isEnforced(one) === is));
  for (const group of [...together(sent ?? []), ...together(observed ?? [])]) {
    const input = await inputOf(group, facts);
    for (const planned of group) recorded.set(planned.id, recordChange(planned, input));
  }
  return changes.flatMap(({ id }) => recorded.get(id) ?? []);
}
function asSent(change, input) {
  const operation = findOperation(change.operation);
  return input && operation ? { ...change, input, path: pathOf(operation, input) } : change;
}
function pathOf(operation, { params }) {
  try {
    return fillPath(operation, params);
  } catch {
    return operation.path;
  }
}
function recordChange(planned, input) {
  const { id, change, wishes, watchers = [] } = planned;
  const operation = findOperation(change.operation);
  return {
    id,
    rules: [...new Set([...wishes, ...watchers].map((wish) => wish.rule.id))],
    level: levelOf(planned),
    step: wishes[0]?.step ?? "",
    action: change.action,
    operation: change.operation,
    method: operation?.method ?? "",
    path: operation ? pathOf(operation, change.input) : "",
    input,
    target: change.target,
    value: change.value,
    before: change.before,
    after: change.after,
    reason: change.reason
  };
}

// src/rules/rule-set.ts
function createRuleSet(rules) {
  const order = { operator: 0, organization: 1, repository: 2 };
  const sorted = rules.toSorted((a, b) => order[a.level] - order[b.level]);
  const byFamily = /* @__PURE__ */ new Map();
  for (const rule of sorted) {
    for (const family of new Set(rule.on.map((listening) => listening.family))) {
      const listeners = byFamily.get(family);
      if (listeners) listeners.push(rule);
      else byFamily.set(family, [rule]);
    }
  }
  const places = new Map(sorted.map((rule, place) => [rule.id, place]));
  return {
    rules: sorted,
    scheduled: sorted.filter((rule) => rule.schedules.length > 0),
    listeningTo: (family) => byFamily.get(family) ?? [],
    find: (id) => sorted[places.get(id) ?? sorted.length],
    placeOf: (id) => places.get(id) ?? sorted.length
  };
}

export {
  createLedger,
  isInScope,
  skipRule,
  runEvent,
  runItem,
  createRuleSet
};
