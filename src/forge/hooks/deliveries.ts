import { createHmac, randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { messageOf } from '../../platform/errors.ts';
import { createCheckedLookup, HostRefused } from '../../platform/http/message-sender.ts';
import {
  createReachableHosts,
  hostOfUrl,
  isPublicAddress,
  type ReachableHosts,
} from '../../platform/http/reachable-hosts.ts';
import type { Log } from '../../platform/log.ts';
import type { Deliveries, ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import type { HookTaskRow } from '../platform/rows.ts';
import type { HookRow } from './hooks-rows.ts';

export type DeliveryOptions = {
  readonly database: Database;
  readonly log: Log;
  /** Returns the current time in seconds since the epoch. */
  readonly now: () => number;
  /** Timeout of the whole exchange; default 5 s, as in Gitea. */
  readonly timeoutMs?: number;
  /**
   * Hosts with private addresses that the hooks of every account may reach: names, addresses, networks, or `loopback`.
   * Default: none.
   */
  readonly hosts?: readonly string[];
};

/** Interval between removals of old deliveries. */
const cleaningMs = 3600_000;

/** Maximum number of concurrent deliveries per hook, so that an unreachable receiver delays only its own deliveries. */
const perHook = 4;
const inAll = 64;

/**
 * Creates the sender and resumes the queue of a previous process. A delivery that was being sent when the process died
 * is lost, as in Gitea, and recorded as failed. A private address is a valid target only if `hosts` contains it or a
 * site administrator set it: accounts must not use the forge to reach hosts that only the forge can reach.
 */
export function createDeliveries(options: DeliveryOptions): Deliveries {
  const { database, log, now, timeoutMs = 5_000 } = options;
  const hosts = createHookHosts(options.hosts ?? []);
  const history = createDeliveryHistory(database, now);
  const underWay = new Map<number, { hookId: number; abort: AbortController; done: Promise<void> }>();
  let waiting: (() => void)[] = [];
  let isClosed = false;
  let isWoken = false;

  function settleWaiting(): void {
    if (isWoken || underWay.size > 0) return;
    const due = waiting;
    waiting = [];
    for (const resolve of due) resolve();
  }

  function fullHooks(): readonly number[] {
    const counts = new Map<number, number>();
    for (const { hookId } of underWay.values()) counts.set(hookId, (counts.get(hookId) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= perHook).map(([hookId]) => hookId);
  }

  function pump(): void {
    isWoken = false;
    while (!isClosed && underWay.size < inAll) {
      const task = history.takeNext(fullHooks());
      if (task === undefined) break;
      const abort = new AbortController();
      const done = send({ database, history, log, timeoutMs, hosts }, task, abort.signal).finally(() => {
        underWay.delete(task.id);
        wake();
      });
      underWay.set(task.id, { hookId: task.hook_id, abort, done });
    }
    settleWaiting();
  }

  function wake(): void {
    if (isWoken || isClosed) return;
    isWoken = true;
    // Defers the delivery, so that the response to the call that caused it is sent first.
    setImmediate(pump);
  }

  const cleaning = setInterval(history.removeOld, cleaningMs);
  cleaning.unref();
  history.removeOld();
  wake();
  return {
    wake,
    idle: () => {
      const promise = new Promise<void>((resolve) => waiting.push(resolve));
      wake();
      if (isClosed) settleWaiting();
      return promise;
    },
    list: history.list,
    redeliver(uuid) {
      const again = history.repeat(uuid);
      if (again !== undefined) database.afterCommit(wake);
      return again;
    },
    async close() {
      isClosed = true;
      clearInterval(cleaning);
      const ending = [...underWay.values()];
      for (const { abort } of ending) abort.abort();
      await Promise.all(ending.map(({ done }) => done));
      isWoken = false;
      settleWaiting();
    },
  };
}

type Sending = Required<Pick<DeliveryOptions, 'database' | 'log' | 'timeoutMs'>> & {
  readonly history: DeliveryHistory;
  readonly hosts: ReachableHosts;
};

/**
 * Returns the reachable hosts for a list in the syntax of `createReachableHosts`, in which `loopback` means this
 * machine.
 */
export function createHookHosts(listed: readonly string[]): ReachableHosts {
  return createReachableHosts(listed.flatMap((one) => (one === 'loopback' ? ['127.0.0.0/8', '::1'] : [one])));
}

/**
 * Returns whether a site administrator set the URL of a hook. Only administrators can write the hooks of the instance.
 */
function isSetByAdministrator(database: Database, { repo_id, owner_id, url_by }: HookRow): boolean {
  if (repo_id === null && owner_id === null) return true;
  const sql = 'SELECT is_admin FROM users WHERE id = ? AND is_admin = 1';
  return url_by !== null && database.get(sql, url_by) !== undefined;
}

/** Sends one delivery and records its response; queues it again if `stop` interrupts it. */
async function send(sending: Sending, task: HookTaskRow, stop: AbortSignal): Promise<void> {
  const { database, history, log, timeoutMs, hosts } = sending;
  const hook = database.get<HookRow>('SELECT * FROM hooks WHERE id = ?', task.hook_id);
  if (hook === undefined) return;
  if (hook.is_active === 0) {
    history.recordAnswer(task.id, 'failed', { body: 'the hook is not active' });
    return;
  }
  const body = deliveryBody(hook, task.payload);
  const headers = headersOf(task, hook, targetTypeOf(database, hook));
  history.recordRequest(task.id, headers, body);
  const authorization = hook.authorization_header;
  const isTrusted = isSetByAdministrator(database, hook);
  let isPrivate = false;
  const permits = (address: string, host: string): boolean => {
    isPrivate ||= !isPublicAddress(address);
    return isTrusted || hosts.isListed(host) || hosts.permits(address);
  };
  try {
    const answer = await sendWebhook({
      url: hook.url,
      headers: authorization === '' ? headers : { ...headers, Authorization: authorization },
      body,
      signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
      permits,
    });
    const isAccepted = answer.status >= 200 && answer.status <= 299;
    history.recordAnswer(task.id, isAccepted ? 'delivered' : 'failed', { ...answer, isPrivate });
  } catch (error) {
    if (stop.aborted) {
      history.queueAgain(task.id);
      return;
    }
    const isRefused = error instanceof HostRefused;
    const reason = isRefused
      ? `${error.message}; a site administrator may set it, or list it with --hook-hosts`
      : messageOf(error);
    // An error from a private address reveals as much as a response, so it is recorded as private.
    const answer = { body: `Delivery: ${reason}`, isPrivate: isPrivate && !isRefused };
    history.recordAnswer(task.id, 'failed', answer);
    log.info({ delivery: task.uuid, hook: hook.id, reason }, 'a delivery failed');
  }
}

function deliveryBody(hook: HookRow, payload: string): string {
  return hook.content_type === 'form' ? new URLSearchParams({ payload }).toString() : payload;
}

/** Returns the level of the hook, as named in the headers. */
function targetTypeOf(database: Database, hook: HookRow): string {
  if (hook.repo_id !== null) return 'repository';
  if (hook.owner_id === null) return hook.is_system === 1 ? 'system' : 'default';
  const owner = database.get<{ type: string }>('SELECT type FROM users WHERE id = ?', hook.owner_id);
  return owner?.type ?? 'user';
}

/**
 * Returns the headers of a delivery. Both content types sign the JSON text. Without a secret, the signature headers are
 * empty.
 */
function headersOf(task: HookTaskRow, hook: HookRow, targetType: string): Record<string, string> {
  const sign = (algorithm: 'sha256' | 'sha1'): string =>
    hook.secret === '' ? '' : createHmac(algorithm, hook.secret).update(task.payload).digest('hex');
  const sha256 = sign('sha256');
  return {
    'User-Agent': 'Go-http-client/1.1',
    'Content-Type': hook.content_type === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
    ...Object.fromEntries(
      ['Gitea', 'Gogs', 'GitHub'].flatMap((name) => [
        [`X-${name}-Delivery`, task.uuid],
        [`X-${name}-Event`, task.event],
        [`X-${name}-Event-Type`, task.event_type],
      ]),
    ),
    'X-Gitea-Signature': sha256,
    'X-Gogs-Signature': sha256,
    'X-Hub-Signature': `sha1=${sign('sha1')}`,
    'X-Hub-Signature-256': `sha256=${sha256}`,
    'X-Gitea-Hook-Installation-Target-Type': targetType,
    'X-GitHub-Hook-Installation-Target-Type': targetType,
  };
}

/** Retention of completed deliveries in the history. */
const keptSeconds = 7 * 24 * 3600;

/** The response to a delivery, or the error. */
type RecordedAnswer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the response came from a private address. */
  readonly isPrivate?: boolean;
};

/** Deliveries in the database: queued, in progress and completed. */
interface DeliveryHistory {
  /** Marks the oldest queued delivery as in progress and returns it; skips deliveries of the hooks in `full`. */
  takeNext(full: readonly number[]): HookTaskRow | undefined;
  /** Records the request, without the `Authorization` header. */
  recordRequest(id: number, headers: Readonly<Record<string, string>>, body: string): void;
  recordAnswer(id: number, state: 'delivered' | 'failed', answer: RecordedAnswer): void;
  queueAgain(id: number): void;
  /** Returns the deliveries of a hook, newest first. */
  list(hookId: number, limit?: number): readonly HookTaskRow[];
  /** Queues the same payload under a new id and returns that id; undefined if the given id is unknown. */
  repeat(uuid: string): string | undefined;
  removeOld(): void;
}

/** Opens the history. Deliveries in progress when the last process ended are recorded as failed. */
function createDeliveryHistory(database: Database, now: () => number): DeliveryHistory {
  database.run(
    `UPDATE hook_tasks SET state = 'failed', response_body = ?, is_answer_private = 0 WHERE state = 'sending'`,
    'the forge stopped',
  );
  return {
    takeNext(full) {
      const task = database.get<HookTaskRow>(
        `SELECT * FROM hook_tasks WHERE state = 'queued' AND hook_id NOT IN (SELECT value FROM json_each(?))
         ORDER BY id LIMIT 1`,
        JSON.stringify(full),
      );
      if (task) database.run(`UPDATE hook_tasks SET state = 'sending' WHERE id = ?`, task.id);
      return task;
    },
    recordRequest(id, headers, body) {
      database.run(
        'UPDATE hook_tasks SET request_headers = ?, request_body = ? WHERE id = ?',
        JSON.stringify(headers),
        body,
        id,
      );
    },
    recordAnswer(id, state, answer) {
      database.run(
        `UPDATE hook_tasks SET state = ?, response_status = ?, response_headers = ?, response_body = ?,
           is_answer_private = ?, delivered_at = ? WHERE id = ?`,
        state,
        answer.status ?? 0,
        JSON.stringify(answer.headers ?? {}),
        answer.body,
        answer.isPrivate ?? false,
        now(),
        id,
      );
    },
    queueAgain(id) {
      database.run(`UPDATE hook_tasks SET state = 'queued' WHERE id = ?`, id);
    },
    list: (hookId, limit = 50) =>
      database.all<HookTaskRow>(
        'SELECT * FROM hook_tasks WHERE hook_id = ? ORDER BY id DESC LIMIT ?',
        hookId,
        limit,
      ),
    repeat(uuid) {
      const again = randomUUID();
      const { changes } = database.run(
        `INSERT INTO hook_tasks (uuid, hook_id, event_type, event, payload, created_at, again_of)
         SELECT ?, hook_id, event_type, event, payload, ?, uuid FROM hook_tasks WHERE uuid = ?`,
        again,
        now(),
        uuid,
      );
      return changes === 0 ? undefined : again;
    },
    removeOld() {
      const old = now() - keptSeconds;
      database.run(`DELETE FROM hook_tasks WHERE created_at < ? AND state IN ('delivered', 'failed')`, old);
    },
  };
}

/** Maximum number of bytes stored of a response. */
const maxAnswerBytes = 1024 * 1024;
const maxRedirects = 10;

type WebhookRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts the whole exchange: connecting, sending, redirects, reading. */
  readonly signal: AbortSignal;
  /** Returns whether a connection to a resolved address of a URL's host is allowed. Called before each connection. */
  readonly permits: (address: string, host: string) => boolean;
};

type WebhookAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Response body, truncated to the first MiB. */
  readonly body: string;
};

