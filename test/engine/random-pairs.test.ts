import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actions } from '../../src/actions/actions.ts';
import type { RecordedChange } from '../../src/engine/record.ts';
import { vaultText, type Written } from '../support/fake-forge.ts';
import { propertyRuns, recordFigure } from '../support/figure.ts';
import {
  homeId,
  type Level,
  organization,
  type Pair,
  type PairResult,
  pairsOf,
  pairsReadingElsewhere,
  runPair,
  secretValue,
} from '../support/random-pairs.ts';
import { argumentArbitraries } from '../support/random-rules.ts';

/** Number of pairs per leading action: more than 100,000 in total in a long run. */
const perAction = process.env.LONG ? 4_000 : propertyRuns(100);
const small = ['set-labels', 'set-issue', 'request-reviewers', 'react', 'comment', 'set-status'];

/** Results of the pairs, by action: the properties about writes prove nothing if nothing is written. */
type Tally = { pairs: number; written: number; ofFiles: number; refused: number; unwritten: number };
const tallies = new Map<string, Tally>();
/** Number of writes that contain text from a repository that only the account and the operator's rules may read. */
let fromVault = 0;
function tallyOf(action: string): Tally {
  const tally = tallies.get(action) ?? {
    pairs: 0,
    written: 0,
    ofFiles: 0,
    refused: 0,
    unwritten: 0,
  };
  tallies.set(action, tally);
  return tally;
}

it('every action has an argument generator that covers its full reach', () => {
  expect(Object.keys(argumentArbitraries).toSorted()).toEqual(actions.map(({ name }) => name).toSorted());
});

describe.each(actions.map(({ name }) => [name]))('pairs of rules and events, %s first', (lead) => {
  it(`write only where and what their source may write, and only what the dry run announced (${perAction} pairs)`, {
    timeout: 1_800_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(pairsOf(lead), async (pair) => {
        const result = await runPair(pair);
        const { dry, real } = result;

        expect(dry.written).toEqual([]);
        for (const request of real.written) expect(trespassOf(request, pair, result)).toBeUndefined();
        expect(differencesOf(pair, result)).toEqual([]);
        count(lead, result);
      }),
      { numRuns: perAction, seed: 11, endOnFailure: false },
    );
  });

  it(`publish nothing that their source may not read (${perAction} pairs)`, {
    timeout: 1_800_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(pairsReadingElsewhere(lead), async (pair) => {
        const result = await runPair(pair);

        for (const request of result.real.written) expect(trespassOf(request, pair, result)).toBeUndefined();
        fromVault += result.real.written.filter(isFromVault).length;
      }),
      { numRuns: perAction, seed: 11, endOnFailure: false },
    );
  });

  // With fewer pairs, the counts of a single action prove too little; the last test checks the sums over all actions.
  it.runIf(perAction >= 60)(
    'are meaningful: some changes of the first action are written, and some are refused',
    () => {
      const tally = tallyOf(lead);

      expect(tally.pairs).toBeGreaterThanOrEqual(perAction);
      expect(tally.written).toBeGreaterThan(perAction / 20);
      expect(tally.refused).toBeGreaterThan(perAction / 20);
      const isOfFiles = actions.find(({ name }) => name === lead)?.onlyFor !== 'operator';
      if (isOfFiles) expect(tally.ofFiles).toBeGreaterThanOrEqual(Math.ceil(perAction / 120));
      // The plan predicts almost every pair in full. If an earlier write made a later one unnecessary, the run says so.
      expect(tally.unwritten).toBeLessThan(perAction / 20);
    },
  );
});

it('all pairs are meaningful: changes are written and refused, also changes of repository and organization files, and almost every plan is followed', (context) => {
  const all = [...tallies.values()];
  const sumOf = (kind: keyof Tally): number => all.reduce((sum, tally) => sum + tally[kind], 0);

  const unwritten = [...tallies].flatMap(([name, { written }]) => (written > 0 ? [] : [name]));
  // A few pairs per action may miss the changes of one of them.
  expect(unwritten.length).toBeLessThanOrEqual(perAction >= 60 ? 0 : 2);
  expect(sumOf('pairs')).toBeGreaterThanOrEqual(perAction * actions.length);
  for (const kind of ['written', 'refused'] as const)
    expect(sumOf(kind)).toBeGreaterThan(sumOf('pairs') / 20);
  expect(sumOf('ofFiles')).toBeGreaterThan(sumOf('pairs') / 120);
  expect(sumOf('unwritten')).toBeLessThan(sumOf('pairs') / 20);
  // The operator's rules may publish text that only the account may read, and such text does appear in writes.
  expect(fromVault).toBeGreaterThan(sumOf('pairs') / 100);
  const [pairs, written, refused] = (['pairs', 'written', 'refused'] as const).map((kind) =>
    sumOf(kind).toLocaleString('en'),
  );
  recordFigure(
    context,
    `${pairs} pairs of rules and events: ${written} changes written, ${refused} refused, 0 elsewhere, 0 other than planned`,
  );
});

