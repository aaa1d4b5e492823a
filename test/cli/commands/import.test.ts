import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reeve } from '../../support/command.ts';
import { startEmbedded } from '../../support/contract-forge.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-import-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes files below the folder, by path. */
async function write(tree: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(tree)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Runs the command on paths of the folder; `out` is the folder of the result. */
function run(
  paths: readonly string[],
  flags: readonly string[] = [],
  environment: Record<string, string> = {},
) {
  const given = paths.map((path) => join(folder, path));
  return reeve(['import', ...given, '--out', join(folder, 'out'), ...flags], { environment });
}

const read = (name: string): Promise<string> => readFile(join(folder, 'out', name), 'utf8');

describe('the exit status', () => {
  it('is 0 if every part is converted, and rules, tests and report are written', async () => {
    await write({ 'repo/.github/labeler.yml': 'docs: ["docs/**"]\n' });

    const { status, out } = await run(['repo/.github/labeler.yml']);

    expect([status, await readdir(join(folder, 'out'))]).toEqual([
      0,
      ['labeler.import.md', 'labeler.test.yml', 'labeler.yml'],
    ]);
    expect(out).toContain('1 labels, 1 exact, 0 with a difference, 0 left out');
    expect(await read('labeler.yml')).toContain('mode: observe');
  });

  it('is 1 if a part is left out, which the report names with its line', async () => {
    await write({ 'settings.yml': 'repository: { has_wiki: false }\nenvironments: [{ name: prod }]\n' });

    const { status, out } = await run(['settings.yml'], ['--as', 'settings', '--repository', 'acme/demo']);

    expect(status).toBe(1);
    expect(out).toContain('1 part left out');
    expect(await read('settings.import.md')).toContain('| 2 | `environments.prod` |');
  });

  it('is 0 for a file without rules, such as CODEOWNERS', async () => {
    await write({ 'repo/CODEOWNERS': '* @ada\n' });

    expect((await run(['repo/CODEOWNERS'])).status).toBe(0);
    expect(await readdir(join(folder, 'out'))).toEqual(['CODEOWNERS.CODEOWNERS', 'CODEOWNERS.import.md']);
  });
});

it('--json prints every part and what was written', async () => {
  await write({ CODEOWNERS: '* @ada\n/x docs@example.org\n' });

  const { out } = await run(['CODEOWNERS'], ['--json']);
  const { files, written } = JSON.parse(out) as {
    files: { format: string; exact: number; differs: number; entries: { part: string }[] }[];
    written: string[];
  };

  expect(files.map(({ format, exact, differs }) => [format, exact, differs])).toEqual([['codeowners', 0, 2]]);
  expect(files[0]?.entries.map(({ part }) => part)).toContain('/x docs@example.org');
  expect(written).toHaveLength(2);
});

describe('a folder', () => {
  it('is searched for the places of all formats, but not through links and in packages', async () => {
    await write({
      'repo/.github/labeler.yml': 'docs: ["docs/**"]\n',
      'repo/.github/settings.yml': 'labels: [{ name: a, color: ffffff }]\n',
      'repo/CODEOWNERS': '* @ada\n',
      'repo/OWNERS': 'approvers: [root]\n',
      'repo/docs/OWNERS': 'approvers: [ada]\n',
      'repo/node_modules/x/OWNERS': 'approvers: [eve]\n',
      'elsewhere/OWNERS': 'approvers: [eve]\n',
    });
    await symlink(join(folder, 'elsewhere'), join(folder, 'repo/linked'));
    await symlink(join(folder, 'elsewhere/OWNERS'), join(folder, 'repo/OWNERS_ALIASES'));

    const { out } = await run(['repo'], ['--json', '--repository', 'acme/demo']);
    const { files } = JSON.parse(out) as { files: { format: string; entries: { part: string }[] }[] };

    expect(files.map(({ format }) => format).toSorted()).toEqual([
      'codeowners',
      'labeler',
      'owners',
      'settings',
    ]);
    expect(
      files
        .flatMap(({ entries }) => entries.map(({ part }) => part))
        .filter((part) => part.includes('OWNERS')),
    ).toEqual(['OWNERS: approvers', 'docs/OWNERS: approvers']);
  });

  it('names what cannot be read, and imports the rest', async () => {
    await write({
      'repo/.github/labeler.yml': 'docs: ["docs/**"]\n',
      'repo/.github/settings.yml': 'labels: [\n',
      'repo/.mergify.yml': 'rules: []\n',
      'repo/CODEOWNERS': 'x'.repeat(1_100_000),
      'repo/.github/workflows/ci.yml': 'on: push\n',
    });

    const { status, out } = await run(['repo']);

    expect([status, await readdir(join(folder, 'out'))]).toEqual([
      1,
      ['labeler.import.md', 'labeler.test.yml', 'labeler.yml'],
    ]);
    expect(out.split('\n').filter((line) => line.includes('not read'))).toEqual([
      expect.stringMatching(/mergify\.yml: it stands where Mergify reads, and is not of that form$/),
      expect.stringMatching(/CODEOWNERS is larger than 1048576 bytes$/),
      expect.stringMatching(/settings\.yml:\d+: .*read as probot\/settings/),
    ]);
  });

  it('without a configuration is refused', async () => {
    await write({ 'repo/README.md': 'x' });

    const { status, error } = await run(['repo']);

    expect([status === 0, error]).toEqual([
      false,
      expect.stringContaining('no configuration of another bot was found'),
    ]);
  });
});

describe('is refused', () => {
  it.each<[why: string, flags: readonly string[], message: string]>([
    ['an unknown format', ['--as', 'nothing'], 'there is no format nothing'],
    ['an unknown target', ['--for', 'everyone'], '--for is one of'],
    ['a pair without `=`', ['--user', 'ada'], '--user has the form FROM=TO'],
    ['a team without a name', ['--team', 'acme/a='], '--team has the form FROM=TO'],
    ['another format', ['--as', 'settings'], 'read as probot/settings; --as names another format'],
  ])('%s', async (_, flags, message) => {
    await write({ CODEOWNERS: '* @ada\n' });

    const { status, error } = await run(['CODEOWNERS'], flags);

    expect([status === 0, error]).toEqual([false, expect.stringContaining(message)]);
    expect(await readdir(folder)).toEqual(['CODEOWNERS']);
  });

  it('a file of which the format is not clear, or that is too large or missing', async () => {
    await write({ 'other.yml': 'a: 1\n', CODEOWNERS: 'x'.repeat(1_100_000) });

    expect((await run(['other.yml'])).error).toContain('is not clear: --as names it, one of labeler');
    expect((await run(['CODEOWNERS'])).error).toContain('larger than 1048576 bytes');
    expect((await run(['missing'])).error).toContain('cannot be read');
  });
});

it('names of users, teams and checks are those of the forge', async () => {
  await write({
    'settings.yml':
      'branches:\n  - name: main\n    protection: { required_pull_request_reviews: null, required_status_checks: { strict: true, contexts: [build] }, enforce_admins: true, restrictions: { users: [ada], teams: [core], apps: [] } }\n',
  });

  await run(
    ['settings.yml'],
    [
      '--as',
      'settings',
      '--repository',
      'acme/demo',
      '--user',
      '@ada=lovelace',
      '--team',
      'acme/core=acme/developers',
      '--checks',
      '*=ci / {}',
    ],
  );

  const text = await read('settings.yml');
  for (const expected of ['lovelace', 'developers', 'ci / build']) expect(text).toContain(`- ${expected}`);
});

it('--for repository lists in the report what the operator has to grant', async () => {
  await write({
    'settings.yml': 'labels: [{ name: a, color: ffffff }]\ncollaborators: [{ username: ada }]\n',
  });

  await run(['settings.yml'], ['--as', 'settings', '--for', 'repository', '--repository', 'acme/demo']);

  const [, needed = ''] = /## Needed\n\n([\s\S]*?)\n\n##/.exec(await read('settings.import.md')) ?? [];
  expect(needed).toContain('sync-labels');
  expect(needed).toContain('sync-collaborators');
  expect(await read('settings.yml')).not.toMatch(/^ *in:/m);
});

describe('the folder of the result', () => {
  it('is not overwritten without --force', async () => {
    await write({ CODEOWNERS: '* @ada\n', 'out/CODEOWNERS.import.md': 'mine' });

    const refused = await run(['CODEOWNERS']);

    expect([refused.status === 0, refused.error]).toEqual([
      false,
      expect.stringContaining('exists; --force overwrites'),
    ]);
    expect(await readdir(join(folder, 'out'))).toEqual(['CODEOWNERS.import.md']);
    expect((await run(['CODEOWNERS'], ['--force'])).status).toBe(0);
    expect(await read('CODEOWNERS.import.md')).toContain('# Import of');
  });

  it.each(['without', 'with'])('is never written through a link, %s --force', async (how) => {
    await write({ CODEOWNERS: '* @ada\n', 'target.md': 'mine', 'out/x': '' });
    await symlink(join(folder, 'target.md'), join(folder, 'out/CODEOWNERS.import.md'));

    const { status, error } = await run(['CODEOWNERS'], how === 'with' ? ['--force'] : []);

    expect([status === 0, error]).toEqual([
      false,
      expect.stringContaining('nothing is written through links'),
    ]);
    expect(await readFile(join(folder, 'target.md'), 'utf8')).toBe('mine');
    expect((await lstat(join(folder, 'out/CODEOWNERS.import.md'))).isSymbolicLink()).toBe(true);
  });
});

it('only reads at the forge, and uses its names and files', async () => {
  const forge = await startEmbedded();
  const proxy = await startFaultProxy(forge.url);
  try {
    const owner = await forge.makeUser();
    const repository = await forge.makeRepository(owner, { auto_init: true });
    await write({ CODEOWNERS: `* @${owner.name}\n/nowhere/ @${owner.name} @x\n/README.md @x\n` });

    const { out } = await run(['CODEOWNERS'], ['--json', '--repository', repository], {
      FORGE_URL: proxy.url,
      FORGE_TOKEN: owner.token,
    });

    const { files } = JSON.parse(out) as { files: { entries: { part: string; note?: string }[] }[] };
    expect(
      files[0]?.entries
        .filter(({ note = '' }) => note.includes('no file of the default branch'))
        .map(({ part }) => part),
    ).toEqual([`/nowhere/ @${owner.name} @x`]);
    expect(JSON.stringify(files[0]?.entries)).not.toContain('Forgejo and earlier releases');
    expect(proxy.passed.length).toBeGreaterThan(4);
    expect(new Set(proxy.passed.map(({ method }) => method))).toEqual(new Set(['GET']));
  } finally {
    await proxy.close();
    await forge.close();
  }
});
