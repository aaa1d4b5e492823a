import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/platform/log.ts';
import { findRuleFiles, loadRuleFiles, readOffers, watchFolder } from '../../../src/rules/sources/folder.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-packs-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const pack = `version: 1
params: { label: { type: string, default: stale } }
rules: { add: { on: issues, steps: [{ uses: set-labels, with: { add: ["\${{ params.label }}"] } }] } }
`;
const including = (file: string): string =>
  `version: 1\ninclude: [{ name: p, file: ${file}, mode: enforce }]\n`;
const load = async () => {
  const files = await loadRuleFiles([folder]);
  return {
    rules: files.flatMap(({ rules }) => rules.map(({ id }) => id.replace(`${folder}/`, ''))),
    problems: files.flatMap(({ problems }) => problems.map(({ message }) => message)),
  };
};

describe('packs of a folder', () => {
  it('take effect only through a file that includes them', async () => {
    put('packs/stale.yml', pack);
    put('teams/packs/other.yml', pack);
    expect(await load()).toEqual({ rules: [], problems: [] });

    put('own.yml', including('packs/stale.yml'));
    put('teams/own.yml', including('packs/other.yml'));
    expect(await load()).toEqual({ rules: ['own.yml#p/add', 'teams/own.yml#p/add'], problems: [] });
  });

  it('are checked together with the other files', async () => {
    put('packs/stale.yml', pack.replace('default', 'example'));

    const files = await loadRuleFiles([folder], { withPacks: true });

    expect(files.map(({ rules, problems }) => [rules.length, problems.length])).toEqual([[1, 0]]);
    expect(await findRuleFiles([folder])).toEqual([]);
  });

  it('are not the files of a folder of that name that the operator gives, nor are files of the name of repositories theirs', async () => {
    const level = async (path: string, isOperators: boolean) => {
      const files = await loadRuleFiles([join(folder, path)], { isOperators });
      return files.map(({ isPack, level, rules }) => [isPack, level, rules.length]);
    };
    const text = pack.replace('params: { label: { type: string, default: stale } }\n', '');
    const rule = text.replace('${{ params.label }}', 'stale');
    put('packs/a.yml', rule);
    put('home/.reeve.yml', rule);

    expect(await level('packs', true)).toEqual([[false, 'operator', 1]]);
    expect(await level('packs/a.yml', true)).toEqual([[false, 'operator', 1]]);
    expect(await level('packs/a.yml', false)).toEqual([[true, 'operator', 1]]);
    expect(await level('home/.reeve.yml', true)).toEqual([[false, 'operator', 1]]);
    expect(await level('home/.reeve.yml', false)).toEqual([[false, 'repository', 1]]);
  });

  it('are never read through a symbolic link', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'reeve-outside-'));
    writeFileSync(join(outside, 'p.yml'), pack);
    mkdirSync(join(folder, 'packs'));
    symlinkSync(join(outside, 'p.yml'), join(folder, 'packs', 'file.yml'));
    symlinkSync(outside, join(folder, 'packs', 'linked'));
    put('a.yml', including('packs/file.yml'));
    put('b.yml', including('packs/linked/p.yml'));
    put('c.yml', including('packs'));

    const { rules, problems } = await load();

    expect(rules).toEqual([]);
    expect(problems.map((message) => message.replace(/^.*included: /, ''))).toEqual([
      'packs/file.yml is a symbolic link, or is reached through one',
      'packs/linked/p.yml is a symbolic link, or is reached through one',
      'packs are files that end in .yml and are not rule tests',
    ]);
    expect([...(await readOffers(folder)).keys()]).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  it('that are offered have the names of their files, and do not reveal their folder', async () => {
    put('packs/stale.yml', including('inner/p.yml'));
    put('packs/inner/p.yml', pack);
    put('packs/stale.test.yml', 'cases: []');

    const offers = await readOffers(folder);

    expect([...offers.keys()]).toEqual(['stale']);
    expect(JSON.stringify([...offers])).not.toContain(folder);
    expect(offers.get('stale')).toMatchObject({ path: 'packs/stale.yml', isReadable: false });
  });
});

it('a changed, removed or restored pack takes effect the next time the folder is scanned', async () => {
  put('packs/stale.yml', pack);
  put('own.yml', including('packs/stale.yml'));
  let labels: readonly unknown[] = [];
  let offered: readonly string[] = [];
  const watch = watchFolder(folder, {
    log: silentLog,
    onRules(rules, _files, offers) {
      labels = rules.flatMap(({ steps }) => steps.map((step) => step.arguments.written));
      offered = [...offers.keys()];
    },
  });
  await watch.look();
  expect([labels, offered]).toEqual([[{ add: ['stale'] }], ['stale']]);

  put('packs/stale.yml', pack.replace('stale', 'quiet'));
  await watch.look();
  expect(labels).toEqual([{ add: ['quiet'] }]);

  rmSync(join(folder, 'packs', 'stale.yml'));
  await watch.look();
  expect([labels, offered]).toEqual([[], []]);

  put('packs/stale.yml', pack);
  await watch.look();
  expect(labels).toEqual([{ add: ['stale'] }]);
  await watch.stop();
});
