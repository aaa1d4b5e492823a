import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { reeve, reeveProcess, start, waitForExit, waitForOutput } from '../../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-commands-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const payload = {
  action: 'opened',
  number: 7,
  pull_request: {
    number: 7,
    draft: false,
    additions: 50,
    deletions: 1,
    labels: [{ id: 3, name: 'area/code' }],
  },
  repository: { id: 1, full_name: 'acme/demo' },
  sender: { id: 3, login: 'ada' },
};
const payloadFile = file('payload.json', JSON.stringify(payload));
const factsFile = file(
  'facts.yml',
  'files: [docs/a.md]\nlabel_definitions: [area/docs, area/code, size/L]\n',
);

describe('check', () => {
  const five = file(
    'five.yml',
    `version: 1
rules:
  one:
    on: { pull_request: [synchronize] }
    if: !pull_request.draft
    steps:
      - uses: set-label
        with: { add: [x] }
  two:
    on: issues
    colour: red
    if: issue.titel == "x"
    steps:
      - uses: set-labels
        with: { add: [x] }
`,
  );

  it('prints five problems with their positions for five mistakes', async () => {
    const { status, out, error } = await reeveProcess(['check', five]);

    expect({ status, error }).toEqual({ status: 1, error: '' });
    const places = out.split('\n').flatMap((line) => /five\.yml:(\d+:\d+: [a-z-]+):/.exec(line)?.[1] ?? []);
    expect(places).toEqual([
      '4:26: unknown-activity',
      '5:9: yaml-tag',
      '7:15: unknown-action',
      '11:5: unknown-key',
      '12:15: unknown-member',
    ]);
    expect(out).toContain('did you mean "synchronized"?');
    expect(out).toContain('5 problems in 1 file of 1');
  });

  it('prints the same as one JSON object', async () => {
    const { status, out } = await reeve(['check', '--json', five]);

    const report = JSON.parse(out);
    expect(status).toBe(1);
    expect(report).toMatchObject({ files: 1, rules: 0 });
    expect(report.problems).toHaveLength(5);
    expect(report.problems[0]).toMatchObject({ code: 'unknown-activity', line: 4, column: 26, path: five });
  });

  it('accepts the shipped rules, and a repository with its own rules', async () => {
    expect(await reeve(['check', 'rules'])).toMatchObject({ status: 0 });
    writeFileSync(join(folder, '.reeve.yml'), readFileSync('rules/demo/labels.yml'));

    const { status, out } = await reeveProcess(['check'], { cwd: folder });
    expect({ status, out }).toEqual({
      status: 0,
      out: expect.stringMatching(/^label-by-path: on: auto = .*, push\n1 file, 1 rule: no problems\n$/),
    });
  });

  it('applies the limits of repository files to the `.reeve.yml` of the current folder', async () => {
    const own = mkdtempSync(join(folder, 'own-'));
    writeFileSync(
      join(own, '.reeve.yml'),
      readFileSync('rules/demo/labels.yml', 'utf8').replace(
        '  label-by',
        '  in-all:\n    in: ["*"]\n    on: push\n    steps: [{ uses: set-labels, with: { add: [a] } }]\n  label-by',
      ),
    );

    const { status, out } = await reeveProcess(['check'], { cwd: own });
    expect(status).toBe(1);
    expect(out).toContain('.reeve.yml:7:5: level');
  });

  it('reports a path that does not exist', async () => {
    expect(await reeve(['check', 'nowhere.yml'])).toMatchObject({ status: 2, out: '' });
  });
});

