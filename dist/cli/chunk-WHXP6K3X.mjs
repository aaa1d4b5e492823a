import {
  silentLog
} from "./chunk-OVHSHDHZ.mjs";
import {
  fillPath,
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/client/capabilities.ts
var table = {
  branches_before_tags: {
    since: [1, 24],
    forgejo: false,
    what: "reading a file from a branch where a tag has its name"
  },
  organization_public_again: {
    since: [1, 25],
    forgejo: false,
    what: "making an organization public that is not (people can, on its settings page)"
  },
  contents_ext: { since: [1, 25], forgejo: false, what: "the extended contents operation" },
  code_unit: { since: [1, 25], forgejo: false, what: "switching the code of a repository off" },
  hook_names: { since: [1, 26], forgejo: false, what: "names of hooks" },
  content_version: { since: [1, 26], forgejo: false, what: "versions of the text of issues" },
  hook_package_edit: {
    since: [1, 24],
    forgejo: false,
    what: "changing whether a hook that is there hears packages or action runs (remove it, and it is made anew)"
  },
  hook_header_removal: {
    since: [1, 19],
    forgejo: false,
    what: "taking the Authorization header of a hook away (remove it, and it is made anew)"
  },
  runner_disabled: { since: [1, 26], forgejo: false, what: "switching runners off" },
  branch_update: { since: [1, 26], forgejo: false, what: "moving a branch by the API" },
  branch_name_filter: { since: [1, 27], forgejo: false, what: "filtering branches by name" },
  bypass_allowlist: { since: [1, 27], forgejo: false, what: "the bypass list of branch protections" },
  issue_projects: { since: [1, 27], forgejo: false, what: "projects of issues" },
  team_visibility: { since: [1, 27], forgejo: false, what: "visibility of teams" },
  token_self: { since: [1, 27], forgejo: false, what: "asking for the token that is used" },
  pull_sync_commits: {
    since: [1, 27],
    forgejo: false,
    what: "the commits before and after a push to a pull request"
  },
  branch_protection_priority: { since: [1, 23], forgejo: false, what: "the priority of branch protections" },
  force_push_protection: { since: [1, 23], forgejo: false, what: "force-push lists of branch protections" },
  block_admin_merge_override: {
    since: [1, 23],
    forgejo: false,
    what: "holding administrators to a protection"
  },
  status_events: { since: [1, 23], forgejo: false, what: "the hook event status" },
  workflow_job_events: { since: [1, 24], forgejo: false, what: "the hook event workflow_job" },
  workflow_run_events: { since: [1, 25], forgejo: false, what: "the hook event workflow_run" },
  pull_reviewers_on_create: {
    since: [1, 23],
    forgejo: false,
    what: "naming reviewers when a pull request is made"
  },
  branch_filter_all_refs: {
    since: [1, 25],
    forgejo: false,
    what: "branch filters on tags, create and delete"
  },
  authorization_hidden: { since: [1, 27], forgejo: false, what: "hiding the authorization header of hooks" },
  apply_to_admins: { forgejo: true, what: "the member apply_to_admins of branch protections" },
  label_delete_by_name: { forgejo: true, what: "removing a label by its name" },
  action_run_events: { forgejo: true, what: "hook events action_run_failure, _recover and _success" }
};
var capabilityNames = Object.keys(table);
function capabilitiesOf(version) {
  const isForgejo = version.includes("+gitea-");
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  const release = major === void 0 ? void 0 : [Number(major), Number(minor)];
  const has = Object.entries(table).map(([name, row]) => {
    if (isForgejo) return [name, row.forgejo];
    if (row.since === void 0) return [name, false];
    return [name, release === void 0 || !isBefore(release, row.since)];
  });
  return {
    version,
    isCertain: isForgejo || release?.[0] === 1,
    has: Object.fromEntries(has)
  };
}
function isBefore(release, since) {
  return release[0] < since[0] || release[0] === since[0] && release[1] < since[1];
}
async function findCapabilities(client) {
  const version = await unlessRefused(client.call(operations.getVersion, {}));
  const told = capabilitiesOf(version?.version ?? "");
  if (told.isCertain) return told;
  const settings = await unlessRefused(client.call(operations.getApiSettings, {}));
  if (version === void 0 && settings === void 0) {
    throw new ReeveError("settings", "FORGE_URL is no forge: it has no /api/v1/version");
  }
  const isForgejo = settings !== void 0 && typeof settings.default_max_response_size !== "number";
  const found = isForgejo ? capabilitiesOf("0.0.0+gitea-0") : told;
  return { ...found, version: told.version || "of a hidden version", isCertain: false };
}
async function unlessRefused(asked) {
  try {
    return await asked;
  } catch (error) {
    const isRefused = error instanceof ReeveError && (error.code === "forge-not-found" || error.code === "forge-forbidden");
    if (isRefused) return void 0;
    throw error;
  }
}
function lackOf(capabilities, needed) {
  const missing = needed.filter((name) => !capabilities.has[name]);
  if (missing.length === 0) return void 0;
  return `this forge (${capabilities.version}) does not know ${missing.map((name) => table[name].what).join(" and ")}`;
}

// src/client/credentials.ts
function authorizationOf(credentials) {
  if ("token" in credentials) {
    if (!/^[\x21-\x7e]+$/.test(credentials.token)) {
      throw new ReeveError(
        "settings",
        "the forge token holds spaces or characters that a header cannot carry"
      );
    }
    return `${credentials.scheme ?? "token"} ${credentials.token}`;
  }
  if (credentials.user.includes(":") || credentials.user === "") {
    throw new ReeveError("settings", "the forge user is empty or holds a colon");
  }
  return `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`;
}
function secretsOf(credentials) {
  return "token" in credentials ? [credentials.token] : [credentials.password, `${credentials.user}:${credentials.password}`];
}

// src/client/client.ts
import { setTimeout as wait } from "node:timers/promises";
import ky from "ky";

// src/remembering.ts
function remembering(ask, { maxAgeMs = Number.POSITIVE_INFINITY, nowMs = () => 0 } = {}) {
  let known;
  const remembered = () => {
    if (known !== void 0 && nowMs() - known.atMs <= maxAgeMs) return known.answer;
    const asked = { answer: ask(), atMs: nowMs() };
    known = asked;
    asked.answer.catch(() => {
      if (known === asked) known = void 0;
    });
    return asked.answer;
  };
  return Object.assign(remembered, {
    forget() {
      known = void 0;
    }
  });
}

// src/client/answer.ts
var maxAnswerBytes = 64 * 1024 * 1024;
async function readText(response, where, maxBytes = maxAnswerBytes) {
  if (response.body === null) return "";
  const chunks = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ReeveError("forge-junk", `${where}: the answer is over ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
function parseAnswer(text, where) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ReeveError("forge-junk", `${where}: the answer is not JSON: ${beginningOf(text)}`, { cause });
  }
}
function forgeMessage(text) {
  const found = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text.slice(0, 8192));
  if (found?.[1] !== void 0) {
    try {
      return String(JSON.parse(found[1]));
    } catch {
    }
  }
  return text.trimStart().startsWith("<") ? "a web page" : beginningOf(text);
}
function beginningOf(text) {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim().slice(0, 200);
}

// src/client/compare.ts
function normalizeCompare(operation, answer) {
  if (operation.id !== operations.compare.id || !isRecord(answer)) return answer;
  if (Array.isArray(answer.files) || !Array.isArray(answer.commits)) return answer;
  const files = /* @__PURE__ */ new Map();
  for (const commit of answer.commits) {
    for (const file of filesOf(commit)) if (!files.has(file.filename)) files.set(file.filename, file);
  }
  return { ...answer, files: [...files.values()] };
}
function filesOf(commit) {
  if (!isRecord(commit) || !Array.isArray(commit.files)) return [];
  return commit.files.filter((file) => isRecord(file) && typeof file.filename === "string");
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/client/contents.ts
function normalizeContents(operation, answer) {
  if (operation.method !== "GET" || !operation.path.includes("/contents")) return answer;
  return Array.isArray(answer) ? answer.map(normalizeEntry) : normalizeEntry(answer);
}
function normalizeEntry(entry) {
  if (typeof entry !== "object" || entry === null || !("last_commit_when" in entry)) return entry;
  const { last_commit_when: at, ...rest } = entry;
  return { last_committer_date: at, ...rest };
}

// src/client/failure.ts
var codeOfStatus = {
  401: "forge-unauthorized",
  403: "forge-forbidden",
  404: "forge-not-found",
  405: "forge-conflict",
  408: "forge-timeout",
  409: "forge-conflict",
  412: "forge-conflict",
  423: "forge-locked",
  425: "forge-unavailable",
  429: "forge-throttled"
};
var advice = {
  "forge-unauthorized": "the forge does not know this credential: give a valid FORGE_TOKEN",
  "forge-forbidden": "the account or its token lacks a right for this: see the action\u2019s needs in its reference page",
  "forge-locked": "the repository is archived"
};
function failureOf(where, status, text, retryAfter) {
  const code = codeOfStatus[status] ?? (status >= 500 ? "forge-unavailable" : "forge-refused");
  const words = [`${where}: the forge answered ${status}`, forgeMessage(text), advice[code]].filter(Boolean);
  return new ReeveError(code, words.join("; "), {
    status,
    retryAfterMs: retryAfterMs(retryAfter, Date.now())
  });
}
function unreachable(where, thrown) {
  if (thrown instanceof ReeveError) return thrown;
  const { name, reason } = reasonOf(thrown);
  const cause = new Error(reason);
  cause.name = name;
  if (name === "TimeoutError" || name === "AbortError") {
    return new ReeveError("forge-timeout", `${where}: the forge did not answer in time`, { cause });
  }
  return new ReeveError("forge-unreachable", `${where}: the forge cannot be reached (${reason})`, { cause });
}
function reasonOf(thrown) {
  const name = thrown instanceof Error ? thrown.name : "Error";
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if ("code" in error && typeof error.code === "string") return { name, reason: error.code };
  }
  return { name, reason: messageOf(thrown) };
}
function retryAfterMs(value, nowMs) {
  if (value === null || value === "") return void 0;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1e3;
  const at = Date.parse(value);
  return Number.isNaN(at) ? void 0 : Math.max(0, at - nowMs);
}

// src/client/limiter.ts
function createLimiter(options) {
  let limit = Math.min(4, options.max);
  let running = 0;
  let quickInARow = 0;
  let best = Number.POSITIVE_INFINITY;
  const waiting = [];
  const startNext = () => {
    while (running < Math.floor(limit) && waiting.length > 0) {
      running += 1;
      waiting.shift()?.();
    }
  };
  return {
    get limit() {
      return Math.floor(limit);
    },
    async run(work) {
      await new Promise((resolve) => {
        waiting.push(resolve);
        startNext();
      });
      try {
        return await work();
      } finally {
        running -= 1;
        startNext();
      }
    },
    observe(ms, overloaded) {
      best = Math.min(best * 1.01, ms);
      const slow = ms > 2e3 && ms > best * 8;
      if (overloaded || slow) {
        limit = Math.max(1, limit / 2);
        quickInARow = 0;
        return;
      }
      quickInARow += 1;
      if (quickInARow >= limit) {
        limit = Math.min(options.max, limit + 1);
        quickInARow = 0;
      }
    }
  };
}

// src/client/paging.ts
var maxPages = 2e3;
var itemsPerPage = 50;
async function* eachItem(...given) {
  for await (const { items } of eachPage(...given)) yield* items;
}
async function* eachPage(operation, input, ask, from = 1) {
  if (operation.paging === void 0) {
    yield { page: 1, items: itemsOf((await ask(input)).value), total: void 0 };
    return;
  }
  const limit = Number(input.query?.limit ?? itemsPerPage);
  let seen = (from - 1) * limit;
  let previous = "";
  for (let page = from; ; page += 1) {
    if (page > maxPages) throw stuck(operation, `more than ${maxPages} pages`);
    const { answer, value } = await ask({ ...input, query: { ...input.query, limit, page } });
    const items = itemsOf(value);
    if (items.length > 0 && answer.text === previous)
      throw stuck(operation, `page ${page} repeats the one before`);
    previous = answer.text;
    seen += items.length;
    yield { page, items, total: totalOf(answer, value) };
    if (!goesOn(answer, value, items.length, seen)) return;
  }
}
function goesOn(answer, value, count, seen) {
  const link = answer.headers.get("link");
  if (link !== null) return /rel="?next"?/.test(link);
  const total = totalOf(answer, value);
  if (total !== void 0 && seen >= total) return false;
  return count > 0;
}
function totalOf(answer, value) {
  const total = Number(answer.headers.get("x-total-count") ?? totalIn(value) ?? Number.NaN);
  return Number.isNaN(total) ? void 0 : total;
}
function totalIn(value) {
  return typeof value === "object" && value !== null && "total_count" in value ? value.total_count : void 0;
}
function itemsOf(value) {
  if (Array.isArray(value)) return value;
  const inner = typeof value === "object" && value !== null ? Object.values(value).find(Array.isArray) : void 0;
  return inner ?? [];
}
function stuck(operation, why) {
  return new ReeveError(
    "forge-paging",
    `${operation.method} ${operation.path}: the list does not end: ${why}`
  );
}

// src/client/runners.ts
function normalizeRunners(operation, answer) {
  if (!/\/actions\/runners(\/\{\w+\})?$/.test(operation.path)) return answer;
  if (Array.isArray(answer)) return { runners: answer.map(normalizeRunner) };
  return isRecord2(answer) && "status" in answer ? normalizeRunner(answer) : answer;
}
function normalizeRunner(runner) {
  if (!isRecord2(runner)) return runner;
  const { status, labels } = runner;
  return {
    ...runner,
    ...(status === "idle" || status === "active") && { status: "online", busy: status === "active" },
    ...Array.isArray(labels) && {
      labels: labels.map((label) => typeof label === "string" ? { name: label } : label)
    }
  };
}
function isRecord2(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/client/client.ts
function apiRoot(url) {
  let parsed;
  try {
    parsed = new URL(url);
  } catch (cause) {
    throw new ReeveError("settings", `FORGE_URL is not an address: ${url}`, { cause });
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new ReeveError(
      "settings",
      `FORGE_URL must begin with http:// or https://, not ${parsed.protocol}//`
    );
  }
  if (parsed.username || parsed.password || parsed.search) {
    throw new ReeveError("settings", "FORGE_URL must not hold credentials or a query; use FORGE_TOKEN");
  }
  const path = parsed.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
  return new URL(`${path}/api/v1`, parsed.origin);
}
function createClient(options) {
  const root = apiRoot(options.url);
  const headers = { accept: "application/json", "user-agent": "reeve" };
  if (options.credentials) headers.authorization = authorizationOf(options.credentials);
  const secrets = options.credentials ? secretsOf(options.credentials) : [];
  const hide = (text) => {
    let left = text;
    for (const secret of secrets) left = left.replaceAll(secret, "[hidden]");
    return left;
  };
  const limiter = options.limiter ?? createLimiter({ max: options.concurrency ?? 8 });
  const log = options.log ?? silentLog;
  const sleep = options.sleep ?? wait;
  const timeoutMs = options.timeoutMs ?? 1e4;
  const tries = options.tries ?? 3;
  const ask = () => findCapabilities(create()).catch((error) => {
    if (error instanceof ReeveError && error.code === "settings") return capabilitiesOf("");
    throw error;
  });
  const capabilities = remembering(ask, {
    maxAgeMs: 10 * 6e4,
    nowMs: () => performance.now()
  });
  const create = () => {
    let requests = 0;
    const request = async (operation, url, body) => {
      requests += 1;
      const where = `${operation.method} ${url.pathname}`;
      const started = performance.now();
      let overloaded = true;
      const patience = new AbortController();
      const timer = setTimeout(
        () => patience.abort(new DOMException("timed out", "TimeoutError")),
        timeoutMs
      );
      let status;
      try {
        const response = await ky(url, {
          method: operation.method.toLowerCase(),
          headers: body === void 0 ? headers : { ...headers, "content-type": "application/json" },
          ...body === void 0 ? {} : { body },
          // Redirects are followed by hand: fetch would carry a write, or custom headers, to another place.
          redirect: "manual",
          throwHttpErrors: false,
          retry: 0,
          timeout: false,
          credentials: "omit",
          signal: patience.signal
        });
        const text = await readText(response, where);
        status = response.status;
        overloaded = response.status === 429 || response.status === 503;
        return { status: response.status, headers: response.headers, text };
      } catch (cause) {
        capabilities.forget();
        throw unreachable(where, cause);
      } finally {
        clearTimeout(timer);
        const ms = performance.now() - started;
        limiter.observe(ms, overloaded);
        log.debug({ operation: operation.id, ms: Math.round(ms) }, "asked the forge");
        options.onRequest?.({ method: operation.method, status, ms });
      }
    };
    const exchange = async (operation, input) => {
      let url = addressOf(root, operation, input);
      const where = `${operation.method} ${url.pathname}`;
      const body = bodyOf(operation, input);
      const mayRepeat = operation.method === "GET";
      for (let attempt = 1, hops = 0; ; ) {
        let failure;
        try {
          const answer = await limiter.run(() => request(operation, url, body));
          if (answer.status >= 200 && answer.status < 300) return answer;
          if (answer.status >= 300 && answer.status < 400) {
            url = targetOf(answer, url, root, where, mayRepeat && hops < 5);
            hops += 1;
            continue;
          }
          failure = failureOf(where, answer.status, hide(answer.text), answer.headers.get("retry-after"));
        } catch (cause) {
          failure = unreachable(where, cause);
        }
        if (!mayRepeat || !failure.retryable || attempt >= tries) throw failure;
        const pauseMs = failure.retryAfterMs ?? 100 * 4 ** (attempt - 1);
        if (pauseMs > 5e3) throw failure;
        await sleep(pauseMs);
        attempt += 1;
      }
    };
    const read = (operation, answer) => {
      if (operation.response === void 0 || answer.status === 205) return void 0;
      const where = `${operation.method} ${operation.path}`;
      const said = operation.media === "text" ? answer.text : parseAnswer(answer.text, where);
      const parsed = operation.response.safeParse(
        normalizeCompare(operation, normalizeContents(operation, normalizeRunners(operation, said)))
      );
      if (parsed.success) return parsed.data;
      const issue = parsed.error.issues[0];
      throw new ReeveError(
        "forge-junk",
        `${where}: unexpected answer at ${issue?.path.join(".")}: ${issue?.message}`
      );
    };
    const send = async (operation, input) => read(operation, await exchange(operation, input));
    const askPage = (operation) => async (page) => {
      const answer = await exchange(operation, page);
      return { answer, value: read(operation, answer) };
    };
    return {
      get requests() {
        return requests;
      },
      // The row decides the answer's type; `read` has just held the answer against that row's shape.
      call: (operation, input) => send(operation, input),
      send,
      items: (operation, input) => eachItem(operation, input, askPage(operation)),
      pages: (operation, input, from) => eachPage(operation, input, askPage(operation), from),
      counted: create,
      capabilities
    };
  };
  return create();
}
function addressOf(root, operation, input) {
  const url = new URL(root.pathname + fillPath(operation, input.params), root);
  for (const [name, value] of Object.entries(input.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== void 0) url.searchParams.append(name, String(one));
    }
  }
  return url;
}
function bodyOf(operation, input) {
  if (operation.body === void 0) return void 0;
  const checked = operation.body.safeParse(input.body ?? {});
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new ReeveError(
      "internal",
      `${operation.id}: we would have sent ${issue?.path.join(".")}: ${issue?.message}`
    );
  }
  return JSON.stringify(checked.data);
}
function targetOf(answer, from, root, where, mayFollow) {
  const location = answer.headers.get("location");
  const target = location === null ? void 0 : new URL(location, from);
  if (target === void 0 || !mayFollow || target.origin !== root.origin || !target.pathname.startsWith(root.pathname)) {
    const to = target === void 0 ? "nowhere" : target.origin === root.origin ? target.pathname : target.origin;
    throw new ReeveError("forge-moved", `${where}: moved to ${to}; nothing was sent there`, {
      status: answer.status
    });
  }
  return target;
}

export {
  remembering,
  readText,
  findCapabilities,
  lackOf,
  secretsOf,
  failureOf,
  unreachable,
  createLimiter,
  apiRoot,
  createClient
};
