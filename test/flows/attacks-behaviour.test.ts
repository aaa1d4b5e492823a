import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { createLog } from '../../src/log.ts';
import { reeve } from '../support/command.ts';
import { acme, at, authorization, people, type Stage, secret, setStage } from '../support/stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const onIssues = (steps: string): string =>
  `version: 1\nrules:\n  one:\n    on: { issues: [opened, edited, label_updated] }\n    steps:\n${steps}`;

async function openIssue(title: string, body = ''): Promise<{ index: number; run: Run }> {
  const seen = stage.runs.length;
  const { number } = await stage.ada.call(operations.createIssue, { params: at, body: { title, body } });
  const run = await stage.run((one) => stage.runs.indexOf(one) >= seen && one.trigger.activity === 'opened');
  return { index: number, run };
}

it('titles full of templates, expressions, shell and workflow commands are data, and mention no account', async () => {
  stage = await setStage({
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
    await stage.quiet();
    const comments = await stage.ada.call(operations.listComments, { params: { ...at, index } });

    expect(run.outcomes).toMatchObject([{ status: 'applied' }]);
    expect(comments).toHaveLength(1);
    const body = comments[0]?.body ?? '';
    expect(body).toContain(title.replace(/@(?=\w)/g, '@\u200b').slice(0, 20));
    for (const name of [people.ada, acme]) expect(body).not.toContain(`@${name}`);
  }
});

it('two bots that want different things stop after five returns, and the run says so', async () => {
  stage = await setStage({
    rules: onIssues('      - uses: set-labels\n        with: { add: [area/docs] }\n'),
  });
  const { index } = await openIssue('tug of war');
  await stage.quiet();
  const id =
    (await stage.root.call(operations.listLabels, { params: at })).find(({ name }) => name === 'area/docs')
      ?.id ?? 0;
  let stopped: Run | undefined;
  for (let turn = 0; turn < 9 && stopped === undefined; turn += 1) {
    const seen = stage.runs.length;
    await stage.ada.call(operations.removeIssueLabel, { params: { ...at, index, id } });
    const answer = await stage.run(
      (run) => stage.runs.indexOf(run) >= seen && run.rules.some(({ reason }) => reason !== 'own'),
    );
    await stage.quiet();
    if (answer.refused.length > 0) stopped = answer;
  }

  expect(stopped?.refused[0]?.why).toContain('label:area/docs went back and forth 5 times in ten minutes');
  expect(await stage.labelsOf(index)).toEqual([]);
  const writes = stage.runs.flatMap(({ outcomes }) => outcomes).filter(({ status }) => status === 'applied');
  expect(writes).toHaveLength(6);
  await stage.restart();
  const seen = stage.runs.length;
  await stage.ada.call(operations.editIssue, { params: { ...at, index }, body: { title: 'again' } });
  const after = await stage.run(
    (run) => stage.runs.indexOf(run) >= seen && run.trigger.activity === 'edited',
  );
  expect(after.refused[0]?.why).toContain('went back and forth');
});

it('a rule that wants more than its budget makes twenty changes and says what it left', async () => {
  const labels = Array.from({ length: 30 }, (_, place) => `l${place}`);
  stage = await setStage({
    labels,
    rules: onIssues(`      - uses: set-labels\n        with: { add: [${labels.join(', ')}] }\n`),
  });
  const { index, run } = await openIssue('many');
  await stage.quiet();

  expect(await stage.labelsOf(index)).toHaveLength(20);
  expect(run.refused).toHaveLength(10);
  expect(run.refused[0]?.why).toContain('budget of 20 changes a delivery');
});

it('a refusal in the middle of a plan names the change, the status and what to do, and the rest is done', async () => {
  stage = await setStage({
    rules: onIssues(
      '      - uses: set-labels\n        with: { add: [area/docs] }\n      - uses: comment\n        with: { key: k, text: Hello. }\n',
    ),
  });
  for (const [status, words] of [
    [403, 'write:issue'],
    [404, 'check the name in the rule'],
    [423, 'archived'],
  ] as const) {
    stage.proxy.decide = ({ method, path }) =>
      method === 'PUT' && path.endsWith('/labels')
        ? { kind: 'answer', status, body: '{"message":"no"}' }
        : { kind: 'pass' };
    const { index, run } = await openIssue(`refused with ${status}`);
    await stage.quiet();
    const comments = await stage.ada.call(operations.listComments, { params: { ...at, index } });

    expect(comments).toHaveLength(1);
    const [labels, comment] = run.outcomes;
    expect(comment).toMatchObject({ status: 'applied' });
    expect(labels?.status).toBe('failed');
    for (const part of ['label:area/docs', `answered ${status}`, words])
      expect(labels?.error).toContain(part);
  }
});

it('the credential is in no byte that was written, whatever went wrong', async () => {
  const written: string[] = [];
  const log = createLog({
    level: 'debug',
    secrets: [],
    destination: { write: (line: string) => void written.push(line) },
  });
  stage = await setStage({
    rules: onIssues('      - uses: set-labels\n        with: { add: [area/docs, missing] }\n'),
    server: { log, budgets: { delivery: { all: 50, repository: 20 }, hour: { all: 500, repository: 100 } } },
  });
  await openIssue('fails: there is no such label');
  for (const kind of ['reset', 'answer'] as const) {
    stage.proxy.decide = ({ method }) =>
      method === 'GET'
        ? kind === 'reset'
          ? { kind: 'reset' }
          : { kind: 'answer', status: 500, body: 'oops' }
        : { kind: 'pass' };
    await stage.ada.call(operations.createIssue, { params: at, body: { title: kind } });
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  stage.proxy.decide = () => ({ kind: 'pass' });
  await fetch(`${stage.server.url}/webhook`, {
    method: 'POST',
    body: '{}',
    headers: { authorization: 'wrong' },
  });
  const { environment } = stage;
  const told = await reeve(['explain', 'last', '--json'], { environment });
  const failed = await reeve(['replay', '1'], {
    environment: { ...environment, FORGE_URL: 'http://127.0.0.1:1' },
  });
  const files = readdirSync(stage.data).filter((name) => name.startsWith('reeve.db'));
  const bytes = [
    ...files.map((name) => readFileSync(join(stage.data, name)).toString('latin1')),
    ...written,
    told.out + told.error + failed.out + failed.error,
    JSON.stringify(stage.runs),
  ].join('\n');

  expect(bytes.length).toBeGreaterThan(10_000);
  expect(bytes).toContain('there is no label');
  const encoded = Buffer.from(stage.token).toString('base64');
  for (const canary of [stage.token, encoded, encodeURIComponent(encoded), authorization, secret]) {
    expect(bytes.includes(canary), canary).toBe(false);
  }
});
