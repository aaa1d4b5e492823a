import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/actions/actions.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { formatProblem } from '../../src/rules/problem.ts';
import { loadRuleFiles } from '../../src/rules/sources/folder.ts';
import { reeve } from '../support/command.ts';
import { post } from '../support/deliveries.ts';
import { recordFigure } from '../support/figure.ts';
import { findLeaks } from '../support/find-leaks.ts';
import { skipWithout } from '../support/flow-requirements.ts';
import { acme, type Harness, minimalScopes, people } from '../support/harness.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import type { ActionRow, Arranged } from './action-row.ts';
import { conversationRows } from './conversation-rows.ts';
import { settingsRows } from './settings-rows.ts';

const actionRows = [...conversationRows, ...settingsRows];

const scopes = [
  ...minimalScopes,
  ...['write:repository', 'write:organization', 'write:notification'],
] as const;
const nameOf = ({ action, called }: ActionRow): string => (called ? `${action} ${called}` : action);
const ruleOf = (row: ActionRow): string => nameOf(row).replaceAll(' ', '-');

let harness: Harness;
let receiver: HookReceiver;
const swept: Run[] = [];
/** Output of the commands. */
const outputs: string[] = [];
const signature = 'a-value-to-sign-with';
const chatPath = 'the-secret-path-of-the-chat';
beforeAll(async () => {
  receiver = await startReceiver();
  const address = receiver.url.replace(/\/$/, '');
  const rules = actionRows.map((row) => `  ${ruleOf(row)}:\n${row.rule(address).replace(/^/gm, '    ')}\n`);
  harness = await startOperatorHarness(`version: 1\nrules:\n${rules.join('')}`, {
    scopes,
    // The kind of account that `reeve setup` recommends, with the fewest permissions.
    isRestricted: true,
    server: {
      namedSecrets: new Map([
        ['SIGN', signature],
        ['CHAT', `${address}/${chatPath}`],
      ]),
      notifyHosts: ['127.0.0.1'],
      onSweepRun: (run) => void swept.push(run),
    },
  });
  const files = await loadRuleFiles([harness.rules ?? '']);
  expect(files.flatMap(({ problems }) => problems.map(formatProblem))).toEqual([]);
  const teams = await harness.root.call(operations.listTeams, { params: { org: acme } });
  const id = teams.find(({ permission }) => permission === 'owner')?.id ?? 0;
  await harness.root.call(operations.putTeamMember, { params: { id, username: people.bot } });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

it('A9: every action has a row, and a restricted account runs it', async (context) => {
  expect(await harness.bot.call(operations.getSelf, {})).toMatchObject({ restricted: true });
  expect([...new Set(actionRows.map(({ action }) => action))].toSorted()).toEqual(
    actions.map(({ name }) => name).toSorted(),
  );
  recordFigure(
    context,
    `${actionRows.length} ways to use ${actions.length} actions, each triggered twice: one effect`,
  );
});

describe.each(actionRows.map((row) => [nameOf(row), row] as const))('%s', (_, row) => {
  it('reaches its declared state, changes nothing the second time, and is reverted as far as the API permits', async (context) => {
    const { requires } = row;
    const isThere = requires === undefined || (await harness.bot.capabilities()).has[requires];
    skipWithout(`${requires}: the forge has no such operation`, isThere, context);
    const arranged = (await row.arrange?.(harness, receiver.url.replace(/\/$/, ''))) ?? { index: 0 };
    await harness.idle();
    const first = await row.read(harness, arranged, receiver);
    expect(first).not.toEqual(row.declared);

    const run = await (row.happens ? happens(row, arranged) : sweeps(row));
    expect(run.outcomes.map(({ status, error }) => error ?? status)).toEqual(
      run.changes.map(() => 'applied'),
    );
    expect(await row.read(harness, arranged, receiver)).toEqual(row.declared);

    const from = harness.proxy.passed.length;
    await again(row, run);
    expect(writesOf(harness, from)).toEqual([]);
    expect(await row.read(harness, arranged, receiver)).toEqual(row.declared);

    const { status, out, error } = await reeve(['revert', run.id, '--json'], {
      environment: harness.environment,
    });
    outputs.push(out, error);
    expect(error).toBe('');
    const back: Run = JSON.parse(out);
    expect(back.outcomes.map(({ status: one, error: why }) => why ?? one)).toEqual(
      back.changes.map(() => 'applied'),
    );
    expect(back.refused.map(({ change, why }) => [change.target, why])).toEqual(expectedStays(row, run));
    expect(status).toBe(row.stays ? 1 : 0);
    // The merge queue reports asynchronously which pull requests have left it.
    await expect.poll(() => row.read(harness, arranged, receiver)).toEqual(row.back ?? first);
  });
});

it('no credential is in any byte that was written in these flows', () => {
  expect(findLeaks(harness, [...outputs, JSON.stringify(swept)], [signature, chatPath])).toEqual([]);
});

/**
 * Triggers a row and returns the run that acted on it. An earlier run may wait until the forge has checked a pull
 * request again.
 */
async function happens(row: ActionRow, arranged: Arranged): Promise<Run> {
  const seen = harness.runs.length;
  await row.happens?.(harness, arranged);
  const hasActed = (one: Run): boolean => isOf(one, row) && one.outcomes.length > 0;
  const run = await harness.waitForRun((one) => harness.runs.indexOf(one) >= seen && hasActed(one));
  await harness.idle();
  return run;
}

function isOf(run: Run, row: ActionRow): boolean {
  return run.rules.some(({ rule, verdict }) => rule.endsWith(`#${ruleOf(row)}`) && verdict === 'matched');
}

async function sweeps(row: ActionRow): Promise<Run> {
  await sweep(row);
  const run = swept.find((one) => isOf(one, row));
  if (run === undefined) throw new Error(`no run of ${ruleOf(row)}`);
  return run;
}

async function sweep(row: ActionRow): Promise<void> {
  const environment = { ...harness.environment, REEVE_RULES: harness.rules ?? '' };
  const { status, out, error } = await reeve(['sweep', ruleOf(row)], { environment });
  outputs.push(out, error);
  expect([status, error]).toEqual([0, expect.any(String)]);
}

/** Repeats the trigger: the same delivery under another id, or another sweep. */
async function again(row: ActionRow, { trigger }: Run): Promise<void> {
  if (row.happens === undefined) return sweep(row);
  const delivery = await harness.server.store.readDelivery(trigger.delivery ?? '');
  if (delivery === undefined) throw new Error('the delivery of the run is not kept');
  const seen = harness.runs.length;
  const payload = JSON.parse(Buffer.from(delivery.body).toString('utf8'));
  await post(harness.server.url, { eventType: delivery.eventType, payload });
  const run = await harness.waitForRun((one) => harness.runs.indexOf(one) >= seen && isOf(one, row));
  expect(run.changes).toEqual([]);
}

/** Returns the expected reasons of changes that are not reverted, one by one, the latest change first. */
function expectedStays({ stays = {} }: ActionRow, run: Run): readonly (readonly [string, unknown])[] {
  return run.changes.toReversed().flatMap(({ target, operation }) => {
    const kind =
      operation.includes('hook') && operation.endsWith('.delete')
        ? 'hook-gone'
        : /^(hook|merge|message|update|workflow)/.test(target)
          ? target.split(':')[0]
          : target;
    const why = stays[kind ?? ''];
    return why ? [[target, expect.stringMatching(why)] as const] : [];
  });
}
