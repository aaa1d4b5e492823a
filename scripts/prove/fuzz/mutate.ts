import type { FuzzedDelivery } from './corpus.ts';
import type { Random } from './random.ts';

/** Values in place of what a member should be. */
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

/** Returns a delivery that differs from a recorded one in one to five places, in its members, its bytes, or its event type. */
export function mutate(
  from: FuzzedDelivery,
  others: readonly FuzzedDelivery[],
  random: Random,
): FuzzedDelivery {
  const eventType = random.chance(0.1) ? otherEventType(others, random) : from.eventType;
  const times = 1 + random.below(5);
  let { body } = from;
  if (random.chance(0.75)) {
    const tree: { root: unknown } = { root: JSON.parse(body.toString()) };
    for (let time = 0; time < times; time += 1) mutateMember(tree, random);
    body = Buffer.from(JSON.stringify(tree.root) ?? '');
    // What no value of a program is: names of prototypes, numbers that are none, a name twice.
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

/** Goes down from the root at random and changes the member where it stops. */
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
