import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isThorough } from './support/thorough.ts';

const program = resolve('node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
const config = resolve('.dependency-cruiser.mjs');

/** Checks the floors of `src` in a folder; returns the number of modules and one line for each violation. */
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

// `npm run lint` asks the same.
it.runIf(isThorough)('keeps the floors: no upward import, no cycle, no file without a floor', () => {
  const { modules, violations } = cruise('.');

  expect(violations).toEqual([]);
  expect(modules).toBeGreaterThan(50);
});

describe('the check of the floors', () => {
  // One run for the files of all tests: starting the check takes longer than the check.
  const probes: Readonly<Record<string, string>> = {
    'src/errors.ts': 'export const a = 1;\n',
    'src/loose.ts': 'export const b = 1;\n',
    'src/rooms/loose.ts': "export { a } from '../errors.ts';\n",
    'src/handlers/replay.ts': 'export type Replay = number;\nexport const replay = 1;\n',
    'src/client/client.ts': "export { replay } from '../handlers/replay.ts';\n",
    'src/client/paging.ts': "export type { Replay } from '../handlers/replay.ts';\n",
    'src/forge/pulls/list.ts': 'export const list = 1;\n',
    'src/forge/issues/changes.ts': "export { list } from '../pulls/list.ts';\n",
    'src/forge/loose.ts': 'export const loose = 1;\n',
    'src/worker/worker.ts': 'export const worker = 1;\n',
    'src/receiver/route.ts': "export { worker } from '../worker/worker.ts';\n",
    'src/store/a.ts': "import type { B } from './b.ts';\nexport type A = { readonly b: B };\n",
    'src/store/b.ts': "import type { A } from './a.ts';\nexport type B = readonly A[];\n",
    'src/settings/config.ts': 'export const settings = 1;\n',
    'src/commands/rules/rule-tests.ts': "export { settings } from '../../settings/config.ts';\n",
    'src/ci/main.ts': "export { settings } from '../commands/rules/rule-tests.ts';\n",
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

  it('rejects an import of a higher floor, and one of a type', () => {
    expect(violationsOf('client/')).toEqual([
      'src/client-imports-upward: src/client/client.ts → src/handlers/replay.ts',
      'src/client-imports-upward: src/client/paging.ts → src/handlers/replay.ts',
    ]);
  });

  it('rejects an upward import inside the embedded forge, and a file of it without a floor', () => {
    expect(violationsOf('forge/')).toEqual([
      expect.stringContaining('src/forge-file-without-floor: src/forge/loose.ts'),
      'src/forge/issues-imports-upward: src/forge/issues/changes.ts → src/forge/pulls/list.ts',
    ]);
  });

  it('rejects imports between folders on one floor', () => {
    expect(violationsOf('receiver/')).toEqual([
      'src/receiver-imports-upward: src/receiver/route.ts → src/worker/worker.ts',
    ]);
  });

  it('rejects a cycle of types inside a folder', () => {
    expect(violationsOf('store/')).toEqual([expect.stringMatching(/^cycle: /)]);
  });

  it('rejects a CI action that reaches the settings', () => {
    expect(violationsOf('ci/')).toEqual(['ci-stays-small: src/ci/main.ts → src/settings/config.ts']);
  });

  it('finds nothing else', () => {
    expect(violations).toHaveLength(9);
  });
});
