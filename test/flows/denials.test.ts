import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, startHarness } from '../support/harness.ts';
import { recordLog } from '../support/record-log.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened]
    steps: [{ uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }]
`;

let harness: Harness;
let nowMs: number;
afterEach(() => harness.close());

const openIssue = async (): Promise<number> =>
  (await harness.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } })).number;
const delivery = async () => {
  const { items } = await harness.server.store.listDeliveries({ search: 'issues' });
  return items[0];
};
/** Makes the forge deny all requests of the bot about the repository. */
const deny = (status: number): void => {
  harness.proxy.decide = ({ path }) =>
    path.includes(`/repos/${at.owner}/${at.repo}`)
      ? { kind: 'answer', status, body: '{"message":"denied"}' }
      : { kind: 'pass' };
};

describe.each([403, 404])('a served repository for which the forge returns %i', (status) => {
  it('is retried until it is available again, and no attempt is logged as a failed change', {
    timeout: 4 * timeoutMs,
  }, async () => {
    const { log, lines } = recordLog();
    harness = await startHarness({ rules, server: { log } });
    await harness.idle();
    deny(status);
    const index = await openIssue();

    await expect
      .poll(async () => (await delivery())?.reason, { timeout: timeoutMs })
      .toContain('access is retried until');
    harness.proxy.decide = () => ({ kind: 'pass' });

    await expect.poll(() => harness.labelsOf(index), { timeout: 2 * timeoutMs }).toEqual(['area/docs']);
    expect(lines.filter(([, text]) => text === 'a change failed')).toEqual([]);
  });

  it('is accepted as denied after ten minutes', { timeout: 4 * timeoutMs }, async () => {
    nowMs = Date.now();
    harness = await startHarness({
      rules,
      server: { clock: { ...systemClock, now: () => new Date(nowMs) } },
    });
    await harness.idle();
    deny(status);
    await openIssue();

    await expect.poll(async () => (await delivery())?.state, { timeout: timeoutMs }).toBe('retry');
    nowMs += 9 * 60_000;
    await expect
      .poll(async () => (await delivery())?.attempts ?? 0, { timeout: timeoutMs })
      .toBeGreaterThan(1);
    expect((await delivery())?.state).not.toBe('dead');

    // The clock also advances while an attempt is in progress, so that the next attempt is due after the jump.
    const stateLater = async (): Promise<string | undefined> => {
      nowMs += 2 * 60_000;
      return (await delivery())?.state;
    };
    await expect.poll(stateLater, { timeout: timeoutMs }).toBe('settled');
    // The run reports what was denied.
    const [last] = harness.runs.toReversed();
    expect(last?.rules.map(({ verdict, reason }) => `${verdict} ${reason}`).join()).toContain(String(status));
  });
});

it('a denial of one request in an otherwise accessible repository is accepted immediately, and logged once', {
  timeout: 4 * timeoutMs,
}, async () => {
  const { log, lines } = recordLog();
  harness = await startHarness({ rules, server: { log } });
  await harness.idle();
  harness.proxy.decide = ({ method, path }) =>
    method === 'PUT' && path.endsWith('/labels')
      ? { kind: 'answer', status: 403, body: '{"message":"no right"}' }
      : { kind: 'pass' };
  await openIssue();

  await harness.waitForRun(({ outcomes }) => outcomes.some(({ status }) => status === 'failed'));
  await expect.poll(async () => (await delivery())?.state, { timeout: timeoutMs }).toBe('settled');
  const failures = () => lines.filter(([, text]) => text === 'a change failed');
  await expect.poll(failures, { timeout: timeoutMs }).toEqual([
    [
      'warn',
      'a change failed',
      {
        run: expect.any(String),
        delivery: (await delivery())?.id,
        rules: [expect.stringMatching(/#mark$/)],
        action: 'set-labels',
        item: expect.stringContaining(`/repos/${at.owner}/${at.repo}/issues/`),
        status: 403,
        error: expect.stringContaining('the forge answered 403; no right'),
      },
    ],
  ]);
  expect(JSON.stringify(lines)).not.toContain(harness.token);
});

it('a removed star takes effect immediately', { timeout: 4 * timeoutMs }, async () => {
  harness = await startHarness({ rules });
  await harness.idle();
  await harness.bot.call(operations.unstar, { params: at });
  await harness.restart();
  await openIssue();

  await expect.poll(async () => (await delivery())?.state, { timeout: timeoutMs }).toBe('settled');
  expect((await delivery())?.reason).toContain('is not served');
});
