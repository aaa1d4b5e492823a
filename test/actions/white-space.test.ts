import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Action } from '../../src/actions/action.ts';
import { actions } from '../../src/actions/actions.ts';
import type { Change } from '../../src/actions/change.ts';
import { createActionMemory } from '../../src/actions/memory.ts';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { operations } from '../../src/contract/operations.ts';
import { applyPlan } from '../../src/engine/apply.ts';
import { makePlan } from '../../src/engine/plan.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { contractForges } from '../support/contract-forge.ts';
import { makeContext } from '../support/make-context.ts';
import { plainRule } from '../support/plain-rule.ts';
import { type PrivilegeSetup, startPrivilegeForge } from '../support/privilege-setup.ts';
import { scenarios } from './scenarios.ts';

/** Adds spaces, tabs, no-break spaces and line ends, which forges trim. */
const padded = (text: string): string => ` \t\u00a0\n${text}\n\u00a0\t `;
type Path = readonly (string | number)[];
type Arguments = Readonly<Record<string, unknown>>;

/** Texts that the scenario of an action does not contain. */
const more: Readonly<Record<string, (setup: PrivilegeSetup) => Arguments>> = {
  'set-labels': () => ({ remove: ['kept'], create: { color: '00aabb', description: 'new' } }),
  'set-issue': ({ ada, owner }) => ({
    title: 'Better work',
    assignees: { add: [ada.name], remove: [owner.name] },
  }),
  'sync-repository': ({ at }) => ({ website: 'https://acme.example.org', name: at.repo }),
  'sync-organization': () => ({
    full_name: 'Acme',
    email: 'acme@example.org',
    description: 'makes things',
    website: 'https://acme.example.org',
  }),
  comment: () => ({ otherwise: 'Bye.' }),
  'set-status': () => ({
    target_url: 'https://ci.example.org/1',
    otherwise: { state: 'failure', description: 'Not yet.', target_url: 'https://ci.example.org/2' },
  }),
  'report-issue': ({ at }) => ({ repository: `${at.owner}/${at.repo}` }),
  'open-pull-request': ({ ada }) => ({
    labels: ['kept'],
    reviewers: [ada.name],
    team_reviewers: ['release'],
  }),
  'commit-files': () => ({ branch: 'main', message: 'Keep files' }),
  'sync-branch-protections': ({ ada: { name }, owner }) => ({
    protections: [
      {
        rule_name: 'main',
        enable_status_check: true,
        status_check_contexts: ['ci/*'],
        protected_file_patterns: 'src/**;docs/**',
        unprotected_file_patterns: 'docs/**',
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: [name],
        push_whitelist_teams: ['Owners'],
        enable_force_push: true,
        enable_force_push_allowlist: true,
        force_push_allowlist_usernames: [name],
        force_push_allowlist_teams: ['Owners'],
        enable_merge_whitelist: true,
        merge_whitelist_usernames: [name, owner.name],
        merge_whitelist_teams: ['Owners'],
        enable_bypass_allowlist: true,
        bypass_allowlist_usernames: [name],
        bypass_allowlist_teams: ['Owners'],
        enable_approvals_whitelist: true,
        approvals_whitelist_username: [name],
        approvals_whitelist_teams: ['Owners'],
      },
    ],
  }),
  'protect-tags': ({ ada }) => ({
    tags: [{ name_pattern: 'v*', whitelist_usernames: [ada.name], whitelist_teams: ['Owners'] }],
  }),
  'sync-labels': () => ({
    labels: [{ name: 'kind/bug', color: '00ff00', description: 'New', previously: ['bug'] }],
  }),
  'sync-hooks': () => ({
    hooks: [
      {
        url: 'https://ci.example.org/hook',
        events: ['push'],
        active: false,
        name: 'ci',
        branch_filter: 'main',
        authorization: 'none',
      },
    ],
  }),
  'queue-merge': () => ({ title: 'Topic', message: 'Text' }),
  review: () => ({ verdict: 'request-changes', text: 'Not like this.', message: 'Text' }),
  backport: ({ ada }) => ({ labels: ['kept'], title: 'Topic', assignees: [ada.name] }),
};

/** Text arguments that are not written: names of secrets and pages, globs, prefixes and instants. */
const notWritten = [
  'set-labels only',
  'set-labels prefix',
  'set-issue only',
  'sync-hooks hooks.authorization.secret',
  'sync-hooks hooks.hmac.secret',
  'mark-notifications until',
  'comment wiki',
  'dismiss-stale-reviews ignore-paths',
  'backport to.label',
  'backport to.only',
];

/** Returns the paths of all texts in a value. */
function textsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    textsIn(one, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function withText(value: unknown, [key, ...rest]: Path, change: (text: string) => string): unknown {
  if (key === undefined) return change(String(value));
  const copy: Record<string | number, unknown> = Array.isArray(value)
    ? ([...value] as never)
    : { ...(value as Arguments) };
  copy[key] = withText(copy[key], rest, change);
  return copy;
}

/** Returns a value without the members at these places, written as in `Action.requires`. */
function without(value: unknown, places: readonly string[], at = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, places, at));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([key, one]) => {
    const place = at === '' ? key : `${at}.${key}`;
    return places.includes(place) ? [] : [[key, without(one, places, place)] as const];
  });
  return Object.fromEntries(members);
}

