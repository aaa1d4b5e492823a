import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { operations } from '../../src/contract/operations.ts';
import { patienceMs } from '../support/flow-names.ts';
import { at, type Stage, setStage } from '../support/stage.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened]
    steps: [{ uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }]
`;

let stage: Stage;
let nowMs: number;
afterEach(() => stage.close());

const openIssue = async (): Promise<number> =>
  (await stage.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } })).number;
const delivery = async () => {
  const { items } = await stage.server.store.listDeliveries({ search: 'issues' });
  return items[0];
};
/** Makes the forge deny the repository to the bot, wherever it is asked about. */
const deny = (status: number): void => {
  stage.proxy.decide = ({ path }) =>
    path.includes(`/repos/${at.owner}/${at.repo}`)
      ? { kind: 'answer', status, body: '{"message":"denied"}' }
      : { kind: 'pass' };
};

describe.each([403, 404])('a served repository that answers %i', (status) => {
  it('is asked again until it is back', { timeout: 4 * patienceMs }, async () => {
    stage = await setStage({ rules });
    await stage.quiet();
    deny(status);
    const index = await openIssue();

    await expect
      .poll(async () => (await delivery())?.reason, { timeout: patienceMs })
      .toContain('asked again until');
    stage.proxy.decide = () => ({ kind: 'pass' });

    await expect.poll(() => stage.labelsOf(index), { timeout: 2 * patienceMs }).toEqual(['area/docs']);
  });

  it('is believed after ten minutes', { timeout: 4 * patienceMs }, async () => {
    nowMs = Date.now();
    stage = await setStage({ rules, server: { clock: { ...systemClock, now: () => new Date(nowMs) } } });
    await stage.quiet();
    deny(status);
    await openIssue();

    await expect.poll(async () => (await delivery())?.state, { timeout: patienceMs }).toBe('retry');
    nowMs += 9 * 60_000;
    await expect
      .poll(async () => (await delivery())?.attempts ?? 0, { timeout: patienceMs })
      .toBeGreaterThan(1);
    expect((await delivery())?.state).not.toBe('dead');

    // The clock goes on while an attempt is under way, too: its next one is due after the jump.
    const stateLater = async (): Promise<string | undefined> => {
      nowMs += 2 * 60_000;
      return (await delivery())?.state;
    };
    await expect.poll(stateLater, { timeout: patienceMs }).toBe('settled');
    // Its run says what was denied.
    const [last] = stage.runs.toReversed();
    expect(last?.rules.map(({ verdict, reason }) => `${verdict} ${reason}`).join()).toContain(String(status));
  });
});

it('one thing that is denied in a repository that answers is believed at once', {
  timeout: 4 * patienceMs,
}, async () => {
  stage = await setStage({ rules });
  await stage.quiet();
  stage.proxy.decide = ({ method, path }) =>
    method === 'PUT' && path.endsWith('/labels')
      ? { kind: 'answer', status: 403, body: '{"message":"no right"}' }
      : { kind: 'pass' };
  await openIssue();

  await stage.run(({ outcomes }) => outcomes.some(({ status }) => status === 'failed'));
  await expect.poll(async () => (await delivery())?.state, { timeout: patienceMs }).toBe('settled');
});

it('a star that was taken away is believed at once', { timeout: 4 * patienceMs }, async () => {
  stage = await setStage({ rules });
  await stage.quiet();
  await stage.bot.call(operations.unstar, { params: at });
  await stage.restart();
  await openIssue();

  await expect.poll(async () => (await delivery())?.state, { timeout: patienceMs }).toBe('settled');
  expect((await delivery())?.reason).toContain('is not served');
});
