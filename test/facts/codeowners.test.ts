import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { findPathOwners, parseCodeowners } from '../../src/patterns/codeowners-file.ts';
import { createUnlimitedMeter, Meter } from '../../src/patterns/meter.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { json, startBareServer } from '../support/bare-server.ts';

const gitea = { hasRoot: true, hasLookaround: true };
const forgejo = { hasRoot: false, hasLookaround: false };

/** Returns the owners of one path. */
function ownersOf(text: string, path: string, dialect = gitea): readonly string[] {
  const meter = createUnlimitedMeter();
  const [found] = findPathOwners(parseCodeowners(text, dialect), [path], { dialect, meter });
  return [...(found?.owners ?? [])];
}

describe('a line of CODEOWNERS', () => {
  it.each([
    ['src/.* @ada @acme/ui', [{ pattern: 'src/.*', isNegative: false, owners: ['ada', 'acme/ui'] }]],
    ['  a\t@ada\r', [{ pattern: 'a', owners: ['ada'] }]],
    ['a ada', [{ owners: ['ada'] }]],
    ['a @@ada', [{ owners: ['@ada'] }]],
    ['!a @ada', [{ pattern: 'a', isNegative: true }]],
    ['!!a @ada', [{ pattern: '!a', isNegative: true }]],
    ['/a @ada', [{ pattern: 'a' }]],
    ['!//a @ada', [{ pattern: '/a', isNegative: true }]],
    ['a\\ b @ada', [{ pattern: 'a b' }]],
    ['a\\\\.b @ada', [{ pattern: 'a\\.b' }]],
    ['a\\#b @ada # why', [{ pattern: 'a#b', owners: ['ada'] }]],
    ['a @ada#no', [{ owners: ['ada'] }]],
    ['# a @ada', []],
    ['a# @ada', []],
    ['a', []],
    ['', []],
    ['\u00a0a\u3000@ada', [{ pattern: 'a\u3000@ada' }].slice(1)],
    ['\ufeffa @ada', [{ pattern: '\ufeffa' }]],
  ])('%j', (text, expected) => {
    expect(parseCodeowners(text, gitea)).toMatchObject(expected);
    expect(parseCodeowners(text, gitea)).toHaveLength(expected.length);
  });

  it('keeps a leading slash on a forge that gives it no meaning', () => {
    expect(ownersOf('/a @ada', 'a', forgejo)).toEqual([]);
    expect(ownersOf('/a @ada', 'a', gitea)).toEqual(['ada']);
  });
});

describe('the owners of a path', () => {
  it.each([
    ['the whole path must match', 'src @ada', 'src/a.ts', []],
    [
      'the owners of all matching lines are combined',
      'src/.* @ada\n.*\\\\.ts @eve @ada',
      'src/a.ts',
      ['ada', 'eve'],
    ],
    ['a dot matches any character', 'a.c @ada', 'abc', ['ada']],
    ['a negative line applies to all other files', '!src/.* @ada', 'docs/a.md', ['ada']],
    ['a negative line excludes matching files', '!src/.* @ada', 'src/a.md', []],
    ['an alternative is outside the anchors', 'a|b @ada', 'ax', ['ada']],
    ['a repeated last character is not part of the prefix', 'ab* @ada', 'a', ['ada']],
    ['a repeated character outside the BMP is not part of the prefix', 'a😀* @ada', 'a', ['ada']],
    ['a group of options comes first', '(?i)src @ada', 'SRC', ['ada']],
    ['a lone exclamation mark applies to every file', '! @ada', 'x', ['ada']],
    ['a repeated anchor is ignored, as in Go', '*.ts @ada', 'src/a.ts', ['ada']],
    ['an invalid line for other folders does not matter', 'docs/( @ada', 'src/a.ts', []],
    ['an invalid line is an error', 'src/( @ada', 'src/a.ts', 'error'],
    ['an invalid negative line is an error for every path', '!docs/( @ada', 'src/a.ts', 'error'],
  ])('%s', (_, text, path, expected) => {
    if (expected === 'error') expect(() => ownersOf(text, path)).toThrow(/line 1 of CODEOWNERS: .*not RE2/);
    else expect(ownersOf(text, path)).toEqual(expected);
  });

  it('are an error with the line if a pattern uses features that RE2 lacks, on a forge that supports them', () => {
    expect(() => ownersOf('a @eve\nsrc/(?!lib).* @ada', 'src/a')).toThrow('line 2 of CODEOWNERS');
    expect(ownersOf('src/(?!lib).* @ada\nsrc/.* @eve', 'src/a', forgejo)).toEqual(['eve']);
    expect(() => ownersOf(`${'a'.repeat(2100)} @ada\n!${'b'.repeat(2100)} @ada`, 'x', forgejo)).toThrow(
      'line 2',
    );
  });

  it('with a look-ahead at the start is one of a forge that has it, and is skipped elsewhere', () => {
    const text = '(?!docs/).* @ada\n.* @eve';
    expect(ownersOf(text, 'src/a')).toEqual(['ada', 'eve']);
    expect(ownersOf(text, 'docs/a')).toEqual(['eve']);
    expect(ownersOf(text, 'src/a', forgejo)).toEqual(['eve']);
  });

  it('are charged to the meter, per line and per path', () => {
    const units = (lines: number, paths: number): number => {
      const pool = { left: 1e12 };
      const meter = new Meter({ pool, reserve: 0, describe: () => 'used up' });
      const text = Array.from({ length: lines }, (_, n) => `src/(a|b)*${n}.* @ada`).join('\n');
      findPathOwners(
        parseCodeowners(text, gitea),
        Array.from({ length: paths }, (_, n) => `src/${n}`),
        {
          dialect: gitea,
          meter,
        },
      );
      return 1e12 - pool.left;
    };

    expect(units(200, 10)).toBeGreaterThan(9 * units(20, 10));
    expect(units(20, 1_000)).toBeGreaterThan(2 * units(20, 100));
  });
});

