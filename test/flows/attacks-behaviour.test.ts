import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { createLog } from '../../src/platform/log.ts';
import { reeve } from '../support/command.ts';
import { acme, at, authorization, type Harness, people, secret, startHarness } from '../support/harness.ts';

let harness: Harness;
afterEach(() => harness.close());

const onIssues = (steps: string): string =>
  `version: 1\nrules:\n  one:\n    on: { issues: [opened, edited, label_updated] }\n    steps:\n${steps}`;

async function openIssue(title: string, body = ''): Promise<{ index: number; run: Run }> {
  const seen = harness.runs.length;
  const { number } = await harness.ada.call(operations.createIssue, { params: at, body: { title, body } });
  const run = await harness.waitForRun(
    (one) => harness.runs.indexOf(one) >= seen && one.trigger.activity === 'opened',
  );
  return { index: number, run };
}

it('titles full of templates, expressions, shell and workflow commands are treated as data, and mention no account', async () => {
  harness = await startHarness({
    rules: onIssues(
      '      - uses: comment\n        with: { key: k, text: "You wrote ${{ event.issue.title }}" }\n',
    ),
  });
  const titles = [
    '${{ repository.owner.login }} $(touch /tmp/x) `id`',
    '\'; DROP TABLE runs; -- " || true',
    '::set-env name=PATH::/evil',
    `@${people.ada} @${acme}/owners please look`,
    '<!-- reeve:one/k --><script>alert(1)</script>',
    'event.issue.title == "x" || true',
  ];
  for (const title of titles) {
    const { index, run } = await openIssue(title);
    await harness.idle();
    const comments = await harness.ada.call(operations.listComments, { params: { ...at, index } });

    expect(run.outcomes).toMatchObject([{ status: 'applied' }]);
    expect(comments).toHaveLength(1);
    const body = comments[0]?.body ?? '';
    expect(body).toContain(title.replace(/@(?=\w)/g, '@\u200b').slice(0, 20));
    for (const name of [people.ada, acme]) expect(body).not.toContain(`@${name}`);
  }
});

it('two bots with opposing rules stop after five reversals, and the run reports it', async () => {
  harness = await startHarness({
    rules: onIssues('      - uses: set-labels\n        with: { add: [area/docs] }\n'),
  });
  const { index } = await openIssue('tug of war');
  await harness.idle();
  const id =
    (await harness.root.call(operations.listLabels, { params: at })).find(({ name }) => name === 'area/docs')
      ?.id ?? 0;
  let stopped: Run | undefined;
  for (let turn = 0; turn < 9 && stopped === undefined; turn += 1) {
    const seen = harness.runs.length;
    await harness.ada.call(operations.removeIssueLabel, { params: { ...at, index, id } });
    const answer = await harness.waitForRun(
      (run) => harness.runs.indexOf(run) >= seen && run.rules.some(({ reason }) => reason !== 'own'),
    );
    await harness.idle();
    if (answer.refused.length > 0) stopped = answer;
  }

  expect(stopped?.refused[0]?.why).toContain('label:area/docs went back and forth 5 times in ten minutes');
  expect(await harness.labelsOf(index)).toEqual([]);
  const writes = harness.runs
    .flatMap(({ outcomes }) => outcomes)
    .filter(({ status }) => status === 'applied');
  expect(writes).toHaveLength(6);
  await harness.restart();
  const seen = harness.runs.length;
  await harness.ada.call(operations.editIssue, { params: { ...at, index }, body: { title: 'again' } });
  const after = await harness.waitForRun(
    (run) => harness.runs.indexOf(run) >= seen && run.trigger.activity === 'edited',
  );
  expect(after.refused[0]?.why).toContain('went back and forth');
});