describe('plan', () => {
  const args = [
    'plan',
    '--event',
    'pull_request',
    '--payload',
    payloadFile,
    '--facts',
    factsFile,
    '--rules',
    'rules/demo',
  ];

  it('prints a run with all its fields, offline', async () => {
    const { status, out, error } = await reeve([...args, '--json']);

    expect({ status, error }).toEqual({ status: 0, error: '' });
    const run = JSON.parse(out);
    expect(Object.keys(run)).toEqual([
      'schema',
      'id',
      'mode',
      'trigger',
      'rules',
      'changes',
      'refused',
      'outcomes',
      'requests',
      'ms',
    ]);
    expect(run).toMatchObject({
      schema: 1,
      mode: 'plan',
      trigger: { door: 'cli', kind: 'pull_request', activity: 'opened' },
      requests: 0,
    });
    expect(run.rules[0]).toMatchObject({
      verdict: 'matched',
      line: 6,
      findings: [{ result: 'not', line: 9, column: 11 }, {}, {}, {}],
    });
    expect(
      run.changes.map(({ target, value }: { target: string; value: boolean }) => [target, value]),
    ).toEqual([
      ['label:area/docs', true],
      ['label:size/L', true],
      ['label:area/code', false],
    ]);
    expect(run.changes[0]).toMatchObject({
      action: 'set-labels',
      operation: 'issue.replace-labels',
      method: 'PUT',
      path: '/repos/acme/demo/issues/7/labels',
      before: false,
      after: true,
    });
    expect(run.outcomes.every(({ status: become }: { status: string }) => become === 'planned')).toBe(true);
  });

  it('prints the same as text without --json', async () => {
    const { status, out } = await reeve(args);

    expect(status).toBe(0);
    expect(out).toContain('✓ label-by-path: matched');
    expect(out).toContain('  + label:area/docs');
    expect(out).toContain('  - label:area/code');
  });

  it('reports missing facts, and exits 1', async () => {
    const { status, out } = await reeve([
      'plan',
      '--event',
      'pull_request',
      '--payload',
      payloadFile,
      '--facts',
      file('none.yml', '{}'),
      '--rules',
      'rules/demo',
    ]);

    expect(status).toBe(1);
    expect(out).toContain('✗ label-by-path: failed');
    expect(out).toContain('files is not given');
  });

  it.each([
    [['--event', 'pull_requests'], 'there is no event "pull_requests"'],
    [['--payload', 'nowhere.json'], 'nowhere.json cannot be read'],
    [['--payload', file('list.json', '[]')], 'must contain a map'],
    [['--payload', file('empty.json', '{}')], 'but is missing'],
  ])('%s is refused', async (more, words) => {
    const { status, error } = await reeve([...args, ...more]);

    expect(error).toContain(words);
    expect(status === 1 || status === 2).toBe(true);
  });
});

describe('test', () => {
  it('passes for the shipped rules, and reaches every rule and step', async () => {
    const { status, out } = await reeve(['test', 'rules']);

    expect(status).toBe(0);
    expect(out).not.toContain('not reached');
    expect(out).toMatch(/\d+ cases passed, 0 failed/);
  });

  it('prints differences, and the rules and steps that no case reaches', async () => {
    const own = mkdtempSync(join(folder, 'tests-'));
    const rules = readFileSync('rules/demo/labels.yml', 'utf8');
    writeFileSync(join(own, 'a.yml'), rules.replace('"docs/**"', '"doc/**"'));
    writeFileSync(join(own, 'a.test.yml'), readFileSync('rules/demo/labels.test.yml'));
    writeFileSync(join(own, 'b.yml'), rules);

    const { status, out } = await reeve(['test', own]);
    expect(status).toBe(1);
    expect(out).toContain('✗');
    expect(out).toContain('missing change: {"action":"set-labels","target":"label:area/docs","value":true}');
    expect(out).toContain(`not reached: rule ${join(own, 'b.yml')}#label-by-path`);
  });
});

it('prints the JSON Schema of rule files', async () => {
  const { status, out } = await reeve(['schema']);

  expect(status).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
  });
});

describe('usage', () => {
  it('prints help with examples', async () => {
    expect(await reeve(['--help'])).toMatchObject({ status: 0, error: '' });
    expect((await reeve(['plan', '--help'])).out).toContain('Examples:');
  });

  it.each([[['dance']], [['explain']], [['check', '--colour']], [['serve', '--once', '--twice']]])(
    '%s exits 2',
    async (args) => {
      const { status, out, error } = await reeve(args);

      expect({ status, out }).toEqual({ status: 2, out: '' });
      expect(error).toContain('see reeve --help');
    },
  );
});

describe('serve', () => {
  it('reports all invalid settings at once', async () => {
    const { status, error } = await reeveProcess(['serve'], {
      environment: { FORGE_URL: 'http://127.0.0.1:1', PORT: 'x', REEVE_DATAS: 'y' },
    });

    expect(status).toBe(2);
    for (const words of [
      'neither FORGE_TOKEN',
      'no webhook secret',
      'PORT must',
      'REEVE_DATAS is not a setting',
    ])
      expect(error).toContain(words);
  });

  it('names the setting if its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const environment = { REEVE_DATA: join(folder, 'taken'), PORT: '0', FORGE_PORT: String(port) };

    const { status, error } = await reeveProcess(['serve'], { environment });
    other.close();
    expect(status).toBe(2);
    expect(error).toContain('FORGE_PORT');
    expect(error).toContain(String(port));
  });
});

it('forge runs only the embedded forge, and prints its address as one line of JSON', async () => {
  const data = join(folder, 'forge');
  const child = start(['forge', '--port', '0', '--data', data, '--admin', 'root:a-password', '--json']);
  const ended = waitForExit(child);
  const line =
    (await waitForOutput(child, /^\{.*\}\n/m)).split('\n').find((text) => text.startsWith('{')) ?? '';
  const { url } = JSON.parse(line);

  const answer = await fetch(`${url}/api/v1/user`, {
    headers: { authorization: `Basic ${btoa('root:a-password')}` },
  });
  expect(await answer.json()).toMatchObject({ login: 'root', is_admin: true });
  child.kill('SIGTERM');
  expect((await ended).status).toBe(0);
});
