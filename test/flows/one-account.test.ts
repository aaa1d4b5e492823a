import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { reeve } from '../support/command.ts';
import { post } from '../support/deliveries.ts';
import { at, type Harness, type HarnessOptions, startHarness } from '../support/harness.ts';

// Reeve acts with the account of the person who works with it: `harness.bot` is that person.

const rules = `version: 1
rules:
  opened: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [area/docs] } }] }
  labelled:
    on: issues.label_updated
    if: labels.exists(l, l.name == "kept")
    steps: [{ uses: set-labels, with: { add: [area/code] } }]
  quote:
    on: issues.edited
    steps:
      - uses: comment
        with: { key: quote, text: "The title is now:\\n\\n\${{ issue.title }}" }
  obey: { on: issue_comment.created, if: command("ship").found, steps: [{ uses: set-labels, with: { add: [kept] } }] }
`;

let harness: Harness;
afterEach(() => harness.close());

const start = async (options: HarnessOptions = {}): Promise<void> => {
  harness = await startHarness({ rules, ...options });
};

async function openIssue(title = 'x'): Promise<number> {
  const { number } = await harness.bot.call(operations.createIssue, { params: at, body: { title } });
  await harness.idle();
  return number;
}

async function label(index: number, ...labels: string[]): Promise<void> {
  await harness.bot.call(operations.replaceIssueLabels, { params: { ...at, index }, body: { labels } });
  await harness.idle();
}

/** Waits for the next second: times in payloads have no more precision, and equal bodies count as repeats. */
const nextSecond = () => new Promise((resolve) => setTimeout(resolve, 1_100));

/** Returns the runs in which a rule was not skipped. */
const effective = (): readonly Run[] =>
  harness.runs.filter(({ rules }) => rules.some(({ verdict }) => verdict !== 'skipped'));

const commentsOf = async (index: number): Promise<readonly string[]> =>
  (await harness.bot.call(operations.listComments, { params: { ...at, index } })).map(
    ({ body }) => body ?? '',
  );