it('a rule that plans more than its budget makes twenty changes and reports the omitted ones', async () => {
  const labels = Array.from({ length: 30 }, (_, place) => `l${place}`);
  harness = await startHarness({
    labels,
    rules: onIssues(`      - uses: set-labels\n        with: { add: [${labels.join(', ')}] }\n`),
  });
  const { index, run } = await openIssue('many');
  await harness.idle();

  expect(await harness.labelsOf(index)).toHaveLength(20);
  expect(run.refused).toHaveLength(10);
  expect(run.refused[0]?.why).toContain('budget of 20 changes per delivery');
});

it('a change that is refused in the middle of a plan is reported with its status and remedy, and the other changes are made', async () => {
  harness = await startHarness({
    rules: onIssues(
      '      - uses: set-labels\n        with: { add: [area/docs] }\n      - uses: comment\n        with: { key: k, text: Hello. }\n',
    ),
  });
  for (const [status, words] of [
    [403, 'write:issue'],
    [404, 'check the name in the rule'],
    [423, 'archived'],
  ] as const) {
    harness.proxy.decide = ({ method, path }) =>
      method === 'PUT' && path.endsWith('/labels')
        ? { kind: 'answer', status, body: '{"message":"no"}' }
        : { kind: 'pass' };
    const { index, run } = await openIssue(`refused with ${status}`);
    await harness.idle();
    const comments = await harness.ada.call(operations.listComments, { params: { ...at, index } });

    expect(comments).toHaveLength(1);
    const [labels, comment] = run.outcomes;
    expect(comment).toMatchObject({ status: 'applied' });
    expect(labels?.status).toBe('failed');
    for (const part of ['label:area/docs', `answered ${status}`, words])
      expect(labels?.error).toContain(part);
  }
});

it('the credential appears in no byte that was written, no matter what failed', async () => {
  const written: string[] = [];
  const log = createLog({
    level: 'debug',
    secrets: [],
    destination: { write: (line: string) => void written.push(line) },
  });
  harness = await startHarness({
    rules: onIssues('      - uses: set-labels\n        with: { add: [area/docs, missing] }\n'),
    server: { log, budgets: { delivery: { all: 50, repository: 20 }, hour: { all: 500, repository: 100 } } },
  });
  await openIssue('fails: there is no such label');
  for (const kind of ['reset', 'answer'] as const) {
    harness.proxy.decide = ({ method }) =>
      method === 'GET'
        ? kind === 'reset'
          ? { kind: 'reset' }
          : { kind: 'answer', status: 500, body: 'oops' }
        : { kind: 'pass' };
    const failed = async () => (await harness.server.store.listDeliveries({ limit: 500 })).items;
    const before = (await failed()).filter(({ attempts }) => attempts > 0).length;
    await harness.ada.call(operations.createIssue, { params: at, body: { title: kind } });
    await expect
      .poll(async () => (await failed()).filter(({ attempts }) => attempts > 0).length)
      .toBeGreaterThan(before);
  }
  harness.proxy.decide = () => ({ kind: 'pass' });
  await fetch(`${harness.server.url}/webhook`, {
    method: 'POST',
    body: '{}',
    headers: { authorization: 'wrong' },
  });
  const { environment } = harness;
  const explained = await reeve(['explain', 'last', '--json'], { environment });
  const failed = await reeve(['replay', '1'], {
    environment: { ...environment, FORGE_URL: 'http://127.0.0.1:1' },
  });
  const files = readdirSync(harness.data).filter((name) => name.startsWith('reeve.db'));
  const bytes = [
    ...files.map((name) => readFileSync(join(harness.data, name)).toString('latin1')),
    ...written,
    explained.out + explained.error + failed.out + failed.error,
    JSON.stringify(harness.runs),
  ].join('\n');

  expect(bytes.length).toBeGreaterThan(10_000);
  expect(bytes).toContain('there is no label');
  const encoded = Buffer.from(harness.token).toString('base64');
  for (const canary of [harness.token, encoded, encodeURIComponent(encoded), authorization, secret]) {
    expect(bytes.includes(canary), canary).toBe(false);
  }
});