/** Returns the paths of texts that a schema accepts, without conditions and without enumerated choices. */
function textsOf(schema: unknown, path = ''): readonly string[] {
  const one = schema as Record<string, unknown>;
  const isExpression = one.holds === 'condition' || String(one.holds).startsWith('command-');
  if (isExpression || one.enum || one.const !== undefined) return [];
  const ways = [...((one.anyOf as unknown[]) ?? []), ...((one.allOf as unknown[]) ?? [])];
  if (ways.length > 0) return [...new Set(ways.flatMap((way) => textsOf(way, path)))];
  if (one.type === 'string') return [path];
  if (one.type === 'array') return textsOf(one.items, path);
  const members = Object.entries((one.properties as Arguments) ?? {});
  return members.flatMap(([name, member]) => textsOf(member, path === '' ? name : `${path}.${name}`));
}

const kept = actions.filter(({ describesState }) => describesState);
const rule = plainRule();
const secrets = createNamedSecrets(new Map(), new Uint8Array(32));

describe.each(contractForges)('white space at both ends of a text on $name', ({ start }) => {
  let privilegeForge: Awaited<ReturnType<typeof startPrivilegeForge>>;
  beforeAll(async () => {
    privilegeForge = await startPrivilegeForge(start);
  });
  afterAll(() => privilegeForge.close());

  describe.each(kept.map((action) => [action.name, action as Action] as const))('%s', (name, action) => {
    const scenario = scenarios[name];
    let setup: PrivilegeSetup;
    let subject: Subject;
    let given: Arguments;
    /** Arguments that this forge does not support. Their changes are refused before they are sent. */
    let lacking: readonly string[];
    beforeAll(async () => {
      if (scenario === undefined) throw new Error(`${name} has no scenario`);
      setup = await privilegeForge.make(action.needs);
      await scenario.arrange?.(setup);
      if (name === 'open-pull-request') await scenarios['request-reviewers']?.arrange?.(setup);
      subject = typeof scenario.on === 'function' ? await scenario.on(setup) : setup.subjects[scenario.on];
      const { has } = await setup.holder.client.capabilities();
      const needs = Object.entries(action.requires ?? {});
      lacking = needs.flatMap(([place, needed]) => (has[needed] ? [] : [place]));
      const all = { ...(scenario.arguments(setup) as Arguments), ...more[name]?.(setup) };
      given = without(all, lacking) as Arguments;
    });

    const memory = createActionMemory();
    const factsOf = () =>
      createFacts({
        client: setup.holder.client,
        subject,
        memory: createFactMemory(systemClock),
        clock: systemClock,
      });
    const context = () => makeContext({ account: { id: setup.holder.id }, memory, secrets });
    const plan = (written: unknown): Promise<readonly Change[]> => action.plan(written, factsOf(), context());

    /** Returns the outcome of these arguments, applied once and planned again. */
    async function resultOf(written: unknown): Promise<string> {
      const read = action.arguments.safeParse(written);
      if (!read.success || (action.examine?.(read.data) ?? []).length > 0) return 'refused at load';
      const first = await plan(read.data).catch(String);
      if (typeof first === 'string') return first;
      const step = { rule, step: '1', action, arguments: read.data, context: context() };
      const { changes } = makePlan([{ ...step, changes: first }]);
      const { client } = setup.holder;
      const { outcomes } = await applyPlan({
        changes,
        facts: factsOf(),
        client,
        secrets,
        send: async () => {},
      });
      const failed = outcomes.flatMap(({ status, error }) => (status === 'applied' ? [] : [error ?? status]));
      const again = (await plan(read.data)).filter(({ already }) => !already);
      return [...failed, ...again.map((change) => `again: ${JSON.stringify(change)}`)].join() || 'settled';
    }

    /** Closes the pull requests, so that each text is part of an opening, which reads labels and reviewers. */
    async function closePulls(): Promise<void> {
      const { client } = setup.owner;
      const open = await client.call(operations.listPulls, { params: setup.at, query: { state: 'open' } });
      for (const { number, head } of open) {
        const params = { ...setup.at, index: number };
        if (head?.ref === 'develop')
          await client.call(operations.editPull, { params, body: { state: 'closed' } });
      }
    }

    it('is refused at load, or writes nothing the second time', async () => {
      const cases = given.otherwise ? [true, false].map((when) => ({ ...given, when })) : [given];
      const results: (readonly [string, string])[] = [];
      for (const one of cases) {
        for (const path of textsIn(one)) {
          if (name === 'open-pull-request') await closePulls();
          results.push([path.join('.'), await resultOf(withText(one, path, padded))]);
        }
      }

      // On a forge, a label name may contain white space, so the padded name refers to another label.
      const isOther = ([path, result]: readonly [string, string]): boolean =>
        /label/.test(path) && /there is no label/.test(result);
      const wrong = results.filter((one) => !/^(settled|refused at load)$/.test(one[1]) && !isOther(one));
      expect(wrong).toEqual([]);
    });

    it('is tested for every text that the action accepts', () => {
      const tried = new Set(
        textsIn(given).map((path) => path.filter((key) => typeof key === 'string').join('.')),
      );
      const schema = z.toJSONSchema(action.arguments, { unrepresentable: 'any', io: 'input' });
      const missing = textsOf(schema).filter(
        (path) => !tried.has(path) && !lacking.includes(path) && !notWritten.includes(`${name} ${path}`),
      );

      expect(missing).toEqual([]);
    });
  });
});
