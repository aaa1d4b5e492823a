import fc from 'fast-check';
import { actions, argumentGrants } from '../../src/actions/actions.ts';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import type { Client } from '../../src/client/client.ts';
import { familyOf } from '../../src/contract/events/event-families.ts';
import { type Event, parseEvent } from '../../src/contract/events/events.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import type { Run, RunMode } from '../../src/engine/record.ts';
import { runRules } from '../../src/engine/run.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import type { Message } from '../../src/platform/http/message-sender.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet, type LoadedRule, visits } from '../../src/rules/rule.ts';
import {
  type AdmittedEvent,
  createAdmissions,
  createEnrolment,
  createIdentities,
} from '../../src/rules/sources/admission.ts';
import type { Grant } from '../../src/rules/sources/grants.ts';
import { createRuleSource, type RuleSource } from '../../src/rules/sources/rule-source.ts';
import { readGrants } from '../../src/server/settings/config.ts';
import { parseOperatorFile } from '../../src/server/settings/operator-file.ts';
import { type MadeDelivery, makeDeliveries } from './deliveries.ts';
import {
  botAccount,
  createFakeForge,
  type FakeForgeState,
  vault,
  vaultText,
  type Written,
} from './fake-forge.ts';
import { makeClock } from './make-clock.ts';
import {
  hostileWords,
  type MadeRule,
  type RuleTrigger,
  readingElsewhere,
  rulesFor,
  ruleTriggers,
} from './random-rules.ts';

const levels = ['operator', 'organization', 'repository'] as const;
export type Level = (typeof levels)[number];
/** Rule files by level, each with its rules. */
type Files = Readonly<Partial<Record<Level, readonly MadeRule[]>>>;

/** One or more rule files, and an event. */
export type Pair = {
  readonly home: { readonly owner: string; readonly name: string };
  readonly trigger: RuleTrigger;
  readonly files: Files;
  /** Grants in the operator file. */
  readonly grants: readonly Readonly<Record<string, readonly string[]>>[];
  readonly delivery: MadeDelivery | undefined;
  readonly state: FakeForgeState;
};

const homes = [
  ...[
    { owner: 'acme', name: 'demo' },
    { owner: 'acme', name: 'other' },
    { owner: 'Acme', name: 'Big.Demo_2' },
  ],
  ...[
    { owner: 'evil', name: 'demo' },
    { owner: 'ada', name: '-x.y' },
    { owner: 'o', name: '...' },
  ],
];
export const homeId = 4_711;
export const organization = 'acme';
export const secretValue = 'a-value-that-must-not-travel';
const deliveries = makeDeliveries();
const everything = [...actions.map(({ name }) => name), ...argumentGrants];

/** Sources of the rules of a pair, with their grants. */
type Powers = {
  readonly sources: fc.Arbitrary<readonly Level[]>;
  readonly grants: fc.Arbitrary<Pair['grants']>;
};

/** Generates pairs whose first rule uses this action. */
export function pairsOf(lead: string): fc.Arbitrary<Pair> {
  return pairsWith(lead, triggersOf(lead), {
    sources: fc.constantFrom<readonly Level[]>(
      ...([['repository'], ['repository'], ['organization'], ['organization'], ['operator']] as Level[][]),
      [...levels],
      ['organization', 'repository'],
    ),
    grants: fc.array(grant, { maxLength: 3 }),
  });
}

/**
 * Generates pairs in which every inserted text is one that the account reads in a place that rule files may not read.
 * The files have all grants, so no missing grant prevents them from publishing the text.
 */
export function pairsReadingElsewhere(lead: string): fc.Arbitrary<Pair> {
  const granted = { in: ['*/*'], use: [...everything, 'compare', 'open_pull'], branches: ['**'] };
  return pairsWith(lead, triggersOf(lead).map(readingElsewhere), {
    sources: fc.constantFrom<readonly Level[]>(
      ['repository'],
      ['repository'],
      ['organization'],
      ['operator'],
    ),
    grants: fc.constant([granted]),
  });
}

function triggersOf(lead: string): readonly RuleTrigger[] {
  const of = actions.find(({ name }) => name === lead)?.of ?? [];
  return ruleTriggers.filter(({ subject }) => of.includes(subject));
}

