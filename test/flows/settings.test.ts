import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import { capabilitiesOf } from '../../src/client/capabilities.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';
import { acme, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

const demo = { owner: acme, repo: 'demo' } as const;
const org = { org: acme } as const;
const values = new Map<string, string>();
let version = '1.27.0';
let harness: SweepHarness;

beforeEach(async () => {
  version = '1.27.0';
  values.clear();
  const secrets = createNamedSecrets(values, new Uint8Array(32));
  harness = await startSweepHarness({
    settings: { secrets, capabilities: async () => capabilitiesOf(version) },
  });
});
afterEach(() => harness.close());

/** Runs the next slot, and returns its runs. */
async function sweep(): Promise<readonly Run[]> {
  const before = harness.runs.length;
  harness.advance(60);
  await harness.tick();
  return harness.runs.slice(before);
}

async function inForce(each: string, step: string): Promise<void> {
  harness.setRules(`version: 1
rules:
  keep:
    in: ${each === 'organization' ? `${acme}/*` : `${acme}/demo`}
    on: { schedule: "0 * * * *" }
    each: ${each}
    steps:
${step.replace(/^/gm, '      ')}
`);
  await harness.tick();
}

const writes = () =>
  harness.proxy.passed
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
const outcomes = (runs: readonly Run[]) =>
  runs.flatMap((run) => run.outcomes.map(({ status, error }) => error ?? status));

it('sync-organization repairs drifted settings, and keeps settings that the rule does not name', async () => {
  await harness.bot.call(operations.editOrganization, { params: org, body: { description: 'By hand' } });
  await inForce('organization', '- uses: sync-organization\n  with: { visibility: limited, location: Moon }');

  expect(outcomes(await sweep())).toEqual(['applied', 'applied']);
  expect(await harness.bot.call(operations.getOrganization, { params: org })).toMatchObject({
    visibility: 'limited',
    location: 'Moon',
    description: 'By hand',
  });
  expect(writes()).toEqual([`PATCH /api/v1/orgs/${acme}`]);

  expect(outcomes(await sweep())).toEqual([]);
  await harness.bot.call(operations.editOrganization, { params: org, body: { location: 'Mars' } });
  const mended = await sweep();
  expect(mended.flatMap(({ changes }) => changes)).toMatchObject([
    { target: 'organization:location', before: 'Mars', after: 'Moon' },
  ]);
  expect(writes()).toHaveLength(2);
});

it('sync-labels renames a label with its issues, keeps the archived flag, and prunes other labels', async () => {
  const make = (name: string, more: object = {}) =>
    harness.bot.call(operations.createLabel, { params: demo, body: { name, color: 'ff0000', ...more } });
  const bug = await make('bug');
  await make('old');
  await make('frozen', { is_archived: true });
  const { number } = await harness.ada.call(operations.createIssue, {
    params: demo,
    body: { title: 'Broken' },
  });
  await harness.bot.call(operations.addIssueLabels, {
    params: { ...demo, index: number },
    body: { labels: [bug.id] },
  });
  await inForce(
    'repository',
    `- uses: sync-labels
  with:
    prune: true
    labels:
      - { name: kind/bug, color: "#0f0", exclusive: true, previously: [bug] }
      - { name: kind/feature, color: a2eeef }
      - { name: frozen, color: 00ff00 }`,
  );

  expect(outcomes(await sweep())).toEqual(['applied', 'applied', 'applied', 'applied']);
  const labels = await harness.bot.call(operations.listLabels, { params: demo });
  expect(labels).toMatchObject([
    { name: 'frozen', color: '00ff00', is_archived: true },
    { id: bug.id, name: 'kind/bug', color: '00ff00', exclusive: true },
    { name: 'kind/feature', color: 'a2eeef' },
  ]);
  expect(labels).toHaveLength(3);
  expect(
    await harness.bot.call(operations.listIssueLabels, { params: { ...demo, index: number } }),
  ).toMatchObject([{ name: 'kind/bug' }]);

  const before = writes().length;
  expect(outcomes(await sweep())).toEqual([]);
  expect(writes()).toHaveLength(before);
});

it('sync-labels maintains the labels of an organization', async () => {
  await inForce(
    'organization',
    '- uses: sync-labels\n  with: { labels: [{ name: shared, color: "0000ff" }] }',
  );

  expect(outcomes(await sweep())).toEqual(['applied']);
  expect(await harness.bot.call(operations.listOrganizationLabels, { params: org })).toMatchObject([
    { name: 'shared', color: '0000ff' },
  ]);
  expect(outcomes(await sweep())).toEqual([]);
});

it('a setting that the forge does not support is refused, and no write is sent for it', async () => {
  version = '1.25.4';
  await inForce(
    'organization',
    '- uses: sync-hooks\n  with: { hooks: [{ url: "https://ci.example.org/", name: ci, events: [push] }] }',
  );
  const [run] = await sweep();

  expect(run?.refused.map(({ why }) => why)).toEqual(['this forge (1.25.4) does not support names of hooks']);
  expect(writes()).toEqual([]);
});

it('sync-hooks creates a hook with secrets by name, keeps it, and recreates it when a secret changes', async () => {
  const receiver: HookReceiver = await startReceiver();
  try {
    values.set('HEADER', 'Bearer first-header');
    values.set('SIGN', 'first-signature');
    await inForce(
      'repository',
      `- uses: sync-hooks
  with:
    hooks:
      - { url: "${receiver.url}", events: [issues, push], authorization: { secret: HEADER }, hmac: { secret: SIGN } }`,
    );
    const arrived = async () => {
      const count = receiver.received.length;
      await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'Hear me' } });
      await vi.waitFor(() => expect(receiver.types().slice(count)).toContain('issues'), 240_000);
      const delivery = receiver.received.at(receiver.types().lastIndexOf('issues'));
      const isSigned = (secret: string) =>
        delivery?.headers['x-gitea-signature'] ===
        createHmac('sha256', secret)
          .update(delivery?.body ?? '')
          .digest('hex');
      return { authorization: delivery?.headers.authorization, isSigned };
    };

    expect(outcomes(await sweep())).toEqual(['applied']);
    const [made] = await harness.bot.call(operations.listHooks, { params: demo });
    const first = await arrived();
    expect(first.authorization).toBe('Bearer first-header');
    expect(first.isSigned('first-signature')).toBe(true);
    expect(outcomes(await sweep())).toEqual([]);

    await harness.bot.call(operations.editHook, {
      params: { ...demo, id: made?.id ?? 0 },
      body: { events: ['push'], authorization_header: 'Bearer by-hand' },
    });
    expect(outcomes(await sweep())).toEqual(['applied']);
    expect((await arrived()).authorization).toBe('Bearer first-header');

    values.set('HEADER', 'Bearer second-header');
    expect(outcomes(await sweep())).toEqual(['applied']);
    expect((await arrived()).authorization).toBe('Bearer second-header');

    values.set('SIGN', 'second-signature');
    const rotation = await sweep();
    expect(rotation.flatMap(({ changes }) => changes.map(({ operation }) => operation))).toEqual([
      'hook.create',
      'hook.test',
      'hook.delete',
    ]);
    expect(outcomes(rotation)).toEqual(['applied', 'applied', 'applied']);
    const hooks = await harness.bot.call(operations.listHooks, { params: demo });
    expect(hooks.map(({ id }) => id)).not.toContain(made?.id);
    expect(hooks).toHaveLength(1);
    const last = await arrived();
    expect(last.authorization).toBe('Bearer second-header');
    expect(last.isSigned('second-signature')).toBe(true);
    expect(outcomes(await sweep())).toEqual([]);

    const { items } = await harness.store.listRuns({ limit: 500 });
    for (const secret of ['first-header', 'second-header', 'first-signature', 'second-signature']) {
      expect(JSON.stringify([harness.runs, items])).not.toContain(secret);
    }
  } finally {
    await receiver.close();
  }
});