const pull = { id: 1, number: 7, title: 't', state: 'open', base: { ref: 'release' } };
const repository = { id: 1, full_name: 'acme/demo', default_branch: 'main' };

/** Requests the fact from a forge with these files, users and teams. */
async function ask(options: {
  files?: Readonly<Record<string, string>>;
  changed?: readonly object[];
  version?: string;
  teams?: Readonly<Record<string, readonly string[] | number>>;
  repositoryTeams?: readonly string[];
  units?: number;
  down?: string;
}) {
  const { files = {}, changed = [{ filename: 'src/a.ts' }], version = '1.27.0', teams = {}, units } = options;
  const asked: string[] = [];
  const server = await startBareServer((seen, response) => {
    const path = seen.path.replace('/api/v1', '').split('?')[0] ?? '';
    asked.push(path);
    const answer = answerOf(path);
    if (options.down !== undefined && path.startsWith(options.down)) json(response, {}, 500);
    else if (answer === undefined || typeof answer === 'number') json(response, {}, answer ?? 404);
    else json(response, answer, 200, Array.isArray(answer) ? { 'x-total-count': String(answer.length) } : {});
  });
  const answerOf = (path: string): unknown => {
    const [, user] = /^\/users\/([^/]+)$/.exec(path) ?? [];
    if (user)
      return ['ada', 'eve'].includes(user.toLowerCase()) ? { id: 1, login: user.toLowerCase() } : undefined;
    const [, org] = /^\/orgs\/([^/]+)\/teams$/.exec(path) ?? [];
    if (org) return Array.isArray(teams[org]) ? teams[org].map((name, id) => ({ id, name })) : teams[org];
    const [, file] = /^\/repos\/acme\/demo\/contents-ext\/(.+)$/.exec(path) ?? [];
    if (file) {
      const text = files[file];
      if (text === undefined) return undefined;
      const type = text.startsWith('link:') ? 'symlink' : text === 'dir' ? 'dir' : 'file';
      const content = Buffer.from(text).toString('base64');
      const entry = { name: file, path: file, type, sha: 'x', encoding: 'base64', content };
      return type === 'dir' ? { dir_contents: [] } : { file_contents: entry };
    }
    return {
      '/version': { version },
      '/repos/acme/demo': repository,
      '/repos/acme/demo/pulls/7': pull,
      '/repos/acme/demo/pulls/7/files': changed,
      '/repos/acme/demo/teams': options.repositoryTeams?.map((name, id) => ({ id, name })),
    }[path];
  };
  const facts = createFacts({
    client: createClient({ url: server.url, tries: 1 }),
    subject: { kind: 'pull_request', index: 7, repository: { id: 1, owner: 'acme', name: 'demo' } },
    memory: createFactMemory(systemClock),
    clock: systemClock,
    ...(units !== undefined && { units }),
  });
  try {
    return {
      value: await facts.ask({ name: 'codeowners' }),
      asked,
      cost: facts.costOf({ name: 'codeowners' }),
    };
  } finally {
    await server.close();
  }
}