/** Returns the problem of a request, such as a write outside the scope of its rules or without a grant. */
function trespassOf({ method, path, body }: Written, pair: Pair, { real }: PairResult): string | undefined {
  const asked = real.run.changes.filter((change) => change.method === method && pathOf(change) === path);
  const branch = branchOf({ method, path, body }, pair);
  const isOfFork = path.endsWith('/update') && pair.state.pulls.isFork;
  const permitting = asked.flatMap(({ rules, action }) =>
    rules.map(levelOfRule).filter(
      (level) =>
        permits(level, { action, path, body, branch }, pair) &&
        (method !== 'DELETE' ||
          action !== 'merge' ||
          permits(level, { action: 'delete-branch', path, branch }, pair)) &&
        (method !== 'DELETE' ||
          action !== 'delete-branch' ||
          pair.state.pulls.merged ||
          permits(level, { action: 'delete-closed-branch', path, branch }, pair)) &&
        // No grant of these pairs includes forks.
        (level === 'operator' || !isOfFork),
    ),
  );
  const where = `${method} ${path}`;
  if (asked.length === 0) return `no rule asked for ${where}`;
  if (permitting.length === 0) return `${where} is nothing that ${JSON.stringify(asked)} may write`;
  // A run about an organization has no repository of its own, so an operator's rule may name this repository, whatever
  // repository has that name now.
  const isTaken = pair.trigger.subject !== 'organization' && !Object.values(pair.state.ids).includes(homeId);
  if (isTaken && isAt(path, pair)) return `${where} is another repository by now`;
  if (isFromVault({ method, path, body }) && !permitting.includes('operator'))
    return `${where} publishes what ${permitting.join(' and ')} may not read: ${JSON.stringify(body)}`;
  const isTold = JSON.stringify(body ?? null).includes(secretValue);
  return isTold && !permitting.includes('operator') ? `${where} tells a secret` : undefined;
}

/**
 * Returns whether a write contains text, or a branch, from a repository that only the account and the operator's rules
 * may read.
 */
function isFromVault({ method, path, body }: Pick<Written, 'method' | 'path' | 'body'>): boolean {
  const head: unknown = Reflect.get(Object(body), 'head');
  if (method === 'POST' && path.endsWith('/pulls') && String(head).includes(':')) return true;
  const said = `${decodeURIComponent(path)} ${JSON.stringify(body ?? null)}`;
  return [vaultText, Buffer.from(vaultText).toString('base64')].some((text) => said.includes(text));
}

/** Returns the branch that grants must cover: the base of the pull request. */
function branchOf({ method, path, body }: Omit<Written, 'query'>, { state }: Pair): unknown {
  if (method === 'POST' && path.endsWith('/diffpatch')) return Reflect.get(Object(body), 'branch');
  if (method === 'POST' && path.endsWith('/pulls')) return Reflect.get(Object(body), 'base');
  const isOfPull = /\/pulls\/\d+\/(merge|update)$/.test(path) || /\/branches\/[^/]+$/.test(path);
  return isOfPull ? state.pulls.base : undefined;
}

/**
 * Returns whether files of a level may send this request under the operator's grants; computed independently of the
 * engine.
 */
function permits(
  level: Level,
  request: {
    readonly action: string;
    readonly path: string;
    readonly body?: unknown;
    readonly branch?: unknown;
  },
  pair: Pair,
): boolean {
  if (level === 'operator') return true;
  const { action, path, branch } = request;
  const { onlyFor = level } = actions.find(({ name }) => name === action) ?? {};
  if (onlyFor !== level) return false;
  const { owner, name } = pair.home;
  const takes = (pattern: string): boolean =>
    pattern === 'acme/*'
      ? owner.toLowerCase() === 'acme'
      : ['*/*', `${owner}/${name}`.toLowerCase()].includes(pattern.toLowerCase());
  const granted = pair.grants.filter(
    ({ repositories = [], organizations = [], in: scope = [], branches = ['main'] }) =>
      (level === 'organization'
        ? organizations.includes(organization) || scope.some(takes)
        : [...repositories, ...scope].some(takes)) &&
      (branch === undefined || branches.includes('**') || branches.includes(String(branch))),
  );
  const names = granted.flatMap(({ actions: old = [], use = [] }) => [...old, ...use]);
  if (!needsNoGrant(request) && !names.includes(action)) return false;
  if (level === 'repository') return isAt(path, pair);
  return /^\/(repos\/acme\/[^/]+(\/|$)|orgs\/acme(\/|$))/i.test(path);
}

/**
 * Returns whether files may send this request without a grant: any request of the small set of actions, except changes
 * to the state of an issue, a lock, a pin or the definition of a label.
 */
