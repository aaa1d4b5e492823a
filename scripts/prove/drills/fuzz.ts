import { Agent, request } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonOf, readRecordings } from '../../../test/support/recording/fixture.ts';
import { headersOf } from '../../installation/credentials.ts';
import { at } from '../../installation/forge.ts';
import { type Installation, startInstallation } from '../../installation/installation.ts';
import { corpus, type FuzzedDelivery } from '../fuzz/corpus.ts';
import { mutate } from '../fuzz/mutate.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import type { Drill } from '../promise.ts';

/** A store of so many deliveries is some hundred megabytes; the next round begins with an empty one. */
const perRound = 25_000;
const lines = 32;
const maxMinutes = 14;
/** 401 and 429: a body that is empty has no signature, and an address with too many of these waits. */
const usual = new Set([200, 202, 400, 401, 403, 413, 429]);

const rules = `version: 1
rules:
  texts:
    on: [issues.opened, issues.edited, issue_comment.created, pull_request.opened, pull_request.synchronized]
    if: event.sender.login.matches("^[a-z]+$") && event.repository.full_name.contains("/") && size(event.action) > 1000
    steps: [{ uses: set-labels, with: { add: [never] } }]
  members:
    on: [issues.opened, issues.edited, issue_comment.created]
    if: event.issue.labels.exists(l, l.name.startsWith("never")) && event.issue.number > 2000000000
    steps: [{ uses: set-labels, with: { add: [never] } }]
`;

/** Sends recorded deliveries with random changes, to a server that parses them before its answer and to one that does it later. */
export const drill: Drill = async ({ isQuick, signal }) => {
  const count = isQuick ? 10_000 : 1_000_000;
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = createRandom(seed);
  const totals = new Map<string, number>();
  const untilMs = performance.now() + maxMinutes * 60_000;
  let [sent, rounds] = [0, 0];
  while (sent < count && performance.now() < untilMs) {
    signal.throwIfAborted();
    const size = Math.min(isQuick ? count / 2 : perRound, count - sent);
    const problem = await fuzzOnce({ size, random, isSigned: rounds % 2 === 0, totals, signal });
    sent += size;
    rounds += 1;
    if (problem !== undefined)
      return { figure: `seed ${seed}, after ${sent.toLocaleString('en')}: ${problem}`, isKept: false };
  }
  const counts = [...totals].map(([what, number]) => `${number.toLocaleString('en')} ${what}`).join(', ');
  return {
    figure: `${sent.toLocaleString('en')} fuzzed deliveries (seed ${seed}) in ${rounds} rounds, each ended by a valid one: 0 crashes, 0 changed prototypes, ${counts}`,
    isKept: sent >= (isQuick ? count : 250_000),
  };
};

type Round = {
  readonly size: number;
  readonly random: Random;
  readonly isSigned: boolean;
  readonly totals: Map<string, number>;
  readonly signal: AbortSignal;
};

/** Returns what went wrong; undefined if nothing did. */
async function fuzzOnce({ size, random, isSigned, totals, signal }: Round): Promise<string | undefined> {
  const watch = new URL('../fuzz/watch-prototypes.ts', import.meta.url).href;
  const installation = await startInstallation({
    rules,
    labels: ['never'],
    nodeArgs: ['--import', watch],
    // Without a signature, the body is parsed before the answer.
    ...(isSigned ? {} : { secret: '' }),
  });
  try {
    const recorded = recordedFor(installation);
    const bodies = corpus.map(([, body]) => ({ eventType: 'issues', body: Buffer.from(body) }));
    const agent = new Agent({ keepAlive: true, maxSockets: lines });
    let begun = 0;
    let problem: string | undefined;
    const line = async (): Promise<void> => {
      while (begun < size && problem === undefined) {
        signal.throwIfAborted();
        const number = begun;
        begun += 1;
        const delivery = bodies[number] ?? mutate(random.pick(recorded), recorded, random);
        const { status, text } = await send(agent, installation.url, delivery);
        count(totals, `× ${status}`);
        // Why there was no answer is what the process says at its end.
        if (status === 0) await Promise.race([installation.failed, sleep(2_000)]);
        if (!usual.has(status) || !isJson(text))
          problem = `${status} ${text.slice(0, 200)} for ${delivery.eventType} ${delivery.body.toString('base64').slice(0, 2_000)}`;
      }
    };
    const sending = Promise.all(Array.from({ length: lines }, line)).finally(() => agent.destroy());
    await Promise.race([sending, installation.failed]);
    return problem ?? (await Promise.race([judgeWork(installation, totals, signal), installation.failed]));
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error.message : String(error);
  } finally {
    await installation.close();
  }
}

/** Returns the recorded deliveries as if they came from the repository that is served: others would reach no rule. */
function recordedFor({ repositoryId }: Installation): readonly FuzzedDelivery[] {
  const owner = { id: 2, login: at.owner, username: at.owner };
  return readRecordings().flatMap(({ fixtures }) =>
    fixtures.map((fixture) => {
      const payload = JSON.parse(jsonOf(fixture));
      const repository = {
        ...payload.repository,
        id: repositoryId,
        name: at.repo,
        full_name: `${at.owner}/${at.repo}`,
        owner,
      };
      return { eventType: fixture.eventType, body: Buffer.from(JSON.stringify({ ...payload, repository })) };
    }),
  );
}

type Answer = { readonly status: number; readonly text: string };

function send(agent: Agent, url: string, { eventType, body }: FuzzedDelivery): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = headersOf(body, eventType);
    const sent = request(`${url}/webhook`, { agent, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', (error) => resolve({ status: 0, text: error.message })).end(body);
  });
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

function count(totals: Map<string, number>, what: string, number = 1): void {
  totals.set(what, (totals.get(what) ?? 0) + number);
}

/** Waits until all that was stored has been handled; returns a problem if it is not in time, or the worker stands still after it. */
async function judgeWork(
  installation: Installation,
  totals: Map<string, number>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const last = {
    action: 'edited',
    number: 1,
    issue: { number: 1, title: 'A' },
    sender: { id: 1, login: 'root' },
  };
  const [recorded] = recordedFor(installation);
  const { repository } = JSON.parse(recorded?.body.toString() ?? '{}');
  const agent = new Agent();
  const body = Buffer.from(JSON.stringify({ ...last, repository }));
  const { status, text } = await send(agent, installation.url, { eventType: 'issues', body });
  agent.destroy();
  if (status !== 202) return `after them, a delivery like any other was answered ${status} ${text}`;
  const database = new DatabaseSync(installation.database, { readOnly: true });
  try {
    const { id } = JSON.parse(text) as { id: string };
    const byState = database.prepare(
      `SELECT state, count(*) AS count FROM deliveries WHERE door = 'webhook' GROUP BY state`,
    );
    for (let seconds = 0; seconds < 180; seconds += 1) {
      const counts = new Map(byState.all().map((row) => [String(row.state), Number(row.count)]));
      if ((counts.get('accepted') ?? 0) + (counts.get('claimed') ?? 0) === 0) {
        for (const [state, number] of counts) count(totals, state, number);
        const row = database.prepare('SELECT state FROM deliveries WHERE id = ?').get(Number(id));
        return row?.state === 'settled'
          ? undefined
          : `after them, a delivery like any other is ${row?.state}`;
      }
      await sleep(1_000, undefined, { signal });
    }
    return 'after three minutes, deliveries still wait';
  } finally {
    database.close();
  }
}
