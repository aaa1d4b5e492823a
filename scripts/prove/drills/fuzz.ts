import { setTimeout as sleep } from 'node:timers/promises';
import { jsonOf, readRecordings } from '../../../test/support/recording/fixture.ts';
import { readRows } from '../../harness/database.ts';
import { at, type Installation, startInstallation } from '../../harness/installation.ts';
import { createRandom, type Random } from '../../harness/random.ts';
import { type Answer, createSender, headersOf, type Sender } from '../../harness/sender.ts';
import type { Drill } from '../promise.ts';

/**
 * Number of deliveries per round. The store grows to several hundred megabytes, and the next round starts with an empty
 * one.
 */
const perRound = 25_000;
const lines = 32;
const maxMinutes = 14;
/** 401 and 429: an empty body has no signature, and an address with too many of these has to wait. */
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

/**
 * Sends recorded deliveries with random changes, to a server that parses them before its response and to one that
 * parses them later.
 */
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

/** Returns what went wrong, or undefined. */
async function fuzzOnce({ size, random, isSigned, totals, signal }: Round): Promise<string | undefined> {
  const watch = new URL('../children/watch-prototypes.ts', import.meta.url).href;
  const installation = await startInstallation({
    rules,
    labels: ['never'],
    nodeArgs: ['--import', watch],
    // Without a signature, the body is parsed before the response.
    ...(isSigned ? {} : { secret: '' }),
  });
  try {
    const recorded = recordedFor(installation);
    const bodies = corpus.map(([, body]) => ({ eventType: 'issues', body: Buffer.from(body) }));
    const sender = createSender(lines);
    let begun = 0;
    let problem: string | undefined;
    const line = async (): Promise<void> => {
      while (begun < size && problem === undefined) {
        signal.throwIfAborted();
        const number = begun;
        begun += 1;
        const delivery = bodies[number] ?? mutate(random.pick(recorded), recorded, random);
        const { status, text } = await send(sender, installation, delivery);
        count(totals, `× ${status}`);
        // If there was no response, the process states the reason when it ends.
        if (status === 0) await Promise.race([installation.failed, sleep(2_000)]);
        if (!usual.has(status) || !isJson(text))
          problem = `${status} ${text.slice(0, 200)} for ${delivery.eventType} ${delivery.body.toString('base64').slice(0, 2_000)}`;
      }
    };
    const sending = Promise.all(Array.from({ length: lines }, line)).finally(sender.close);
    await Promise.race([sending, installation.failed]);
    return problem ?? (await Promise.race([judgeWork(installation, totals, signal), installation.failed]));
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error.message : String(error);
  } finally {
    await installation.close();
  }
}

/** Returns the recorded deliveries as if they came from the served repository, because others would reach no rule. */
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

function send(sender: Sender, { url }: Installation, { eventType, body }: FuzzedDelivery): Promise<Answer> {
  return sender.send(`${url}/webhook`, { headers: headersOf(body, eventType), body });
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

/**
 * Waits until everything stored has been handled; returns a problem if that takes too long, or if the worker no longer
 * works afterwards.
 */
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
  const sender = createSender();
  const body = Buffer.from(JSON.stringify({ ...last, repository }));
  const { status, text } = await send(sender, installation, { eventType: 'issues', body });
  sender.close();
  if (status !== 202) return `after them, a delivery like any other was answered ${status} ${text}`;
  const { id } = JSON.parse(text) as { id: string };
  const byState = `SELECT state, count(*) AS count FROM deliveries WHERE door = 'webhook' GROUP BY state`;
  for (let seconds = 0; seconds < 180; seconds += 1) {
    const rows = readRows(installation.database, byState);
    const counts = new Map(rows.map((row) => [String(row.state), Number(row.count)]));
    if ((counts.get('accepted') ?? 0) + (counts.get('claimed') ?? 0) === 0) {
      for (const [state, number] of counts) count(totals, state, number);
      const find = 'SELECT state FROM deliveries WHERE id = ?';
      const state = readRows(installation.database, find, Number(id))[0]?.state;
      return state === 'settled' ? undefined : `after them, a delivery like any other is ${state}`;
    }
    await sleep(1_000, undefined, { signal });
  }
  return 'after three minutes, deliveries still wait';
}

