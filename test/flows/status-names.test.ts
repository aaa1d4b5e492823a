import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { at, type Harness } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';

let harness: Harness;
afterEach(() => harness.close());

const operator = `version: 1
rules:
  security:
    on: { pull_request: [opened, edited, reopened, synchronized] }
    steps: [{ uses: set-status, with: { state: pending, when: 'pull_request.title != "safe"' } }]
`;

async function statusesOf(branch: string): Promise<Readonly<Record<string, string>>> {
  await harness.idle();
  const { statuses } = await harness.root.call(operations.getCombinedStatus, {
    params: { ...at, ref: branch },
  });
  return Object.fromEntries(
    (statuses ?? []).map(({ context, status, description }) => [context, `${status} ${description}`.trim()]),
  );
}

it("a repository file writes beside the operator's status with the same name, and never over it", async () => {
  harness = await startOperatorHarness(operator);
  await harness.setRules(`version: 1
rules:
  security:
    on: { pull_request: [opened, edited, reopened, synchronized] }
    steps: [{ uses: set-status }]
`);
  await harness.openPull('h', { 'b.md': 'b' });

  expect(await statusesOf('h')).toMatchObject({
    'reeve/security': 'pending',
    'reeve-repo/security': 'success',
  });

  await harness.setRules(`version: 1
rules:
  mine:
    on: { pull_request: [opened, edited, reopened, synchronized] }
    steps: [{ uses: set-status, with: { context: reeve/security } }]
`);
  const params = { ...at, index: 1 };
  await harness.ada.call(operations.editPull, { params, body: { title: 'Another title' } });

  expect(await statusesOf('h')).toMatchObject({ 'reeve/security': 'pending' });
  const reported = (await statusesOf('main'))['reeve/rules'];
  expect(reported).toContain('reeve-repo/security');
});

it('a status of an earlier version, in which all levels shared one name, is ended', async () => {
  harness = await startOperatorHarness(operator);
  await harness.setRules(`version: 1
rules:
  tidy:
    on: { pull_request: [edited] }
    steps: [{ uses: set-status }]
  security:
    on: { pull_request: [edited] }
    steps: [{ uses: set-status }]
`);
  const { head } = await harness.openPull('h', { 'b.md': 'b' });
  const params = { ...at, sha: head?.sha ?? '' };
  for (const context of ['reeve/tidy', 'reeve/security']) {
    await harness.bot.call(operations.createStatus, { params, body: { context, state: 'success' } });
  }

  await harness.ada.call(operations.editPull, { params: { ...at, index: 1 }, body: { title: 'safe' } });

  expect(await statusesOf('h')).toMatchObject({
    'reeve/tidy': 'error This status is named reeve-repo/tidy now. Require that one.',
    'reeve-repo/tidy': 'success',
    'reeve/security': 'success',
    'reeve-repo/security': 'success',
  });
});