describe('codeowners', () => {
  it('lists every changed file, a renamed one with both names', async () => {
    const files = { CODEOWNERS: 'src/.* @ADA @unknown\nold/.* @eve' };
    const changed = [{ filename: 'src/b.ts', previous_filename: 'old/b.ts' }, { filename: 'README.md' }];

    expect((await ask({ files, changed })).value).toEqual([
      { file: 'old/b.ts', users: ['eve'], teams: [] },
      { file: 'src/b.ts', users: ['ada'], teams: [] },
      { file: 'README.md', users: [], teams: [] },
    ]);
  });

  it.each([
    ['the file in the first location', { CODEOWNERS: '.* @ada', 'docs/CODEOWNERS': '.* @eve' }, ['ada']],
    ['the file in the second location if it is the only one', { 'docs/CODEOWNERS': '.* @eve' }, ['eve']],
    [
      'the file in the second location if the first is a folder',
      { CODEOWNERS: 'dir', 'docs/CODEOWNERS': '.* @eve' },
      ['eve'],
    ],
    ['an empty file in the first location', { CODEOWNERS: '', 'docs/CODEOWNERS': '.* @eve' }, []],
    ['a link in the first location', { CODEOWNERS: 'link:x', 'docs/CODEOWNERS': '.* @eve' }, []],
    ['the file of Gitea', { '.gitea/CODEOWNERS': '.* @eve', '.forgejo/CODEOWNERS': '.* @ada' }, ['eve']],
    ['no file of Forgejo on Gitea', { '.forgejo/CODEOWNERS': '.* @ada' }, []],
  ])('reads %s', async (_, files, users) => {
    expect((await ask({ files })).value).toEqual([{ file: 'src/a.ts', users, teams: [] }]);
  });

  it('includes only teams that the account can see', async () => {
    const files = { CODEOWNERS: '.* @acme/UI @acme/gone @acme/a/b @other/x @../x @acme/' };
    const value = (teams: string[]) => [{ file: 'src/a.ts', users: [], teams }];

    expect((await ask({ files, teams: { acme: ['UI', 'ui2'] } })).value).toEqual(value(['acme/UI']));
    expect((await ask({ files, teams: { acme: 403 }, repositoryTeams: ['UI'] })).value).toEqual(
      value(['acme/UI']),
    );
    expect((await ask({ files, teams: { acme: ['ui'] } })).value).toEqual(value([]));
    await expect(ask({ files, teams: { acme: ['UI'] }, down: '/orgs' })).rejects.toThrow('500');
  });

  it('never sends an invalid account name', async () => {
    const files = { CODEOWNERS: '.* @.. @a?b @a%2fb @a@b.c @ada @ADA' };
    const { asked, value } = await ask({ files });

    expect(asked.filter((path) => path.startsWith('/users/'))).toEqual(['/users/ada', '/users/ADA']);
    expect(value).toEqual([{ file: 'src/a.ts', users: ['ada'], teams: [] }]);
  });

  it('requests only the owners of changed files', async () => {
    const { asked } = await ask({ files: { CODEOWNERS: 'docs/.* @ada\nsrc/.* @eve' } });

    expect(asked.filter((path) => path.startsWith('/users/'))).toEqual(['/users/eve']);
  });

  it('fails beyond its limits', async () => {
    const many = Array.from({ length: 101 }, (_, n) => `@u${n}`).join(' ');
    await expect(ask({ files: { CODEOWNERS: `.* ${many}` } })).rejects.toThrow('more than 100 owners');
    await expect(ask({ files: { CODEOWNERS: '#'.repeat(300_000) } })).rejects.toThrow('too large to judge');
    const lines = Array.from({ length: 2_000 }, (_, n) => `src/(${n}|a)*.* @ada`).join('\n');
    await expect(ask({ files: { CODEOWNERS: lines }, units: 24_000_000 })).rejects.toThrow(
      /too large to judge: codeowners/,
    );
    await expect(ask({ files: { CODEOWNERS: '.* @ada' }, down: '/users' })).rejects.toThrow('500');
  });

  it('has a cost, which is charged to each rule that reads the fact', async () => {
    const { cost } = await ask({ files: { CODEOWNERS: 'src/.* @ada' }, units: 24_000_000 });

    expect(cost).toBeGreaterThan(50_000);
    expect(cost).toBeLessThan(500_000);
  });
});
