import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { bundleAction } from '../../scripts/build-action.ts';
import { runAction } from '../../src/ci/main.ts';
import { isThorough } from '../support/figure.ts';
import { nodeOf } from '../support/nodes.ts';

const { NODE_COMPILE_CACHE } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'reeve-action-'));
afterAll(() => rmSync(folder, { recursive: true }));

const good = readFileSync('rules/demo/labels.yml', 'utf8');
const bad = good.replace('pull_request.draft', 'pull_request.drafty').replace('set-labels', 'set-label');

/** Runs the committed bundle as a runner does, or without `node` the sources in this process. */
async function run(
  files: Record<string, string>,
  { environment = {}, node }: { environment?: Record<string, string>; node?: string } = {},
) {
  const workspace = mkdtempSync(join(folder, 'workspace-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(workspace, name, '..'), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  const [output, summary] = [join(workspace, 'output'), join(workspace, 'summary')];
  const env = {
    GITHUB_WORKSPACE: workspace,
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: summary,
    ...environment,
  };
  const { status, stdout, stderr } = node
    ? spawnSync(node, ['dist/action.mjs'], { encoding: 'utf8', env: { ...env, NODE_COMPILE_CACHE } })
    : await runSources(env);
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  return { status, lines: stdout.split('\n'), stderr, output: read(output), summary: read(summary) };
}

async function runSources(environment: Record<string, string>) {
  let stdout = '';
  const status = await runAction(environment, (line) => {
    stdout += `${line}\n`;
  });
  return { status, stdout, stderr: '' };
}

it('the committed bundle is built from the current sources', async () => {
  expect(readFileSync('dist/action.mjs', 'utf8') === (await bundleAction())).toBe(true);
});

// A thorough run downloads the older Node versions.
describe.each(isThorough ? [20, 22, 24] : [24])('the action on Node %i', (major) => {
  it('checks the rule files of a folder', async ({ skip }) => {
    const node = await nodeOf(major);
    if (node === undefined) return skip(`no Node ${major} for this machine in the registry`);

    const fine = await run({ '.reeve.yml': good }, { node });
    expect(fine).toMatchObject({ status: 0, stderr: '' });
    expect(fine.lines).toEqual(['| 1 file, 1 rule, 0 problems', '']);
    expect(fine.output).toMatch(/^result<<(end_\S+)\nok\n\1\nfindings<<(end_\S+)\n0\n\2\n$/);

    const broken = await run(
      { 'rules/a.yml': bad, '.reeve.yml': good },
      { node, environment: { GITEA_ACTIONS: 'true' } },
    );
    expect(broken).toMatchObject({ status: 1, stderr: '' });
    expect(broken.lines.filter((line) => line.startsWith('::error::rules/a.yml:'))).toHaveLength(2);
    expect(broken.output).toContain('\nfindings\n');
    expect(broken.summary).toContain('2 problems');
  });
});

describe('inputs', () => {
  it('take paths from config, and let fail-on: never prevent a failure', async () => {
    const environment = { INPUT_CONFIG: 'x', 'INPUT_FAIL-ON': 'never' };
    const result = await run({ 'x/a.yml': bad, '.reeve.yml': good }, { environment });

    expect(result.status).toBe(0);
    expect(result.lines.at(-2)).toBe('| 1 file, 0 rules, 2 problems');
  });

  it.each([
    [{ INPUT_COMMAND: 'dance' }, 'there is no command "dance"'],
    [{ 'INPUT_FAIL-ON': 'maybe' }, 'fail-on must be'],
    [{ INPUT_CONFIG: 'nowhere.yml' }, 'nowhere.yml cannot be read'],
  ])('%o is refused', async (environment, words) => {
    const result = await run({ '.reeve.yml': good }, { environment });

    expect(result.status).toBe(2);
    expect(result.lines[0]).toContain(words);
    expect(result.output).toContain('failed');
  });

  it('lead to an error if there is nothing to check', async () => {
    expect((await run({})).lines[0]).toContain('::error::no rule file');
  });
});

it('the action reports positions as annotation properties on GitHub', async () => {
  const result = await run({ 'rules/a,b:c.yml': bad }, { environment: { GITHUB_ACTIONS: 'true' } });

  expect(result.lines[0]).toMatch(/^::error file=rules\/a%2Cb%3Ac\.yml,line=9,col=\d+::/);
});

it('text from a rule file never starts a line of output', async () => {
  const hostile = [
    '::set-env name=PATH::/evil',
    '##[add-path]/evil',
    '::error::x',
    '\u001b[2J',
    '::stop-commands::x',
  ];
  for (const text of hostile) {
    const yaml = `version: 1\nrules:\n  a:\n    on: push\n    steps:\n      - uses: ${JSON.stringify(text)}\n${text}: 1\n`;
    const { lines, output } = await run({ '.reeve.yml': yaml });
    const commands = lines.filter((line) => /^\s*(::|##\[)/.test(line));
    expect(
      commands.every((line) => line.startsWith('::error ')),
      text,
    ).toBe(true);
    expect(lines.join('')).not.toContain('\u001b');
    expect(output).not.toContain('evil');
  }
});

it('action.yml declares the inputs and outputs of the code', () => {
  const action = parse(readFileSync('action.yml', 'utf8'));

  expect(Object.keys(action.inputs)).toEqual([
    'command',
    'config',
    'packs',
    'packs-repository',
    'token',
    'server-url',
    'repository',
    'apply',
    'state',
    'state-secret',
    'state-begin',
    'fail-on',
  ]);
  expect(Object.keys(action.outputs)).toEqual(['result', 'findings', 'plan']);
  expect(action.runs).toEqual({ using: 'node24', main: 'dist/action.mjs' });
});
