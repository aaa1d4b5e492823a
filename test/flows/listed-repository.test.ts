import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createRuleSource } from '../../src/rules/sources/rule-source.ts';
import { readScheduleList } from '../../src/work/sweeps/schedule/schedule.ts';
import { everyServed } from '../../src/work/sweeps/targets/repositories.ts';
import { reeve } from '../support/command.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, people, startHarness } from '../support/harness.ts';
import { addFile } from '../support/privilege-setup.ts';

const rules = `version: 1
rules:
  triage:
    on: issues.opened
    steps: [{ uses: set-labels, with: { add: [kept] } }]
  nightly:
    on: { schedule: "17 3 * * *" }
    each: { issue: { state: open } }
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
`;

const listed = { ...at, repo: 'listed' };
let harness: Harness;
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  harness = await startHarness({ hook: 'none', server: { repositories: [`${at.owner}/listed`] } });
  const { root } = harness;
  await root.call(operations.createOrganizationRepository, {
    params: { org: at.owner },
    body: { name: listed.repo, auto_init: true, default_branch: 'main' },
  });
  const params = { ...listed, collaborator: people.bot };
  await root.call(operations.putCollaborator, { params, body: { permission: 'write' } });
  for (const name of ['kept', 'area/docs'])
    await root.call(operations.createLabel, { params: listed, body: { name, color: 'ff0000' } });
  await addFile(root, listed, 'main', '.reeve.yml', rules);
  const operatorFile = join(harness.data, 'operator.yml');
  await writeFile(operatorFile, `version: 1\nrepositories: [${at.owner}/listed]\n`);
  environment = { ...harness.environment, REEVE_CONFIG: operatorFile };
});
afterAll(() => harness?.close());

/** A repository that is under `repositories` in the operator file, and that the account has not starred. */
describe('the own rules of a listed repository', () => {
  it('run at their schedule', async () => {
    await harness.restart();
    const scheduled = async () => (await readScheduleList(harness.server.store)).map(({ id }) => id);

    await expect.poll(scheduled, { timeout: timeoutMs }).toEqual([expect.stringContaining('nightly')]);
  });

  it('can be swept by hand and applied to what is open', async () => {
    // Catching up after the start would find an earlier issue.
    await harness.idle();
    await harness.ada.call(operations.createIssue, { params: listed, body: { title: 'one' } });
    const swept = await reeve(['sweep', 'nightly', '--json'], { environment });
    expect([swept.status, JSON.parse(swept.out)]).toMatchObject([0, { items: 1, changes: 1 }]);

    const planned = await reeve(['apply', 'triage', '--open', '--plan'], { environment });
    expect([planned.status, planned.out]).toEqual([0, expect.stringMatching(/triage +1 +1 +1 /)]);
    const applied = await reeve(['apply', 'triage', '--open', '--yes', '--json'], { environment });
    expect([applied.status, JSON.parse(applied.out)]).toMatchObject([0, { items: 1, changes: 1 }]);
    const labels = await harness.ada.call(operations.listIssueLabels, { params: { ...listed, index: 1 } });
    expect(labels.map(({ name }) => name).toSorted()).toEqual(['area/docs', 'kept']);
  });

  it('are named where no rule has the given name', async () => {
    const { status, error } = await reeve(['apply', 'never', '--open', '--plan'], { environment });

    expect(status).toBe(2);
    expect(error).toContain('no rule is named "never"; there are\n');
    expect(error).toMatch(/\.reeve\.yml#triage/);
  });

  it('are not read again while the list of the forge shows no change, for a day at most', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, monotonicMs: () => aheadMs };
    const client = createClient({ url: harness.proxy.url, credentials: { token: harness.token } });
    const names = [`${at.owner}/${at.repo}`];
    const source = createRuleSource({
      client,
      everyServed: () => everyServed(client, { login: async () => people.bot, listed: names }),
      operatorRules: [],
      clock,
    });
    const read = async () => {
      aheadMs += 3_600_000;
      const from = harness.proxy.passed.length;
      const found = (await source.everyRule()).map(({ name }) => name);
      const paths = harness.proxy.passed.slice(from).map(({ path }) => path);
      return { found, isRead: paths.some((path) => path.includes('/contents')) };
    };

    expect(await read()).toEqual({ found: [], isRead: true });
    expect(await read()).toEqual({ found: [], isRead: false });
    aheadMs += 24 * 3_600_000;
    expect(await read()).toEqual({ found: [], isRead: true });
    // The times of a forge are whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await addFile(harness.root, at, 'main', '.reeve.yml', rules);
    await harness.forge.settle();
    expect(await read()).toEqual({ found: ['triage', 'nightly'], isRead: true });
    expect(await read()).toEqual({ found: ['triage', 'nightly'], isRead: true });
  });
});
