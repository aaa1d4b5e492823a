import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Judgement, judgeTwins } from '../scripts/twins/judge.ts';
import { applyArguments } from '../scripts/twins/scratch-tree.ts';
import { loadTwins, parseTwin, selectTwins, type Twin } from '../scripts/twins/twin.ts';
import { isThorough } from './support/figure.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const twins = await loadTwins(join(root, 'test/twins'));

describe('a broken twin in test/twins/', () => {
  it.each(twins.map((twin) => [twin.name, twin] as const))('applies to the source: %s', (_name, twin) => {
    const { status, stderr } = spawnSync('git', [...applyArguments, '--check', '-'], {
      cwd: root,
      input: twin.diff,
      encoding: 'utf8',
    });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.each(twins.map((twin) => [twin.name, twin] as const))('names checks that exist: %s', (_name, twin) => {
    const paths = [...twin.testFiles, ...twin.commands.map(([script = '']) => script)];

    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

const diffOf = (path: string, before: string, after: string): string =>
  `--- a/${path}\n+++ b/${path}\n@@ -1,1 +1,1 @@\n-${before}\n+${after}\n`;
const head = 'Breaks: One and one are two.\nCaught by: test/sum.test.ts\n\n';

describe('the text of a patch', () => {
  it('names the promise, test files and commands', () => {
    const text = `Breaks: One and one are two.
Caught by: test/a.test.ts, test/b/c.test.ts
Caught by: node scripts/crash.ts --kills 20

${diffOf('src/sum.ts', 'a', 'b')}`;

    expect(parseTwin('no-sum', text)).toEqual({
      name: 'no-sum',
      breaks: 'One and one are two.',
      testFiles: ['test/a.test.ts', 'test/b/c.test.ts'],
      commands: [['scripts/crash.ts', '--kills', '20']],
      paths: ['src/sum.ts'],
      diff: diffOf('src/sum.ts', 'a', 'b'),
    });
  });

  it.each([
    ['has no diff', head, 'there is no diff'],
    ['has no promise', `Caught by: test/a.test.ts\n${diffOf('src/a.ts', 'a', 'b')}`, 'one line "Breaks: …"'],
    ['names no test', `Breaks: a.\n${diffOf('src/a.ts', 'a', 'b')}`, 'no line "Caught by: …"'],
    [
      'names something else',
      `Breaks: a.\nCaught by: npm test\n${diffOf('src/a.ts', 'a', 'b')}`,
      '"npm test"',
    ],
    ['has another line', `Because: a.\n${head}${diffOf('src/a.ts', 'a', 'b')}`, 'found "Because: a."'],
    ['changes a test', `${head}${diffOf('test/sum.test.ts', 'a', 'b')}`, 'it changes test/sum.test.ts'],
  ])('is refused when it %s', (_case, text, message) => {
    expect(() => parseTwin('name', text)).toThrow(message);
  });
});

describe('the command line of npm run twins', () => {
  const named = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }) as Twin);
  const namesOf = (options: { only?: string[]; shard?: string }): string[] =>
    selectTwins(named, { only: [], shard: '1/1', ...options }).map(({ name }) => name);

  it('selects twins by name, and shards that cover every twin once', () => {
    expect(namesOf({ only: ['d', 'b'] })).toEqual(['b', 'd']);
    expect([namesOf({ shard: '1/2' }), namesOf({ shard: '2/2' })]).toEqual([
      ['a', 'c', 'e'],
      ['b', 'd'],
    ]);
  });

  it('refuses unknown names and malformed shards', () => {
    expect(() => namesOf({ only: ['x'] })).toThrow('test/twins/ has no x');
    for (const shard of ['0/4', '5/4', '4', 'a/b']) expect(() => namesOf({ shard })).toThrow('--shard');
  });
});

describe('twins of a small project', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-small-project-'));
  const project = join(folder, 'project');
  const temporary = join(folder, 'tmp');
  const good = 'export const sum = (a: number, b: number): number => a + b;';
  const files: Readonly<Record<string, string>> = {
    'package.json': '{ "type": "module" }',
    'src/sum.ts': `${good}\n`,
    'scripts/build-action.ts': `import { build } from 'esbuild';
await build({ entryPoints: ['scripts/check.ts'], bundle: true, format: 'esm', write: false });
`,
    'scripts/build-package.ts': '',
    'scripts/check.ts': "import { sum } from '../src/sum.ts';\nprocess.exitCode = sum(1, 1) === 2 ? 0 : 1;\n",
    'test/sum.test.ts': `import { expect, it } from 'vitest';
import { sum } from '../src/sum.ts';
it('adds one and one', () => expect(sum(1, 1)).toBe(2));
`,
    'test/red.test.ts': "import { expect, it } from 'vitest';\nit('is red', () => expect(1).toBe(2));\n",
  };
  const make = (name: string, after: string, before = good): Twin =>
    parseTwin(name, head + diffOf('src/sum.ts', before, after));

  beforeAll(() => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
    }
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
    mkdirSync(join(temporary, 'reeve-twins-999999999-killed/tree'), { recursive: true });
    execFileSync('git', ['init', '--quiet'], { cwd: project });
    writeFileSync(join(project, '.git/info/exclude'), '/node_modules\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.runIf(isThorough)('are caught, missed, or reported as unusable, and leave nothing behind', async () => {
    const judged = await judgeTwins({
      root: project,
      temporary,
      signal: new AbortController().signal,
      twins: [
        make('caught', good.replace('a + b', 'a - b')),
        {
          ...make('caught-by-command', good.replace('a + b', 'b - a')),
          testFiles: [],
          commands: [['scripts/check.ts']],
        },
        make('missed', good.replace('a + b', 'b + a')),
        make('stale', 'export const sum = 1;', 'export const sum = 2;'),
        make('undeclared', good.replace('a + b', 'a + c')),
        make('unloadable', good.replace('const sum', 'const total')),
        { ...make('red', good.replace('a + b', 'a * b')), testFiles: ['test/red.test.ts'] },
      ],
    });

    const verdictOf = ({ twin, verdict, detail }: Judgement) => [twin.name, verdict, detail];
    expect(judged.map(verdictOf)).toEqual([
      ['caught', 'caught', expect.stringContaining('adds one and one: AssertionError: expected +0 to be 2')],
      ['caught-by-command', 'caught', 'exit 1'],
      ['missed', 'missed', 'test/sum.test.ts passes'],
      [
        'stale',
        'error',
        expect.stringContaining('the patch does not apply: error: patch failed: src/sum.ts:1'),
      ],
      ['undeclared', 'error', expect.stringContaining('the patched source is unsound')],
      ['unloadable', 'error', expect.stringContaining('the patched source cannot be built: ')],
      ['red', 'error', expect.stringContaining('test/red.test.ts fails without the patch')],
    ]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('are abandoned on abort, and leave nothing behind', async () => {
    const abort = new AbortController();
    const judging = judgeTwins({
      root: project,
      temporary,
      signal: abort.signal,
      twins: [make('caught', good.replace('a + b', 'a - b'))],
      onProgress: () => setTimeout(() => abort.abort(), 300),
    });

    await expect(judging).rejects.toThrow('aborted');
    expect(readdirSync(temporary)).toEqual([]);
  });
});
