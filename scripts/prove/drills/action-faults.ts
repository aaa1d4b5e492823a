import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ActionRow } from '../../../test/flows/action-row.ts';
import { conversationRows } from '../../../test/flows/conversation-rows.ts';
import { settingsRows } from '../../../test/flows/settings-rows.ts';
import type { Fault } from '../../../test/support/fault-proxy.ts';
import { type Harness, minimalScopes } from '../../../test/support/harness.ts';
import { type HookReceiver, startReceiver } from '../../../test/support/hook-receiver.ts';
import { startOperatorHarness } from '../../../test/support/operator-harness.ts';
import type { Drill } from '../promise.ts';

const page = '<html><title>Bad gateway</title></html>';

/** Faults that hit the first request of each kind that writes. */
const faults: Readonly<Record<string, Fault>> = {
  'reset after it was applied': { kind: 'lose' },
  '500 after it was applied': { kind: 'replace', status: 500, body: '{"message":"internal"}' },
  'reset before it arrives': { kind: 'reset' },
  'answer cut in the middle': { kind: 'truncate' },
  'answer of another type': {
    kind: 'replace',
    status: 200,
    body: page,
    headers: { 'content-type': 'text/html' },
  },
  '502 before it arrives': { kind: 'answer', status: 502, body: page },
  'slow answer': { kind: 'pass', after: () => sleep(2_000) },
  'no answer after it was applied': { kind: 'swallow' },
  'black hole': { kind: 'hang' },
};
const quickFaults = ['reset after it was applied', '500 after it was applied'];
/** Actions whose effect a second request would repeat. */
const quickActions = ['comment', 'report-issue', 'open-pull-request', 'merge', 'set-labels', 'set-status'];
/** Its messages do not go to the forge; test/flows/notify.test.ts tests them. */
const withoutForge = ['notify'];

const maxWaitMs = 180_000;
const scopes = [...minimalScopes, 'write:repository', 'write:organization', 'write:notification'];

/**
 * Applies every fault to every kind of action that an event triggers, and compares the state of the forge with the
 * declared one.
 */
export const drill: Drill = async ({ isQuick, signal }) => {
  const rows = [...conversationRows, ...settingsRows].filter(
    ({ action, called, happens }) =>
      happens !== undefined &&
      !withoutForge.includes(action) &&
      (!isQuick || (quickActions.includes(action) && called === undefined)),
  );
  const names = Object.keys(faults).filter((name) => !isQuick || quickFaults.includes(name));
  const count = names.length;
  const wrong: string[] = [];
  let met = 0;
  const meetAll = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const fault = faults[name] as Fault;
      const result = await withHarness(rows, (harness, receiver) =>
        meetFault({ rows, harness, receiver, fault, signal }),
      );
      met += result.met;
      wrong.push(...result.wrong.map((text) => `${name}, ${text}`));
    }
  };
  // Three run at a time, because they wait most of the time. They are taken from the end: the last faults wait longest.
  await Promise.all(Array.from({ length: 3 }, meetAll));
  return {
    figure: `${count} faults × ${rows.length} actions: ${met} requests met one, ${wrong.length} lost or seen twice${wrong.length > 0 ? `: ${wrong.slice(0, 3).join('; ')}` : ''}`,
    isKept: wrong.length === 0 && met >= count * rows.length,
  };
};

const nameOf = ({ action, called }: ActionRow): string =>
  [action, called].filter(Boolean).join(' ').replaceAll(' ', '-');

async function withHarness<Result>(
  rows: readonly ActionRow[],
  use: (harness: Harness, receiver: HookReceiver) => Promise<Result>,
): Promise<Result> {
  const receiver = await startReceiver();
  const address = receiver.url.replace(/\/$/, '');
  const rules = rows
    .map((row) => `  ${nameOf(row)}:\n${row.rule(address).replace(/^/gm, '    ')}\n`)
    .join('');
  const harness = await startOperatorHarness(`version: 1\nrules:\n${rules}`, {
    scopes,
    on: 'the embedded forge',
    server: { namedSecrets: new Map([['SIGN', 'a-value-to-sign-with']]), notifyHosts: ['127.0.0.1'] },
  });
  try {
    return await use(harness, receiver);
  } finally {
    await harness.close();
    await receiver.close();
  }
}

type Meeting = {
  readonly rows: readonly ActionRow[];
  readonly harness: Harness;
  readonly receiver: HookReceiver;
  readonly fault: Fault;
  readonly signal: AbortSignal;
};

/** Returns how many requests met the fault, and which rows ended in a different state than declared. */
async function meetFault({ rows, harness, receiver, fault, signal }: Meeting) {
  const wrong: string[] = [];
  let met = 0;
  for (const row of rows) {
    signal.throwIfAborted();
    const arranged = (await row.arrange?.(harness, receiver.url.replace(/\/$/, ''))) ?? { index: 0 };
    await harness.idle();
    const from = met;
    const seen = new Set<string>();
    harness.proxy.decide = ({ method, path }) => {
      const request = `${method} ${path}`;
      if (method === 'GET' || seen.has(request)) return { kind: 'pass' };
      seen.add(request);
      met += 1;
      return fault;
    };
    await row.happens?.(harness, arranged);
    const isDeclared = async () =>
      isDeepStrictEqual(plain(await row.read(harness, arranged, receiver)), plain(row.declared));
    await waitForRest(harness, async () => met > from && (await isDeclared()), signal);
    harness.proxy.decide = () => ({ kind: 'pass' });
    await harness.idle();
    if (met === from) wrong.push(`${nameOf(row)}: no request met it`);
    else if (!(await isDeclared()))
      wrong.push(`${nameOf(row)}: ${JSON.stringify(await row.read(harness, arranged, receiver))}`);
  }
  return { met, wrong };
}

/**
 * Waits until the condition holds and nothing is left to do, or until nothing has been left to do for ten seconds, at
 * most three minutes.
 */
async function waitForRest(
  harness: Harness,
  isDone: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = performance.now() + maxWaitMs;
  for (let restMs = performance.now(); performance.now() < untilMs; ) {
    if (!(await isAtRest(harness))) restMs = performance.now();
    else if ((await isDone()) || performance.now() - restMs > 10_000) return;
    await sleep(50, undefined, { signal });
  }
}

/** Returns whether nothing is being handled and nothing waits for another attempt. */
async function isAtRest({ server }: Harness): Promise<boolean> {
  const { accepted, claimed, retry } = await server.store.counts();
  return accepted + claimed + retry === 0;
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
