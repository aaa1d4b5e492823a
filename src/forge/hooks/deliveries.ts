import { createHmac } from 'node:crypto';
import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Deliveries } from '../core/context.ts';
import type { Database } from '../core/database.ts';
import type { HookRow, HookTaskRow } from '../core/rows.ts';
import { createDeliveryHistory, type DeliveryHistory } from './history.ts';
import { sendWebhook } from './send-webhook.ts';

export type DeliveryOptions = {
  readonly database: Database;
  readonly log: Log;
  /** Seconds since the epoch. */
  readonly now: () => number;
  /** For the whole exchange; default 5 s, as on the baseline. */
  readonly timeoutMs?: number;
};

/** How often old deliveries are removed. */
const cleaningMs = 3600_000;

/** Deliveries of one hook on their way at a time: a dead receiver keeps its own waiting, never another's. */
const perHook = 4;
const inAll = 64;

/**
 * Creates the sender and continues with what a former process had queued; what that one was sending when it died is
 * lost, as on the baseline, and recorded as failed. Any address may be a target, loopback included: the embedded forge
 * stands beside its receiver, where a public instance would refuse such an address.
 */
export function createDeliveries(options: DeliveryOptions): Deliveries {
  const { database, log, now, timeoutMs = 5_000 } = options;
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
      const done = send({ database, history, log, timeoutMs }, task, abort.signal).finally(() => {
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
    // The answer to the call that caused the delivery goes out first.
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
};

/** Sends one delivery and records its answer; one that `stop` interrupts is queued again. */
async function send(sending: Sending, task: HookTaskRow, stop: AbortSignal): Promise<void> {
  const { database, history, log, timeoutMs } = sending;
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
  try {
    const answer = await sendWebhook({
      url: hook.url,
      headers: authorization === '' ? headers : { ...headers, Authorization: authorization },
      body,
      signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
    });
    const isAccepted = answer.status >= 200 && answer.status <= 299;
    history.recordAnswer(task.id, isAccepted ? 'delivered' : 'failed', answer);
  } catch (error) {
    if (stop.aborted) {
      history.queueAgain(task.id);
      return;
    }
    const reason = messageOf(error);
    history.recordAnswer(task.id, 'failed', { body: `Delivery: ${reason}` });
    log.info({ delivery: task.uuid, hook: hook.id, reason }, 'a delivery failed');
  }
}

function deliveryBody(hook: HookRow, payload: string): string {
  return hook.content_type === 'form' ? new URLSearchParams({ payload }).toString() : payload;
}

/** The level the hook belongs to, as the headers name it. */
function targetTypeOf(database: Database, hook: HookRow): string {
  if (hook.repo_id !== null) return 'repository';
  if (hook.owner_id === null) return hook.is_system === 1 ? 'system' : 'default';
  const owner = database.get<{ type: string }>('SELECT type FROM users WHERE id = ?', hook.owner_id);
  return owner?.type ?? 'user';
}

/** Both content types sign the JSON text. Without a secret the headers are sent all the same, with nothing in them. */
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
