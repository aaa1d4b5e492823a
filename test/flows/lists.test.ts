import { afterEach, beforeEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { reeve } from '../support/command.ts';
import { acme, at, type Harness, startHarness } from '../support/harness.ts';

let harness: Harness;
let index: number;
let delivery: string;
beforeEach(async () => {
  harness = await startHarness({
    rules: `version: 1
rules:
  opened: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [area/docs] } }] }
`,
  });
  const made = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'x' } });
  index = made.number;
  const run = await harness.waitForRun(({ changes }) => changes.length > 0);
  delivery = run.trigger.delivery ?? '';
  await harness.idle();
});
afterEach(() => harness.close());

const call = (...args: string[]) => reeve(args, { environment: harness.environment });

it('deliveries and runs are listed, and all runs about one issue', async () => {
  const listed = await call('deliveries', '--search', 'issues');
  expect(listed.status).toBe(0);
  expect(listed.out).toMatch(new RegExp(`^${delivery} .* issues +${acme}/demo#${index} +settled`, 'm'));
  expect((await call('deliveries', '--state', 'dead')).out).toContain('No delivery is stored that fits.');
  expect(await call('deliveries', '--state', 'lost')).toMatchObject({ status: 2 });

  const runs = await call('runs', '--changes', '--repository', `${acme.toUpperCase()}/demo`);
  expect(runs.out).toMatch(/issues\.opened .* opened +1 of 1 made/);
  expect((await call('runs', '--changes', '--json')).out.trim().split('\n')).toHaveLength(1);
  expect(await call('runs', '--repository', 'acme/none')).toMatchObject({ status: 2 });

  const about = await call('explain', `${acme}/demo#${index}`);
  expect(about.out).toMatch(/issues\.opened/);
  expect(about.out).toContain('Nothing about it waits.');
  // The newest run with changes is not that of the label event, which is newer.
  expect(about.out).toMatch(/^run \S+ .* enforce$/m);
  expect(about.out).toMatch(/^✓ opened: matched/m);
  expect((await call('explain', `${acme}/demo#999`)).out).toContain(
    `No run about ${acme}/demo#999 is recorded.`,
  );
});

it('the report is printed as it would be now, also while the forge refuses the token', async () => {
  const well = await call('report');
  expect(well.status).toBe(0);
  expect(well.out).toMatch(/^Nothing needs attention\.\n\nLatest delivery: \d{4}-/);
  const environment = { ...harness.environment, FORGE_TOKEN: 'expired' };
  const refused = await reeve(['report'], { environment });
  expect(refused.status).toBe(1);
  expect(refused.out).toMatch(/1 thing needs attention:\n- The forge fails since .*401/);
});

it('a settled delivery is handled again from live state', async () => {
  const params = { ...at, index };
  await harness.ada.call(operations.replaceIssueLabels, { params, body: { labels: [] } });
  await harness.idle();
  expect(await harness.labelsOf(index)).toEqual([]);

  const again = await call('rerun', delivery);
  expect(again.out).toContain(`delivery ${delivery} will be handled again`);
  await harness.waitForRun(({ trigger, changes }) => trigger.delivery === delivery && changes.length > 0);
  await expect.poll(() => harness.labelsOf(index), { timeout: 60_000 }).toEqual(['area/docs']);
  // The event of the label that Reeve set is newer.
  await harness.idle();
  expect((await call('rerun', 'last')).out).toContain(`delivery ${delivery} will be handled again`);
  expect(await call('rerun', '999999')).toMatchObject({ status: 2 });
});
