import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isThorough } from './support/figure.ts';

const program = resolve('node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
const config = resolve('.dependency-cruiser.mjs');

/** Checks the floors of `src` in a folder, and returns the number of modules and one line for each violation. */
function cruise(cwd: string): { readonly modules: number; readonly violations: readonly string[] } {
  const args = [program, '--config', config, '--output-type', 'json', 'src'];
  const { stdout } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  const { summary } = JSON.parse(stdout);
  const violations = summary.violations as { rule: { name: string }; from: string; to: string }[];
  return {
    modules: summary.totalCruised,
    violations: violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
  };
}

// `npm run lint` checks the same.
it.runIf(isThorough)('keeps the floors: no upward import, no cycle, no file without a floor', () => {
  const { modules, violations } = cruise('.');

  expect(violations).toEqual([]);
  expect(modules).toBeGreaterThan(50);
});

describe('the floor check', () => {
  // One run for all probe files, because starting the check takes longer than the check.
  const probes: Readonly<Record<string, string>> = {
    'src/platform/errors.ts': 'export const a = 1;\n',
    'src/loose.ts': 'export const b = 1;\n',
    'src/rooms/loose.ts': "export { a } from '../platform/errors.ts';\n",
    'src/work/runs/replay.ts': 'export type Replay = number;\nexport const replay = 1;\n',
    'src/client/client.ts': "export { replay } from '../work/runs/replay.ts';\n",
    'src/client/paging.ts': "export type { Replay } from '../work/runs/replay.ts';\n",
    'src/forge/pulls/list.ts': 'export const list = 1;\n',
    'src/forge/platform/context.ts': "export { list } from '../pulls/list.ts';\n",
    'src/forge/issues/labels-rows.ts': "export { list } from '../pulls/list.ts';\n",
    'src/forge/pulls/pulls.ts': 'export const pulls = 1;\n',
    'src/forge/pulls/create.ts': "export { pulls } from './pulls.ts';\n",
    'src/forge/pages/pulls.ts': "export { pulls } from '../pulls/pulls.ts';\n",
    'src/forge/loose.ts': 'export const loose = 1;\n',
    'src/contract/shape.ts': 'export const shape = 1;\n',
    'src/patterns/glob.ts': "export { shape } from '../contract/shape.ts';\n",
    'src/store/a.ts': "import type { B } from './b.ts';\nexport type A = { readonly b: B };\n",
    'src/store/b.ts': "import type { A } from './a.ts';\nexport type B = readonly A[];\n",
    'src/server/settings/config.ts': 'export const settings = 1;\n',
    'src/cli/commands/rules/rule-tests.ts':
      "export { settings } from '../../../server/settings/config.ts';\n",
    'src/ci/main.ts': "export { settings } from '../cli/commands/rules/rule-tests.ts';\n",
    'src/cli/commands/check.ts': 'export const check = 1;\n',
    'src/ci/check.ts': "export { check } from '../cli/commands/check.ts';\n",
    'package.json': '{ "devDependencies": { "tool": "1.0.0", "zod": "4.0.0" } }',
    ...Object.fromEntries(
      ['tool', 'unlisted', 'zod'].flatMap((name) => [
        [`node_modules/${name}/package.json`, '{ "main": "./index.js" }'],
        [`node_modules/${name}/index.js`, ''],
      ]),
    ),
    'src/exports/run-reeve.ts': "import 'tool';\nimport 'unlisted';\nimport 'zod';\n",
  };
  let violations: readonly string[];
  beforeAll(() => {
    const tree = mkdtempSync(join(tmpdir(), 'reeve-floors-'));
    for (const [path, text] of Object.entries(probes)) {
      mkdirSync(join(tree, dirname(path)), { recursive: true });
      writeFileSync(join(tree, path), text);
    }
    ({ violations } = cruise(tree));
    rmSync(tree, { recursive: true });
  });
  const violationsOf = (...froms: readonly string[]): readonly string[] =>
    violations.filter((line) => froms.some((from) => line.includes(`: src/${from}`)));

  it('rejects a file without a floor, with and without imports', () => {
    expect(violationsOf('loose.ts', 'rooms/')).toEqual([
      expect.stringContaining('src-file-without-floor: src/loose.ts'),
      expect.stringContaining('src-file-without-floor: src/rooms/loose.ts'),
    ]);
  });

  it('rejects an import from a higher floor, including an import of a type', () => {
    expect(violationsOf('client/')).toEqual([
      'src/client-imports-upward: src/client/client.ts → src/work/runs/replay.ts',
      'src/client-imports-upward: src/client/paging.ts → src/work/runs/replay.ts',
    ]);
  });

  it('rejects upward imports in platform files and table rows of the embedded forge, imports of handlers, and a file without a folder', () => {
    expect(violationsOf('forge/')).toEqual([
      'forge-handlers-imported: src/forge/pulls/create.ts → src/forge/pulls/pulls.ts',
      'forge-platform-imports-upward: src/forge/platform/context.ts → src/forge/pulls/list.ts',
      'forge-rows-import-upward: src/forge/issues/labels-rows.ts → src/forge/pulls/list.ts',
      expect.stringContaining('src/forge-file-without-floor: src/forge/loose.ts'),
    ]);
  });

  it('rejects imports between folders on the same floor', () => {
    expect(violationsOf('patterns/')).toEqual([
      'src/patterns-imports-upward: src/patterns/glob.ts → src/contract/shape.ts',
    ]);
  });

  it('rejects a cycle of types inside a folder', () => {
    expect(violationsOf('store/')).toEqual([expect.stringMatching(/^cycle: /)]);
  });

  it('rejects a CI action that reaches the settings or a command', () => {
    expect(violationsOf('ci/')).toEqual([
      'ci-is-no-command: src/ci/check.ts → src/cli/commands/check.ts',
      'ci-stays-small: src/ci/main.ts → src/server/settings/config.ts',
    ]);
  });

  it('rejects a package that package.json does not list, and a package that is not bundled', () => {
    expect(violationsOf('exports/')).toEqual([
      'tool-in-source: src/exports/run-reeve.ts → node_modules/tool/index.js',
      'unknown-package: src/exports/run-reeve.ts → node_modules/unlisted/index.js',
    ]);
  });

  it('reports no other violation', () => {
    expect(violations).toHaveLength(14);
  });
});
