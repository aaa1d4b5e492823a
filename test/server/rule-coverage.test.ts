import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testRules } from '../../src/cli/commands/rules/rule-tests.ts';
import { silentLog } from '../../src/platform/log.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { loadRuleFiles } from '../../src/rules/sources/folder.ts';
import { createRuleCoverage, type TestRules } from '../../src/server/rule-coverage.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { startHarness } from '../support/harness.ts';
import { tableCells } from '../support/serve-dashboard.ts';

const rule = (name: string): string => `version: 1
rules:
  ${name}:
    on: { issues: [opened, closed] }
    if: issue.title.contains("crash")
    steps:
      - { name: mark, uses: set-labels, with: { add: [bug] } }
      - { name: end, uses: set-labels, if: 'issue.state == "closed"', with: { add: [done] } }
`;
const oneCase = `  - name: a crash is a bug
    event:
      kind: issues
      activity: opened
      payload:
        number: 1
        issue: { number: 1, title: a crash, state: open, labels: [] }
        repository: { id: 1, full_name: acme/shop }
    facts: { label_definitions: [bug, done] }
    expect: { changes: [{ action: set-labels }] }
`;

let folder: string;
let rules: readonly LoadedRule[];
let paths: (readonly string[])[];
const test: TestRules = (given, options) => {
  paths.push(given);
  return testRules(given, undefined, options);
};
const coverage = () => createRuleCoverage({ rules: () => rules, test, log: silentLog });
const ruleNamed = (name: string): LoadedRule => {
  const found = rules.find((one) => one.name === name);
  if (!found) throw new Error(`no rule ${name}`);
  return found;
};

beforeEach(async () => {
  paths = [];
  folder = await mkdtemp(join(tmpdir(), 'reeve-coverage-'));
  await writeFile(join(folder, 'one.yml'), rule('one'));
  await writeFile(join(folder, 'one.test.yml'), `cases:\n${oneCase}`);
  await writeFile(join(folder, 'two.yml'), rule('two'));
  const files = await loadRuleFiles([folder]);
  expect(files.flatMap(({ problems }) => problems)).toEqual([]);
  rules = files.flatMap((file) => file.rules);
});
afterEach(() => rm(folder, { recursive: true }));

it('lists the steps reached by the tests beside a rule, and reports rules without tests', async () => {
  const made = coverage();
  expect(made.of(ruleNamed('one'))).toMatchObject({ state: 'unknown' });

  await made.look();

  expect(made.of(ruleNamed('one'))).toEqual({
    state: 'known',
    cases: 1,
    failed: 0,
    steps: [
      { name: 'mark', isReached: true },
      { name: 'end', isReached: false },
    ],
  });
  expect(made.of(ruleNamed('two'))).toEqual({
    state: 'no-tests',
    why: 'there is no two.test.yml beside its file',
  });
});

it('runs tests once, and again when their file changes', async () => {
  const made = coverage();
  await made.look();
  await made.look();
  expect(paths).toHaveLength(1);

  await appendFile(join(folder, 'one.test.yml'), oneCase.replace('a crash is', 'another crash is'));
  await made.look();

  expect(paths).toHaveLength(2);
  expect(made.of(ruleNamed('one'))).toMatchObject({ cases: 2 });
});

it('reports why coverage is unknown: tests with problems, or a file that is too large', async () => {
  await writeFile(join(folder, 'one.test.yml'), 'cases: 1\n');
  await writeFile(join(folder, 'two.test.yml'), '#'.repeat(1_048_577));
  const made = coverage();

  await made.look();

  expect(made.of(ruleNamed('one'))).toEqual({
    state: 'unknown',
    why: 'one.test.yml cannot be used: reeve test shows why',
  });
  expect(made.of(ruleNamed('two'))).toEqual({ state: 'unknown', why: 'two.test.yml is larger than 1 MiB' });
  expect(paths).toHaveLength(1);
});

it('aborts running tests when the coverage is stopped', async () => {
  const begun = Promise.withResolvers<void>();
  const made = createRuleCoverage({
    rules: () => rules,
    test: () => {
      begun.resolve();
      return new Promise(() => {});
    },
    log: silentLog,
  });
  made.start();
  await begun.promise;

  await made.stop();

  expect(made.of(ruleNamed('two'))).toMatchObject({ state: 'unknown' });
});

it('a server shows coverage after its start, and ends open pages when it stops', async () => {
  const harness = await startHarness({
    on: 'the embedded forge',
    server: { rules: folder, testRules: test },
  });
  const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
  const operator = await signInWithPassword(harness.server.url, password);

  await vi.waitFor(async () => {
    const { text } = await operator.get('/rules');
    expect(tableCells(text).map((cells) => cells[6])).toEqual(['1 of 2 steps', 'no tests']);
  }, 240_000);

  const stream = operator.get('/live');
  await operator.get('/rules');
  await harness.close();
  expect((await stream).text).toMatch(/^retry: /);
});
