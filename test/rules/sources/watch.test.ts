import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { silentLog } from '../../../src/platform/log.ts';
import { type FolderWatch, watchFolder } from '../../../src/rules/sources/folder.ts';

const rule = (name: string): string =>
  `version: 1\nrules:\n  ${name}:\n    on: issues\n    steps: [{ uses: set-labels, with: { add: [x] } }]\n`;

let folder: string;
let watch: FolderWatch | undefined;
afterEach(async () => {
  await watch?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Watches a folder with one valid file; `until` resolves when the active rules have these names. */
function setUp() {
  folder = mkdtempSync(join(tmpdir(), 'reeve-watch-'));
  writeFileSync(join(folder, 'one.yml'), rule('one'));
  let names: readonly string[] = [];
  let loads = 0;
  watch = watchFolder(folder, {
    log: silentLog,
    onRules: (rules) => {
      names = rules.map(({ name }) => name);
      loads += 1;
    },
  });
  return {
    watch,
    until: (wanted: readonly string[]) => expect.poll(() => names).toEqual(wanted),
    loads: () => loads,
  };
}

it('applies a new, a changed and a removed file without notification', async () => {
  const { watch: looking, until } = setUp();
  await looking.look();
  await until(['one']);

  writeFileSync(join(folder, 'two.yml'), rule('two'));
  await until(['one', 'two']);
  // Editors save this way: they write a new file and rename it.
  writeFileSync(join(folder, '.swap'), rule('changed'));
  renameSync(join(folder, '.swap'), join(folder, 'one.yml'));
  await until(['changed', 'two']);
  rmSync(join(folder, 'two.yml'));
  await until(['changed']);
});

it('refuses only the broken file, and stops applying its previous rules', async () => {
  const { watch: looking, until } = setUp();
  writeFileSync(join(folder, 'two.yml'), rule('two'));
  await looking.look();
  writeFileSync(join(folder, 'two.yml'), rule('two').replace('uses', 'use'));

  await until(['one']);
});

it('reloads nothing if nothing changed, and keeps the active rules while the folder is missing', async () => {
  const { watch: looking, until, loads } = setUp();
  await looking.look();
  await looking.look();
  expect(loads()).toBe(1);
  rmSync(folder, { recursive: true });
  await looking.look();

  await until(['one']);
});

it('reads the files of a Kubernetes volume through their links, and follows no link out of the folder', async () => {
  const { watch: looking, until } = setUp();
  const elsewhere = mkdtempSync(join(tmpdir(), 'reeve-outside-'));
  writeFileSync(join(elsewhere, 'three.yml'), rule('three'));
  symlinkSync(join(elsewhere, 'three.yml'), join(folder, 'three.yml'));
  symlinkSync(join(folder, 'nothing.yml'), join(folder, 'four.yml'));
  for (const version of ['first', 'second']) {
    mkdirSync(join(folder, `..${version}`));
    writeFileSync(join(folder, `..${version}`, 'two.yml'), rule(version));
  }
  symlinkSync('..first', join(folder, '..data'));
  symlinkSync(join('..data', 'two.yml'), join(folder, 'two.yml'));
  await looking.look();
  await until(['one', 'first']);

  // A kubelet updates the volume this way.
  symlinkSync('..second', join(folder, '..new'));
  renameSync(join(folder, '..new'), join(folder, '..data'));
  await until(['one', 'second']);
  rmSync(elsewhere, { recursive: true });
});