/** Unexpected values for a field. */
const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  -(2 ** 31),
  '',
  ' ',
  '0',
  'null',
  '__proto__',
  '../../etc/passwd',
  'a/b/c',
  '/',
  '\u0000',
  '\ud800',
  '\u202e\u2066',
  '😀'.repeat(100),
  'x'.repeat(5_000),
  '2026-02-30T25:61:00Z',
  '9999-12-31T23:59:59Z',
  'refs/heads/',
  '0'.repeat(40),
  [],
  [[]],
  [null],
  {},
  { id: {} },
  { login: [] },
  Array.from({ length: 600 }, () => null),
  Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`k${at}`, at])),
];
const oddNames = [
  '',
  'toString',
  'constructor',
  'then',
  'toJSON',
  'length',
  'a.b',
  '0',
  '\ud800',
  'x'.repeat(300),
];
const oddEventTypes = [
  '',
  '__proto__',
  'constructor',
  'push ',
  'PUSH',
  'x'.repeat(200),
  'action_run_',
  'issues_',
];

/**
 * Returns a delivery that differs from a recorded one in one to five places: in its fields, its bytes, or its event
 * type.
 */
function mutate(from: FuzzedDelivery, others: readonly FuzzedDelivery[], random: Random): FuzzedDelivery {
  const eventType = random.chance(0.1) ? otherEventType(others, random) : from.eventType;
  const times = 1 + random.below(5);
  let { body } = from;
  if (random.chance(0.75)) {
    const tree: { root: unknown } = { root: JSON.parse(body.toString()) };
    for (let time = 0; time < times; time += 1) mutateMember(tree, random);
    body = Buffer.from(JSON.stringify(tree.root) ?? '');
    // Inserts texts that JSON.stringify never produces: names of prototypes, invalid numbers, duplicate names.
    if (random.chance(0.2)) body = Buffer.from(insertText(body.toString(), random));
  }
  if (random.chance(0.25))
    for (let time = 0; time < times; time += 1) body = mutateBytes(body, others, random);
  return { eventType, body };
}

function otherEventType(others: readonly FuzzedDelivery[], random: Random): string {
  return random.chance(0.5) ? random.pick(oddEventTypes) : random.pick(others).eventType;
}

type Holder = Record<string, unknown>;

/** Descends from the root at random and changes the field where it stops. */
function mutateMember(tree: Holder, random: Random): void {
  let holder = tree;
  let name = 'root';
  for (;;) {
    const value = holder[name];
    const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (names.length === 0 || (name !== 'root' && random.chance(0.3))) break;
    holder = value as Holder;
    name = random.pick(names);
  }
  const kind = random.below(6);
  if (kind === 0 && name !== 'root') delete holder[name];
  else if (kind === 1 && !Array.isArray(holder)) define(holder, random.pick(oddNames), holder[name]);
  else if (kind === 2) holder[name] = deepen(holder[name], 1 + random.below(70));
  else if (kind === 3) holder[name] = [holder[name], holder[name]];
  else if (kind === 4 && typeof holder[name] === 'string')
    holder[name] = `${holder[name]}${random.pick(['\n', '\u0000', '"', '\\', '${{ x }}', ' closes #1'])}`;
  else holder[name] = structuredClone(random.pick(oddValues));
}