type Hop = { readonly method: 'POST' | 'GET'; readonly url: URL; readonly headers: Record<string, string> };

/**
 * Posts a body and returns the response. Follows redirects as Gitea's HTTP client does: at most ten; 301, 302 and 303
 * turn into a GET without a body, 307 and 308 stay a POST, and `Authorization` is not sent to another host. Throws
 * `HostRefused` for an address that is not allowed, also after a redirect.
 */
async function sendWebhook({ url, headers, body, ...guards }: WebhookRequest): Promise<WebhookAnswer> {
  let hop: Hop = { method: 'POST', url: new URL(url), headers: { ...headers } };
  for (let redirects = 0; ; redirects += 1) {
    const answer = await request(hop, hop.method === 'POST' ? body : undefined, guards);
    const next = redirectHop(hop, answer);
    if (next === undefined) return answer;
    if (redirects === maxRedirects) throw new Error(`stopped after ${maxRedirects} redirects`);
    hop = next;
  }
}

function redirectHop(hop: Hop, answer: WebhookAnswer): Hop | undefined {
  const location = answer.headers.location;
  if (location === undefined || ![301, 302, 303, 307, 308].includes(answer.status)) return undefined;
  const url = new URL(location, hop.url);
  const headers = { ...hop.headers };
  if (url.hostname !== hop.url.hostname) delete headers.Authorization;
  return { method: answer.status >= 307 ? hop.method : 'GET', url, headers };
}