describe('with one account for a person and Reeve', () => {
  it('what the person does starts rules, and what Reeve does for them does not', async () => {
    await start();
    const index = await openIssue();

    expect(await harness.labelsOf(index)).toEqual(['area/docs']);
    expect(effective().map(({ trigger }) => trigger)).toMatchObject([
      { kind: 'issues', activity: 'opened', isByPerson: true },
    ]);
    const own = harness.runs.find(({ trigger }) => trigger.activity === 'label_updated');
    expect(own?.rules.map(({ reason }) => reason)).toEqual(['own', 'own', 'own']);
  });

  it('a change of the person after a change of Reeve starts rules, also one with the same result', async () => {
    await start();
    const index = await openIssue();
    await nextSecond();
    await label(index, 'area/docs', 'kept');
    expect((await harness.labelsOf(index)).toSorted()).toEqual(['area/code', 'area/docs', 'kept']);

    // Reeve set these three labels a moment ago. The person takes one away, and sets all three again.
    harness.runs.length = 0;
    await nextSecond();
    await label(index, 'area/docs');
    await nextSecond();
    await label(index, 'area/docs', 'kept', 'area/code');

    expect(effective().map(({ trigger }) => trigger.isByPerson)).toEqual([true, true]);
  });

  it('a repeated event of a change of Reeve starts nothing', async () => {
    await start();
    await openIssue();
    const { items } = await harness.server.store.listDeliveries({ limit: 500 });
    const found = items.find(({ eventType }) => eventType === 'issue_label');
    const { body = new Uint8Array() } = (await harness.server.store.readDelivery(found?.id ?? '')) ?? {};
    harness.runs.length = 0;
    await post(harness.server.url, {
      eventType: 'issue_label',
      payload: JSON.parse(Buffer.from(body).toString()),
    });
    await harness.idle();

    expect(harness.runs.map(({ trigger }) => [trigger.repeated, trigger.isByPerson])).toEqual([
      [true, undefined],
    ]);
    expect(effective()).toEqual([]);
  });

  it('a command of a stranger is not executed because Reeve repeats it in a comment, in any mode', async () => {
    for (const own of ['changes', 'account'] as const) {
      await start({ server: { own } });
      const made = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'x' } });
      await harness.idle();
      await harness.ada.call(operations.editIssue, {
        params: { ...at, index: made.number },
        body: { title: '/ship' },
      });
      await harness.idle();

      expect(await commentsOf(made.number)).toMatchObject([expect.stringContaining('ship')]);
      expect(await harness.labelsOf(made.number)).toEqual(['area/docs']);
      if (own === 'changes') await harness.close();
    }
  });

  it('such a comment is recognised after the store was lost', async () => {
    await start();
    const index = await openIssue();
    await harness.bot.call(operations.editIssue, { params: { ...at, index }, body: { title: '/ship' } });
    await harness.idle();
    const { items } = await harness.server.store.listDeliveries({ limit: 500 });
    const found = items.find(({ eventType }) => eventType === 'issue_comment');
    const { body = new Uint8Array() } = (await harness.server.store.readDelivery(found?.id ?? '')) ?? {};
    const payload = JSON.parse(Buffer.from(body).toString());
    await harness.restart({
      between: () =>
        rm(join(harness.data, 'reeve.db')).then(() =>
          rm(join(harness.data, 'reeve.db-wal'), { force: true }),
        ),
    });
    harness.runs.length = 0;
    await post(harness.server.url, { eventType: 'issue_comment', payload });
    await harness.idle();

    expect(effective()).toEqual([]);
    expect(await harness.labelsOf(index)).toEqual(['area/docs']);
  });

  it('a command in a comment of the person is executed', async () => {
    await start();
    const index = await openIssue();
    await harness.bot.call(operations.createComment, { params: { ...at, index }, body: { body: '/ship' } });
    await harness.idle();

    expect((await harness.labelsOf(index)).toSorted()).toEqual(['area/docs', 'kept']);
  });

  it('a plan of an issue of that account shows what its rules do', async () => {
    await start();
    const index = await openIssue();
    const subject = `${at.owner}/${at.repo}#${index}`;

    const { out } = await reeve(['plan', '--all', '--issue', subject, '--activity', 'opened'], {
      environment: harness.environment,
    });

    expect(out).toContain('opened: matched');
    expect(out).not.toContain('Reeve itself caused this event');
  });

  it('two rules that undo each other come to rest', async () => {
    await start({
      rules: `version: 1
rules:
  one:
    on: issues.label_updated
    if: labels.exists(l, l.name == "area/docs")
    steps: [{ uses: set-labels, with: { add: [area/code], remove: [area/docs] } }]
  other:
    on: issues.label_updated
    if: labels.exists(l, l.name == "area/code")
    steps: [{ uses: set-labels, with: { add: [area/docs], remove: [area/code] } }]
`,
    });
    const index = await openIssue();
    await nextSecond();
    await label(index, 'area/docs');

    const writes = harness.runs.flatMap(({ outcomes }) =>
      outcomes.filter(({ status }) => status === 'applied'),
    );
    expect(await harness.labelsOf(index)).toEqual(['area/code']);
    expect(writes).toHaveLength(2);
  });

  it('an event of a change that a restored store does not know starts nothing', async () => {
    await start();
    const database = join(harness.data, 'reeve.db');
    const copy = join(harness.data, 'copy.db');
    await harness.restart({ between: () => cp(database, copy) });
    const index = await openIssue();
    const { items } = await harness.server.store.listDeliveries({ limit: 500 });
    const found = items.find(({ eventType }) => eventType === 'issue_label');
    const { body = new Uint8Array() } = (await harness.server.store.readDelivery(found?.id ?? '')) ?? {};
    const payload = JSON.parse(Buffer.from(body).toString());
    await harness.restart({
      async between() {
        for (const end of ['', '-wal', '-shm']) await rm(`${database}${end}`, { force: true });
        await cp(copy, database);
      },
    });
    harness.runs.length = 0;
    await post(harness.server.url, { eventType: 'issue_label', payload });
    await harness.idle();

    // The catch-up after the restart finds the new issue, without a sender.
    const { rules: posted } = harness.runs.find(({ trigger }) => trigger.activity === 'label_updated') ?? {};
    expect(posted?.map(({ reason }) => reason)).toEqual(['own', 'own', 'own']);
    // What the person does now starts rules.
    await nextSecond();
    await label(index, 'kept');
    expect((await harness.labelsOf(index)).toSorted()).toEqual(['area/code', 'kept']);
  });

  it('nothing that the account does starts rules if the operator chooses that', async () => {
    await start({ server: { own: 'account' } });
    const index = await openIssue();

    expect(await harness.labelsOf(index)).toEqual([]);
    expect(harness.runs.flatMap(({ rules }) => rules.map(({ reason }) => reason))).toContain('own');
  });
});