function pairsWith(lead: string, triggers: readonly RuleTrigger[], powers: Powers): fc.Arbitrary<Pair> {
  return fc.constantFrom(...triggers).chain((trigger) => {
    const rules = rulesFor(trigger, lead);
    return fc
      .record({
        home: fc.constantFrom(...homes),
        sources: powers.sources,
        repository: rules,
        organization: rules,
        operator: rules,
        grants: powers.grants,
        words: fc.constantFrom(...hostileWords),
        delivery: fc.constantFrom(...deliveriesOf(trigger)),
        taken: fc.integer({ min: 0, max: 19 }).map((one) => one === 0),
        carried: fc.subarray(['bug', 'docs', '../../evil/demo']),
        there: fc.subarray(['evil/demo', '..', '%2e%2e/%2e%2e', 'a#b']),
        hooks: fc.subarray(['https://ci.example.org/', 'https://evil.example/..']),
        reviews: fc.integer({ min: 0, max: 3 }),
        pulls: fc.record({
          merged: lead === 'delete-branch' ? fc.boolean() : fc.constant(lead === 'backport'),
          closed: fc.constant(lead === 'delete-branch'),
          base: fc.constantFrom('main', 'main', 'main2'),
          isFork: fc.constantFrom(false, false, true),
        }),
        version: fc.constantFrom('1.27.0', '1.23.8', '15.0.3+gitea-1.22.0'),
        own: fc.subarray([
          ['r0/k', 'open'],
          ['r0/main', 'closed'],
          ['r1/main', 'open'],
        ] as const),
      })
      .map(
        ({ home, sources, grants, delivery, words, taken, carried, there, ...made }): Pair => ({
          home,
          trigger,
          grants,
          files: Object.fromEntries(sources.map((level) => [level, made[level]])),
          delivery: delivery === undefined ? undefined : about(home, delivery, words),
          state: {
            ids: { [`${home.owner}/${home.name}`.toLowerCase()]: taken ? 666 : homeId, 'acme/.reeve': 12 },
            files: {},
            words,
            defined: ['bug', 'docs', '../../evil/demo', 'evil/demo'],
            carried,
            protected: there,
            hooks: made.hooks,
            reviews: made.reviews,
            pulls: made.pulls,
            version: made.version,
            own: made.own,
          },
        }),
      );
  });
}

const granted = fc.oneof(
  { weight: 2, arbitrary: fc.constant(everything) },
  { weight: 1, arbitrary: fc.subarray(everything, { minLength: 1 }) },
);
const place = fc.constantFrom<Readonly<Record<string, readonly string[]>>>(
  ...[{ repositories: ['*/*'] }, { repositories: ['*/*'] }, { repositories: ['acme/*'] }],
  ...[{ repositories: ['evil/demo', 'ada/-x.y'] }, { repositories: ['acme/missing'] }],
  ...[{ organizations: ['acme'] }, { organizations: ['acme'] }, { organizations: ['evil'] }],
  ...[{ in: ['*/*'] }, { in: ['acme/demo'] }],
);
const branches = fc.constantFrom<readonly string[]>([], ['**'], ['**'], ['main2', 'main']);
const grant = fc.tuple(place, granted, branches).map(([where, names, covered]) => ({
  ...where,
  ...(where.in ? { use: names } : { actions: names }),
  ...(covered.length > 0 ? { branches: covered } : {}),
}));

/** Returns the deliveries that start a rule with this trigger, or undefined as the only item for a schedule. */
function deliveriesOf({ name }: RuleTrigger): readonly (MadeDelivery | undefined)[] {
  const heard = deliveries.filter(({ eventType }) => familyOf(eventType) === name);
  return heard.length === 0 ? [undefined] : heard;
}

/**
 * Returns a delivery about the home repository. Its texts are hostile, and other repositories are named in every field
 * where that is possible.
 */
function about(
  home: Pair['home'],
  { eventType, activity, payload }: MadeDelivery,
  words: string,
): MadeDelivery {
  const repository = { ...repositoryIn(home), id: homeId };
  const elsewhere = { ...repositoryIn({ owner: 'evil', name: 'demo' }), id: 1 };
  const said = (member: unknown, more: object = {}) =>
    typeof member === 'object' && member !== null
      ? { ...member, title: words, body: words, ...more }
      : member;
  const head = { ref: words, sha: 'e'.repeat(40), repo: elsewhere };
  return {
    eventType,
    activity,
    payload: {
      ...payload,
      repository,
      ...(payload.issue === undefined ? {} : { issue: said(payload.issue, { repository: elsewhere }) }),
      ...(payload.pull_request === undefined ? {} : { pull_request: said(payload.pull_request, { head }) }),
      ...(payload.forkee === undefined ? {} : { forkee: elsewhere }),
      ...(payload.page === undefined ? {} : { page: words }),
      ...(payload.ref === undefined ? {} : { ref: `refs/heads/${words}` }),
      ...(payload.release === undefined ? {} : { release: { id: 1, tag_name: words } }),
      organization: { id: 3, name: 'evil', username: 'evil' },
    },
  };
}

function repositoryIn({ owner, name }: Pair['home']) {
  return { name, full_name: `${owner}/${name}`, default_branch: 'main', owner: { id: 3, login: owner } };
}

/** Returns the text of a rule file with these rules. The text is JSON, which is valid YAML. */
function textOf(rules: readonly MadeRule[]): string {
  return JSON.stringify({
    version: 1,
    rules: Object.fromEntries(rules.map(({ rule }, at) => [`r${at}`, rule])),
  });
}

/** Result of a pair: a dry run and a real run, each on a separate forge. */
export type PairResult = {
  readonly dry: PairRun;
  readonly real: PairRun;
  /** Problems reported for the rule files. */
  readonly problems: readonly string[];
};
type PairRun = { readonly run: Run; readonly written: readonly Written[] };