function request(
  hop: Hop,
  body: string | undefined,
  { signal, permits }: Pick<WebhookRequest, 'signal' | 'permits'>,
): Promise<WebhookAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WebhookAnswer>();
  if (hop.url.protocol !== 'http:' && hop.url.protocol !== 'https:') {
    throw new Error(`unsupported protocol scheme "${hop.url.protocol}"`);
  }
  const host = hostOfUrl(hop.url);
  // IP addresses need no DNS lookup.
  if (isIP(host) !== 0 && !permits(host, host))
    throw new HostRefused('its address is not public, and not listed');
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const program = hop.url.protocol === 'https:' ? https : http;
  // No keep-alive: after a restart of the receiver, a delivery over a reused connection would be lost.
  const sent = program.request(hop.url, {
    method: hop.method,
    agent: false,
    signal,
    lookup: createCheckedLookup({ permits: (address) => permits(address, host) }),
    headers: { ...hop.headers, ...length },
  });
  sent.on('error', reject);
  sent.on('response', (response) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const finish = (): void => {
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value);
      const kept = Buffer.concat(pieces).subarray(0, maxAnswerBytes).toString('utf8');
      resolve({ status: response.statusCode ?? 0, headers, body: kept });
    };
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes < maxAnswerBytes) return;
      finish();
      response.destroy();
    });
    response.on('error', reject);
    response.on('end', finish);
  });
  sent.end(body);
  return promise;
}

/** Sends a delivery of a hook again and returns the new id; undefined if the hook has no such delivery. */
export function redeliverOf(context: ForgeContext, hookId: number, uuid: string): string | undefined {
  const sql = 'SELECT * FROM hook_tasks WHERE uuid = ? AND hook_id = ?';
  const task = context.db.get<HookTaskRow>(sql, uuid, Number.isSafeInteger(hookId) ? hookId : 0);
  return task && context.deliveries.redeliver(task.uuid);
}