function needsNoGrant({
  action,
  path,
  body,
}: {
  readonly action: string;
  readonly path: string;
  readonly body?: unknown;
}): boolean {
  if (action === 'set-issue')
    return !/\/(lock|pin)$/.test(path) && Reflect.get(Object(body), 'state') === undefined;
  if (action === 'set-labels') return !/^\/repos\/[^/]+\/[^/]+\/labels$/.test(path);
  return small.includes(action);
}

function isAt(path: string, { home }: Pair): boolean {
  const start = `/repos/${home.owner}/${home.name}/`.toLowerCase();
  return path.toLowerCase().startsWith(start);
}

function levelOfRule(id: string): Level {
  if (id.startsWith('operator.yml#')) return 'operator';
  return id.startsWith('acme/.reeve/rules/') ? 'organization' : 'repository';
}

/** Returns the path of a change as it appears on the wire. */
function pathOf({ path }: RecordedChange): string {
  // The path of a message is a placeholder for the secret that contains its address.
  if (path.startsWith('{')) return path;
  return new URL(`http://forge/api/v1${path}`).pathname.slice('/api/v1'.length);
}

/**
 * Returns the requests that were sent without being planned, sent too often, or planned but neither sent nor explained.
 */
function differencesOf({ files }: Pair, { dry, real }: PairResult): readonly string[] {
  const isEnforced = ({ rules }: RecordedChange): boolean =>
    rules.some((id) => {
      const place = Number(id.slice(id.indexOf('#r') + 2));
      return files[levelOfRule(id)]?.[place]?.rule.mode === 'enforce';
    });
  const explained = new Set(
    real.run.outcomes
      .filter(({ status }) => status === 'failed' || status === 'skipped')
      .map(({ change }) => change),
  );
  const planned = dry.run.changes.filter(isEnforced);
  // The tests of two new hooks have the same request line.
  const plannedTimes = Map.groupBy(planned.map(requestOf), (request) => request);
  const may = new Set(plannedTimes.keys());
  const must = new Set(planned.filter(({ id }) => !explained.has(id)).map(requestOf));
  // A request that the forge dropped is sent once more and then recorded as failed.
  const again = new Set(planned.filter(({ id }) => explained.has(id)).map(requestOf));
  const sent = real.written.map(({ method, path, body }) => nameOf(method, path, body));
  const sentTimes = [...Map.groupBy(sent, (request) => request)];
  const repeated = sentTimes
    .filter(([request, { length }]) => length > (plannedTimes.get(request)?.length ?? 0))
    .map(([request]) => request);
  return [
    ...sent.filter((request) => !may.has(request)).map((request) => `not planned: ${request}`),
    ...[...must].filter((request) => !sent.includes(request)).map((request) => `not sent: ${request}`),
    ...repeated
      .filter((request) => may.has(request) && !again.has(request))
      .map((request) => `too often: ${request}`),
  ];
}

function requestOf(change: RecordedChange): string {
  const { body } = (change.input ?? {}) as { body?: unknown };
  return nameOf(change.method, pathOf(change), body);
}

function nameOf(method: string, path: string, body: unknown): string {
  // Objects created in the same run, such as a tested hook or an added label, have no id while the run is planned.
  if (/^\/teams\/(0|1\d{3})\//.test(path)) return `${method} ${path.replace(/\d+/, 'ID')}`;
  if (path.endsWith('/tests')) return `${method} ${path.replace(/\d+(?=\/tests$)/, 'ID')}`;
  if (/\/issues\/\d+\/labels$/.test(path)) return `${method} ${path}`;
  // The record of a run does not contain the contents of files.
  const { files } = Object(body) as { files?: readonly { readonly path: string; readonly sha?: string }[] };
  if (path.endsWith('/contents') && files) {
    return `${method} ${path} ${JSON.stringify(files.map(({ path: one, sha }) => [one, sha]))}`;
  }
  return `${method} ${path} ${JSON.stringify(inOrder(body))}`;
}

/** Sorts the members of a body, whose order has no meaning, and replaces a secret by its name, as in a plan. */
function inOrder(value: unknown): unknown {
  if (value === secretValue) return { secret: 'TOKEN' };
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, inOrder(member)]),
  );
}

function count(lead: string, { real, problems }: PairResult): void {
  const tally = tallyOf(lead);
  tally.pairs += 1;
  const own = real.run.changes.filter(({ action }) => action === lead);
  const applied = own.filter(({ id }) => statusOf(real, id) === 'applied');
  tally.written += applied.length;
  tally.ofFiles += applied.filter(({ rules }) => rules.every((id) => levelOfRule(id) !== 'operator')).length;
  tally.refused += real.run.refused.filter(({ change }) => change.action === lead).length;
  tally.refused += problems.some((problem) => problem.includes(lead)) ? 1 : 0;
  tally.unwritten += own.some(({ id }) => ['failed', 'skipped'].includes(statusOf(real, id) ?? '')) ? 1 : 0;
}

function statusOf({ run }: PairResult['real'], id: string): string | undefined {
  return run.outcomes.find(({ change }) => change === id)?.status;
}