function define(holder: Holder, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

function deepen(value: unknown, levels: number): unknown {
  let deep = value;
  for (let level = 0; level < levels; level += 1) deep = level % 2 === 0 ? [deep] : { a: deep };
  return deep;
}

const insertions = [
  '"__proto__":{"isAdmin":true},',
  '"constructor":{"prototype":{"isAdmin":true}},',
  '"\\u005f\\u005fproto\\u005f\\u005f":1,',
  '"id":1e999,',
  '"id":-0,',
  '"id":9007199254740993,',
  '"id":00,',
  '"repository":null,"repository":[],',
  '"a":"\\ud800",',
];

function insertText(text: string, random: Random): string {
  const places = [...text.matchAll(/\{(?=")/g)].map(({ index }) => index + 1);
  if (places.length === 0) return text;
  const at = random.pick(places);
  return text.slice(0, at) + random.pick(insertions) + text.slice(at);
}

function mutateBytes(body: Buffer, others: readonly FuzzedDelivery[], random: Random): Buffer {
  if (body.length === 0) return Buffer.from([random.below(256)]);
  const at = random.below(body.length);
  const kind = random.below(5);
  if (kind === 0) return body.subarray(0, at);
  if (kind === 1)
    return Buffer.concat([body.subarray(0, at), Buffer.from([random.below(256)]), body.subarray(at)]);
  if (kind === 2) return Buffer.concat([body.subarray(0, at), body.subarray(at + 1 + random.below(20))]);
  if (kind === 3) {
    const other = random.pick(others).body;
    return Buffer.concat([body.subarray(0, at), other.subarray(random.below(other.length))]);
  }
  const flipped = Buffer.from(body);
  flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
  return flipped;
}

/** Delivery: the event type of its header, and the bytes of its body. */
type FuzzedDelivery = { readonly eventType: string; readonly body: Buffer };

const nested = (open: string, close: string, depth: number): string =>
  open.repeat(depth) + close.repeat(depth);
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":${at}`).join(',')}}`;

/**
 * Bodies that have broken JSON parsers in the past, each sent before anything random. Add bodies found by the fuzzing
 * here, so that they are always tried.
 */
const corpus: readonly (readonly [string, string | Buffer])[] = [
  ['nothing', ''],
  ['no JSON', '<html></html>'],
  ['an open object', '{"a":'],
  ['a number', '7'],
  ['null', 'null'],
  ['a byte order mark', '\ufeff{}'],
  ['64 lists', nested('[', ']', 64)],
  ['65 lists', nested('[', ']', 65)],
  ['1,000,000 open lists', '['.repeat(1_000_000)],
  ['1,000,000 lists', nested('[', ']', 500_000)],
  ['100,000 objects', nested('{"a":', '}', 100_000).replace(':}', ':1}')],
  ['100,000 members', keys(100_000)],
  ['a member twice', '{"repository":1,"repository":{"id":1}}'],
  ['an empty member', '{"":1}'],
  ['a member of 1,000,000 characters', `{"${'a'.repeat(1_000_000)}":1}`],
  ['a text of 4,000,000 characters', `{"a":"${'x'.repeat(4_000_000)}"}`],
  ['escapes without end', `{"a":"${'\\\\'.repeat(1_000_000)}"}`],
  ['a lone high surrogate', '{"ref":"\\ud800"}'],
  ['a lone low surrogate in a name', '{"\\udc00":1}'],
  ['a zero character', '{"ref":"\\u0000"}'],
  ['a right-to-left mark', '{"ref":"\\u202e"}'],
  ['a number beyond all', '{"number":1e999}'],
  ['a number beyond 2^53', '{"number":9007199254740993}'],
  ['a number of 100,000 digits', `{"number":${'9'.repeat(100_000)}}`],
  ['minus zero', '{"number":-0}'],
  ['a prototype', '{"__proto__":{"isAdmin":true}}'],
  ['an escaped prototype', '{"\\u005f_proto__":{"isAdmin":true}}'],
  ['a prototype of a constructor', '{"constructor":{"prototype":{"isAdmin":true}}}'],
  ['names of methods', '{"toString":1,"valueOf":1,"hasOwnProperty":1,"then":1,"toJSON":1,"length":-1}'],
  ['no UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
  ['overlong UTF-8', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ['zero bytes', Buffer.alloc(10_000)],
];