/** Runs a pair from end to end: from the operator file and the files on the forge to the last request. */
export async function runPair(pair: Pair): Promise<PairResult> {
  const { home, files, trigger, delivery } = pair;
  const where = `${home.owner}/${home.name}`.toLowerCase();
  const state: FakeForgeState = {
    ...pair.state,
    files: {
      [`${vault.owner}/${vault.name}/secret`]: vaultText,
      ...(files.repository ? { [`${where}/.reeve.yml`]: textOf(files.repository) } : {}),
      ...(files.organization ? { 'acme/.reeve/rules/all.yml': textOf(files.organization) } : {}),
    },
  };
  const problems: string[] = [];
  const own = loadRuleFile({
    path: 'operator.yml',
    level: 'operator',
    commit: '',
    registry,
    text: textOf(files.operator ?? []),
  });
  problems.push(...own.problems.map(({ message }) => `operator.yml: ${message}`));
  const source = sourceOf(pair, createFakeForge(state), own.rules, problems);
  const claimed = delivery && parseEvent(delivery.eventType, delivery.payload);
  const admitted = claimed && (await admit(claimed, createFakeForge(state)));
  // Even if its identity was not established, the engine receives the event, and the engine's own check must hold.
  const event = admitted ?? claimed;
  const subject = event?.subject ?? subjectOf(trigger, home);
  // A schedule handles the rules of all sources. Here, each rule receives the item, regardless of its owner.
  const rules = admitted
    ? (await source.rulesFor(admitted)).rules
    : claimed
      ? createRuleSet(own.rules)
      : createRuleSet((await source.everyRule()).filter((rule) => visits(rule, subject.kind)));

  const pass = async (mode: RunMode): Promise<PairRun> => {
    const client = createFakeForge(state);
    const messages: Written[] = [];
    const input = {
      id: 'r',
      mode,
      rules,
      client,
      account: { id: botAccount.id },
      now: new Date(0),
      clock,
      trigger: { door: 'webhook', kind: trigger.name, activity: '', at: new Date(0).toISOString() },
      secrets: createNamedSecrets(new Map([['TOKEN', secretValue]]), key),
      messages: async ({ url: to, secret, id, contentType: type, content }: Message) => {
        const body = { to, id, type, content };
        messages.push({ method: 'POST', path: `{secret: ${secret}}`, query: undefined, body });
      },
      facts: createFacts({ client, subject, clock, memory: createFactMemory(clock) }),
    } as const;
    const { run } = event
      ? await runRules({ ...input, event })
      : await runRules({ ...input, item: itemOf(subject) });
    return { run, written: [...client.written, ...messages] };
  };
  return { dry: await pass('plan'), real: await pass('enforce'), problems };
}

const clock = makeClock({ monotonicMs: () => 0 });
const key = new Uint8Array(32);

async function admit(event: Event, client: Client): Promise<AdmittedEvent | undefined> {
  const served = createEnrolment({ client, login: async () => botAccount.login, listed: ['*/*'], clock });
  const identities = createIdentities({ client, clock });
  const admissions = createAdmissions({ identities, served, coverageOf: () => true });
  try {
    const admission = await admissions.admit({}, event);
    return admission.state === 'admitted' ? admission.event : undefined;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'delivery-refused') return undefined;
    throw error;
  }
}

function sourceOf(
  pair: Pair,
  client: Client,
  operatorRules: readonly LoadedRule[],
  problems: string[],
): RuleSource {
  const kept = new Map<string, unknown>();
  return createRuleSource({
    client,
    operatorRules,
    clock,
    grants: grantsOf(pair),
    organizations: [{ name: organization, rules: `${organization}/.reeve` }],
    pins: {
      recall: async (name) => kept.get(name),
      remember: async (name, value) => void kept.set(name, value),
      async revise(name, edit) {
        kept.set(name, edit(kept.get(name)));
        return kept.get(name);
      },
    },
    onRead: ({ files }) => problems.push(...files.flatMap((file) => file.problems)),
  });
}

function grantsOf({ grants }: Pair): readonly Grant[] {
  const read = parseOperatorFile('operator.yml', JSON.stringify({ version: 1, grants }));
  if (read.file === undefined) throw new Error(read.problems.join('\n'));
  return readGrants(read.file).grants;
}

function subjectOf({ subject: kind }: RuleTrigger, { owner, name }: Pair['home']): Subject {
  if (kind === 'organization') return { kind, organization: owner };
  const repository = { id: homeId, owner, name };
  const inside = {
    issue: { index: 7 },
    pull_request: { index: 7 },
    branch: { ref: 'work' },
    notification: { thread: 5 },
  };
  return { kind, repository, ...(kind in inside ? inside[kind as keyof typeof inside] : {}) };
}

function itemOf(subject: Subject): Readonly<Record<string, unknown>> {
  if (subject.kind === 'organization') return { organization: { id: 3, name: subject.organization } };
  return subject.kind === 'notification' ? { notification: { id: 5, unread: true } } : {};
}
