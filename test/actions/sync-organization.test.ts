import { describe, expect, it } from 'vitest';
import type { DoneChange } from '../../src/actions/inverses.ts';
import { syncOrganization } from '../../src/actions/sync-organization.ts';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { json, startBareServer } from '../support/bare-server.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const live = {
  id: 3,
  name: 'acme',
  full_name: 'Acme',
  email: '',
  description: '',
  website: '',
  location: '',
  visibility: 'public',
  repo_admin_change_team_access: false,
};
const subject = { kind: 'organization', organization: 'acme' } as const;
const factsOf = (organization: unknown) => makeFacts({ organization }, { subject });

type Arguments = Parameters<typeof syncOrganization.plan>[0];
const planned = (given: Arguments, organization: unknown = live) =>
  syncOrganization.plan(given, factsOf(organization), makeContext());

describe('the plan', () => {
  const cases: readonly [string, Arguments, readonly unknown[], unknown?][] = [
    [
      'changes what differs, with the value before',
      { visibility: 'private' },
      [{ target: 'organization:visibility', before: 'public', after: 'private', joins: 'settings of acme' }],
    ],
    [
      'marks what is already in the desired state',
      { full_name: 'Acme' },
      [{ target: 'organization:full_name', already: true }],
    ],
    [
      'requires what older forges lack if it makes the organization public',
      { visibility: 'public' },
      [{ target: 'organization:visibility', requires: ['organization_public_again'] }],
      { ...live, visibility: 'limited' },
    ],
    ['requires nothing if it is already public', { visibility: 'public' }, [{ already: true }]],
    ['clears a text', { full_name: '' }, [{ value: '', before: 'Acme' }]],
    [
      'accepts false as a setting',
      { repo_admin_change_team_access: false },
      [{ target: 'organization:repo_admin_change_team_access', already: true }],
    ],
  ];

  it.each(cases)('%s', async (_title, given, expected, organization = live) => {
    const changes = await planned(given, organization);

    expect(changes).toMatchObject(expected);
    expect(changes).toHaveLength(expected.length);
  });

  it('is one PATCH with the fields that differ, and those that a forge clears if omitted', async () => {
    const changes = await planned({ visibility: 'limited', full_name: 'Acme', location: 'Moon' });
    const open = changes.filter(({ already }) => !already);

    expect(await syncOrganization.join?.(open, factsOf(live))).toEqual({
      params: { org: 'acme' },
      // Fields that a forge may clear if omitted are sent unchanged.
      body: { full_name: 'Acme', description: '', website: '', visibility: 'limited', location: 'Moon' },
    });
  });

  it('is about the owner if the subject is a repository', async () => {
    const facts = makeFacts({ organization: live }, { subject: { kind: 'repository' } });
    const [change] = await syncOrganization.plan({ location: 'Moon' }, facts, makeContext());

    expect(change?.input.params).toEqual({ org: 'acme' });
  });

  it('fails if the owner is a person', async () => {
    await expect(planned({ location: 'Moon' }, new Error('no organization'))).rejects.toThrow(
      'no organization',
    );
  });
});

it('sync-organization detects a setting that the forge changed to something else', async () => {
  const [change] = await planned({ website: 'https://acme.example.org' });
  if (!change) throw new Error('no change');

  expect(
    syncOrganization.confirm?.(change, { ...live, website: 'https://acme.example.org' }),
  ).toBeUndefined();
  expect(syncOrganization.confirm?.(change, live)).toContain('website');
});

describe('the arguments', () => {
  const refused: readonly [string, unknown][] = [
    ['no setting', {}],
    ['an unknown visibility', { visibility: 'secret' }],
    ['a website that is not a web URL', { website: 'javascript:alert(1)' }],
    ['a text that is too long', { location: 'x'.repeat(51) }],
    ['an invalid email address', { email: 'acme' }],
    ['an unknown setting', { name: 'other' }],
  ];

  it.each(refused)('are refused with %s', (_title, given) => {
    expect(syncOrganization.arguments.safeParse(given).success).toBe(false);
  });
});

async function takenBack(change: Pick<DoneChange, 'target' | 'before' | 'after'>, version: string) {
  const member = change.target.slice('organization:'.length);
  const server = await startBareServer(({ path }, response) =>
    json(response, path.endsWith('/version') ? { version } : { ...live, [member]: change.after }),
  );
  try {
    const operation = operations.editOrganization.id;
    const done = { ...change, operation, input: { params: { org: 'acme' }, body: {} } };
    return (await syncOrganization.inverses[operation]?.(done, createClient({ url: server.url })))?.undo();
  } finally {
    await server.close();
  }
}

it('an undo of sync-organization includes the fields that a forge clears if omitted', async () => {
  const change = { target: 'organization:location', before: 'Earth', after: 'Moon' };

  expect(await takenBack(change, '1.27.0')).toMatchObject({
    input: { body: { full_name: 'Acme', description: '', website: '', location: 'Earth' } },
  });
});

it('an undo of sync-organization makes nothing public again on a forge that does not support it', async () => {
  const change = { target: 'organization:visibility', before: 'public', after: 'limited' };

  expect(await takenBack(change, '15.0.3+gitea-1.22.0')).toContain(
    'does not support making an organization public',
  );
  expect(await takenBack(change, '1.27.0')).toMatchObject({ input: { body: { visibility: 'public' } } });
});
