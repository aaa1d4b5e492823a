import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import { runRules } from '../../src/engine/run.ts';
import { createRuleSet, type LoadedRule } from '../../src/rules/rule.ts';
import { createGrants, type Grant } from '../../src/rules/sources/grants.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainRule } from '../support/plain-rule.ts';
import { makeRecordingClient } from '../support/recording-client.ts';

const home = { id: 1, owner: 'acme', name: 'demo' };
const event = parseEvent('issues', {
  action: 'opened',
  number: 1,
  issue: { number: 1 },
  repository: { id: 1, full_name: 'acme/demo', owner: { id: 2 } },
  sender: { id: 9, login: 'ada' },
});

/** Creates an action that needs a grant and changes one branch. */
function branching(more: Partial<Change>): Action {
  return {
    name: 'branching',
    meaning: '',
    example: '',
    arguments: z.unknown(),
    of: ['issue'],
    needs: { access: 'writer', scopes: [] },
    granted: false,
    visibleTo: 'administrators',
    inverses: {},
    adoption: undefined,
    describesState: true,
    facts: () => [],
    plan: async () => [
      {
        action: 'branching',
        operation: operations.createIssue.id,
        input: { params: { owner: 'acme', repo: 'demo' } },
        target: 't',
        value: true,
        before: false,
        after: true,
        reason: '',
        ...more,
      },
    ],
  };
}

async function passes(
  grant: Partial<Grant>,
  change: Partial<Change>,
  {
    level = 'repository',
    defaultBranch = 'main',
  }: { level?: LoadedRule['level']; defaultBranch?: string } = {},
) {
  const rows: readonly Grant[] = [{ repositories: [], organizations: [], names: ['branching'], ...grant }];
  const grants = createGrants(rows);
  const rule = plainRule({
    id: 'x#x',
    name: 'x',
    source: 'acme/demo/.reeve.yml',
    level,
    home: level === 'organization' ? { organization: 'acme' } : { repositoryId: 1 },
    on: [{ family: 'issues' }],
    byGrant: ['branching'],
    grants: level === 'organization' ? grants.ofOrganization('acme') : grants.ofRepository(home),
    steps: [
      {
        name: '1',
        action: branching(change),
        line: 1,
        arguments: {
          written: {},
          facts: [],
          reads: [],
          resolve: () => ({ findings: [], ok: true, value: {} }),
        },
      },
    ],
  });
  const client = makeRecordingClient();
  const facts = {
    repository_id: { id: 1 },
    ...(defaultBranch === '' ? {} : { repository: { id: 1, name: 'demo', default_branch: defaultBranch } }),
  };
  const { run } = await runRules({
    id: 'r',
    mode: 'enforce',
    trigger: { door: 'webhook', kind: 'issues', activity: 'opened', at: '' },
    rules: createRuleSet([rule]),
    event,
    facts: makeFacts(facts, { subject: { kind: 'issue', index: 1, repository: home } }),
    client,
    now: new Date(0),
    clock: makeClock({ monotonicMs: () => 0 }),
  });
  const why = run.refused[0]?.why ?? run.rules.find(({ verdict }) => verdict === 'skipped')?.reason;
  return client.sent.length > 0 ? 'sent' : why;
}

const own = { repositories: ['acme/*'] };

describe('a grant without branches', () => {
  it('covers only the default branch, in both forms', async () => {
    expect(await passes(own, { branch: 'main' })).toBe('sent');
    expect(await passes({ in: ['acme/*'] }, { branch: 'main' })).toBe('sent');
    expect(await passes(own, { branch: 'release/1' })).toContain(
      'covers only the default branch, not release/1',
    );
    expect(await passes({ in: ['acme/*'] }, { branch: 'release/1' })).toContain('only the default branch');
    expect(await passes(own, { branch: 'main' }, { defaultBranch: 'trunk' })).toContain(
      'only the default branch',
    );
  });

  it('covers no branch if the default branch cannot be read', async () => {
    expect(await passes(own, { branch: 'main' }, { defaultBranch: '' })).toContain('is not known');
  });

  it('does not restrict changes that concern no branch', async () => {
    expect(await passes(own, {})).toBe('sent');
  });
});

describe('a grant with branches', () => {
  it('covers those branches, and the default branch only if it is one of them', async () => {
    const grant = { ...own, branches: ['release/*'] };

    expect(await passes(grant, { branch: 'release/1' })).toBe('sent');
    expect(await passes(grant, { branch: 'main' })).toContain('does not cover the branch main');
  });
});

it('a grant covers branches of forks only if it says so', async () => {
  expect(await passes(own, { branch: 'main', fork: true })).toContain('forks: true');
  expect(await passes({ ...own, forks: true }, { branch: 'main', fork: true })).toBe('sent');
});

it('a change may also need the grant of another action', async () => {
  expect(await passes(own, { alsoNeeds: 'removing' })).toContain('does not grant removing');
  expect(await passes({ ...own, names: ['branching', 'removing'] }, { alsoNeeds: 'removing' })).toBe('sent');
});

it('a rule of an organization runs and writes only where its grants apply', async () => {
  const organization = { level: 'organization' } as const;

  expect(await passes({ in: ['acme/demo'] }, {}, organization)).toBe('sent');
  expect(await passes({ in: ['acme/other'] }, {}, organization)).toBe('grant');
  expect(await passes({ organizations: ['acme'] }, {}, organization)).toBe('sent');
  const elsewhere = { input: { params: { owner: 'acme', repo: 'other' } } };
  expect(await passes({ in: ['acme/demo'] }, elsewhere, organization)).toContain('for acme/other');
});
