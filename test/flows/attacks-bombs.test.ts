import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { acme, at, type Harness, people, repositoryScopes, startHarness } from '../support/harness.ts';

const calm = { owner: acme, repo: 'calm' } as const;
const marking = (condition: string): string => `version: 1
rules:
  mark:
    on: issues.opened
    if: ${JSON.stringify(condition)}
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
`;
/** Text that a stranger may write into an issue, to be matched by the rule. */
const body = `${'a'.repeat(60_000)}!`;

let harness: Harness;
beforeAll(async () => {
  const server = { repositories: [`${acme}/*`] };
  harness = await startHarness({
    rules: marking('true'),
    hook: 'organization',
    scopes: repositoryScopes,
    server,
  });
  const { root } = harness;
  const settings = { name: calm.repo, auto_init: true, default_branch: 'main' };
  await root.call(operations.createOrganizationRepository, { params: { org: acme }, body: settings });
  for (const collaborator of [people.ada, people.bot]) {
    await root.call(operations.putCollaborator, {
      params: { ...calm, collaborator },
      body: { permission: 'write' },
    });
  }
  await root.call(operations.createLabel, { params: calm, body: { name: 'area/docs', color: 'ff0000' } });
  const content = Buffer.from(marking('true')).toString('base64');
  const params = { ...calm, filepath: '.reeve.yml' };
  // Waits for the push, because a server that announces it late would make the test take it for the push of the first
  // bomb.
  await harness.waitForPush(() =>
    root.call(operations.createFile, { params, body: { content, message: 'rules' } }),
  );
  await harness.idle();
});
afterAll(() => harness.close());

/** Triggers the bomb, and at the same time an event for another repository's rule. Returns the outcome of both. */
async function setOff(): Promise<{ bombed: Run; labels: readonly string[]; slowestMs: number }> {
  const seen = harness.runs.length;
  const open = (where: typeof at | typeof calm) =>
    harness.ada.call(operations.createIssue, { params: where, body: { title: 'Boom', body } });
  let slowestMs = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const startedMs = cpuMs();
      const { status } = await fetch(`${harness.server.url}/healthz`);
      expect(status).toBe(200);
      slowestMs = Math.max(slowestMs, cpuMs() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const [, other] = await Promise.all([open(at), open(calm)]);
  const isOf = (name: string) => (run: Run) =>
    harness.runs.indexOf(run) >= seen &&
    run.trigger.activity === 'opened' &&
    run.rules.some(({ source }) => source.startsWith(`${acme}/${name}/`));
  const [bombed] = await Promise.all([
    harness.waitForRun(isOf(at.repo)),
    harness.waitForRun(isOf(calm.repo)),
  ]);
  isOver = true;
  await asking;
  await harness.idle();
  const labels = await harness.ada.call(operations.listIssueLabels, {
    params: { ...calm, index: other.number },
  });
  return { bombed, labels: labels.map(({ name }) => name), slowestMs };
}

async function reportOn(branch: string): Promise<readonly unknown[]> {
  const { commit } = await harness.root.call(operations.getBranch, { params: { ...at, branch } });
  const params = { ...at, sha: commit?.id ?? '' };
  const all = await harness.root.call(operations.listStatuses, { params });
  return all.map(({ context, status, description }) => ({ context, status, description }));
}

const aliases = Array.from(
  { length: 12 },
  (_, n) =>
    `  a${n}: &a${n} [${Array(9)
      .fill(n === 0 ? 'x' : `*a${n - 1}`)
      .join(', ')}]`,
);

it.each([
  ['aliases that double', `version: 1\nrules:\n${aliases.join('\n')}\n`, 3],
  [
    'a map of thousands of keys',
    `version: 1\nrules: {${Array.from({ length: 9_000 }, (_, n) => `r${n}`).join(', ')}}\n`,
    2,
  ],
  ['nested lists', `version: 1\nrules: ${'['.repeat(30_000)}\n`, 1],
  ['a tag that executes text', 'version: 1\nrules: !!js/function "() => process.exit()"\n', 2],
  ['an expression of thousands of braces', marking(`${'('.repeat(8_000)}true${')'.repeat(8_000)}`), 5],
  ['an expression of thousands of parts', marking(Array(5_000).fill('true').join(' && ')), 5],
  [
    'a pattern that expands to a huge size',
    marking('event.issue.body.matches("((((a{99}){99}){99}){99})")'),
    5,
  ],
])('%s: the file is refused with its line, and other rules continue', async (_, text, line) => {
  await harness.setRules(text);
  const { bombed, labels, slowestMs } = await setOff();

  // The last valid version of the file stays in force.
  expect(bombed.rules.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
  await expect
    .poll(() => reportOn('main'))
    .toMatchObject([
      {
        context: 'reeve/rules',
        status: 'failure',
        description: expect.stringContaining(`.reeve.yml:${line}:`),
      },
    ]);
  expect(labels).toEqual(['area/docs']);
  expect(slowestMs).toBeLessThan(3_000);
});

it.each([
  ['a pattern with exponential backtracking in other engines', 'event.issue.body.matches("(a+)+$")'],
  ['a text concatenated with itself', `(${Array(40).fill('event.issue.body').join(' + ')}).contains("b")`],
  [
    'a text searched once for each of its letters',
    'event.issue.body.split("").all(x, event.issue.body.contains(x + "b"))',
  ],
  [
    'a pattern that is matched repeatedly',
    `[${Array(100).fill('1').join(',')}].all(x, !event.issue.body.matches("a*a*a*a*b"))`,
  ],
])('%s uses little time or is aborted, and other rules continue', async (_, condition) => {
  await harness.setRules(marking(condition));
  const { bombed, labels, slowestMs } = await setOff();

  // The file itself is valid; a value written by another person makes it a bomb.
  expect(bombed.rules[0]?.rule).toContain('#mark');
  expect(bombed.rules[0]?.verdict).not.toBe('matched');
  expect(bombed.changes).toEqual([]);
  expect(labels).toEqual(['area/docs']);
  expect(slowestMs).toBeLessThan(3_000);
});
