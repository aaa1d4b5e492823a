import { describe, expect, it } from 'vitest';
import { loadRuleFile, type RuleFileSource } from '../../../src/rules/files/load.ts';
import { gatherPacks, type PackReader } from '../../../src/rules/files/packs.ts';
import { registry } from '../../../src/rules/registry.ts';
import { granted } from '../../support/granted.ts';

type Files = Readonly<Record<string, string>>;

/** Creates a reader of packs. `files` maps paths, or names of offered packs, to texts. */
function readerOf(files: Files, isReadable: boolean): PackReader {
  return {
    async read(request) {
      const path = 'pack' in request ? `${request.pack}.yml` : request.file;
      const text = files[path];
      if (text === undefined) return { missing: `there is no ${path}` };
      return { path, text, isReadable, reader: readerOf(files, isReadable) };
    },
  };
}

async function load(
  text: string,
  files: Files,
  more: Partial<RuleFileSource> & { isReadable?: boolean } = {},
) {
  const { isReadable = true, ...source } = more;
  const path = 'own.yml';
  const packs = await gatherPacks({ path, text }, readerOf(files, isReadable));
  return loadRuleFile({ path, text, level: 'operator', commit: 'abc', registry, packs, ...source });
}

const problemsOf = async (text: string, files: Files, more: Parameters<typeof load>[2] = {}) =>
  (await load(text, files, more)).problems.map(
    ({ path, line, code, message }) => `${path}:${line} ${code}: ${message}`,
  );

const rule = (uses = 'comment', args = 'text: hi') =>
  `{ on: issues.opened, steps: [{ uses: ${uses}, with: { ${args} } }] }`;
const pack = `version: 1
params: { label: { type: string, default: stale } }
rules:
  add: ${rule('set-labels', 'add: ["${{ params.label }}"]')}
`;
const including = (entry: string, head = ''): string => `version: 1\n${head}include:\n  - { ${entry} }\n`;

describe('a parameter without a default', () => {
  const open = pack.replace(', default: stale', '');

  it('needs a value from the include, but no example', async () => {
    const files = { 'p.yml': open };
    expect((await load(including('name: s, file: p.yml, with: { label: x }'), files)).problems).toEqual([]);
    expect(await problemsOf(including('name: s, file: p.yml'), files)).toEqual([
      'own.yml:3 parameter: the parameter label needs a value: write with: { label: … }',
    ]);
    expect(await problemsOf(including('name: s, file: p.yml, with: { label: 3 }'), files)).toEqual([
      'own.yml:3 parameter: label must be text, not a number: put it in quotes, "3"',
    ]);
  });
});

it('a pack that a repository file includes by name may include neighbouring packs by path', async () => {
  const outer = including('name: inner, file: p.yml, mode: enforce');
  const text = including('name: outer, mode: enforce');
  const { rules, problems } = await load(
    text,
    { 'outer.yml': outer, 'p.yml': pack },
    { level: 'repository' },
  );

  expect(problems).toEqual([]);
  expect(rules).toMatchObject([{ name: 'outer/inner/add', level: 'repository', mode: 'enforce' }]);
  expect(await problemsOf(outer, { 'p.yml': pack }, { level: 'repository' })).toEqual([
    expect.stringContaining('files of the repository include packs by name'),
  ]);
});

it.each([
  [
    'include: { greet: { file: packs/greet.yml } }',
    'write include: [{ name: stale, file: packs/stale.yml }]',
  ],
  ['include: packs/greet.yml', 'write include: [{ name: greet, file: packs/greet.yml }]'],
  ['include: [greet]', 'write include: [{ name: greet }]'],
  ['include: [{ name: a/b, file: p.yml }]', '"a/b" is not a name'],
])('%s is refused with an explanation of the correct form', async (text, words) => {
  expect((await problemsOf(`version: 1\n${text}\n`, { 'p.yml': pack })).join('\n')).toContain(words);
});

describe('an included rule', () => {
  it('has the id of file, include and rule, and the position, commit and level of the including file', async () => {
    const [found] = (await load(including('name: s, file: p.yml'), { 'p.yml': pack })).rules;

    expect(found).toMatchObject({
      id: 'own.yml#s/add',
      name: 's/add',
      source: 'own.yml',
      line: 3,
      commit: 'abc',
      level: 'operator',
      steps: [{ line: 3 }],
    });
  });

  it('takes its parameters from the include, separately for each include', async () => {
    const text = `${including('name: a, file: p.yml, with: { label: one }')}  - { name: b, file: p.yml }\n`;

    const { rules } = await load(text, { 'p.yml': pack });

    expect(rules.map(({ id, steps }) => [id, steps[0]?.arguments.written])).toEqual([
      ['own.yml#a/add', { add: ['one'] }],
      ['own.yml#b/add', { add: ['stale'] }],
    ]);
  });

  it.each([
    ['name: s, file: p.yml', '', '', 'observe'],
    ['name: s, file: p.yml, mode: observe', '', '', 'observe'],
    ['name: s, file: p.yml, mode: enforce', '', '', 'enforce'],
    ['name: s, file: p.yml, mode: enforce', '', 'mode: observe\n', 'observe'],
    ['name: s, file: p.yml', 'mode: observe\n', '', 'observe'],
  ])('is in observe mode until its include { %s } sets enforce', async (entry, head, ofPack, mode) => {
    const { rules } = await load(including(entry, head), { 'p.yml': ofPack + pack });

    expect(rules.map((one) => one.mode)).toEqual([mode]);
  });

  it('is limited by every file and include in its chain', async () => {
    const outer = including(
      'name: o, file: middle.yml, in: "acme/*", mode: enforce',
      'in: ["*/*"]\nlimits: { changes: 5 }\n',
    );
    const middle = including(
      'name: m, file: p.yml, in: "acme/x*", mode: enforce',
      'limits: { changes: 2 }\n',
    );

    const [found] = (await load(outer, { 'middle.yml': middle, 'p.yml': `in: ["*/*", "!acme/xy"]\n${pack}` }))
      .rules;

    expect(found?.id).toBe('own.yml#o/m/add');
    expect(found?.limits).toEqual({ changes: 2 });
    expect(found?.scopes.map(({ written }) => written)).toEqual([
      ['*/*'],
      ['acme/*'],
      ['acme/x*'],
      ['*/*', '!acme/xy'],
    ]);
    expect(found?.mode).toBe('enforce');
  });

  it('gets a new revision with each change of its pack or of a nested pack', async () => {
    const files = { 'm.yml': including('name: m, file: p.yml'), 'p.yml': pack };
    const revisionWith = async (changed: Files) =>
      (await load(including('name: o, file: m.yml'), { ...files, ...changed })).rules[0]?.revision;

    const revisions = [
      await revisionWith({}),
      await revisionWith({ 'p.yml': `${pack}# changed\n` }),
      await revisionWith({ 'm.yml': `${files['m.yml']}# changed\n` }),
    ];

    expect(new Set(revisions).size).toBe(3);
    expect(revisions.every((one) => one !== undefined)).toBe(true);
  });

  it('is added to the rules of the file', async () => {
    const text = `${including('name: s, file: p.yml')}rules: { own: ${rule()} }\n`;

    expect((await load(text, { 'p.yml': pack })).rules.map(({ name }) => name)).toEqual(['own', 's/add']);
  });
});

describe('an include is refused', () => {
  it.each([
    [
      'with two names',
      'name: s, file: p.yml }\n  - { name: s, file: p.yml',
      'own.yml:4 include: two includes have the name "s"',
    ],
    [
      'without its file',
      'name: s, file: none.yml',
      'own.yml:3 include: the pack "s" cannot be included: there is no none.yml',
    ],
    [
      'above its folder',
      'name: s, file: a/../../p.yml',
      'own.yml:3 include: a pack must be in the folder of the including file',
    ],
    ['with an absolute path', 'name: s, file: /p.yml', 'own.yml:3 include: the path of a pack is relative'],
    [
      'with a Windows path',
      'name: s, file: "a\\\\p.yml"',
      'own.yml:3 include: the path of a pack is relative',
    ],
    [
      'in a hidden folder',
      'name: s, file: .git/p.yml',
      'own.yml:3 include: the path of a pack must not have parts that are empty',
    ],
    ['of a rule test', 'name: s, file: p.test.yml', 'own.yml:3 include: packs are files that end in .yml'],
    [
      'by name and file',
      'name: s, file: p.yml, pack: p',
      'own.yml:3 include: an include names a file or a pack',
    ],
    [
      'by name in a file of the operator',
      'name: s',
      'own.yml:3 include: files of the operator include packs by a path',
    ],
    [
      'with an unknown parameter',
      'name: s, file: p.yml, with: { lable: x }',
      'own.yml:3 parameter: there is no parameter "lable", did you mean "label"?',
    ],
    [
      'with a value of the wrong type',
      'name: s, file: p.yml, with: { label: 3 }',
      'own.yml:3 parameter: label must be text, not a number',
    ],
    [
      'with an expression',
      'name: s, file: p.yml, with: { label: "${{ issue.title }}" }',
      'own.yml:3 parameter: label contains "${{"',
    ],
    [
      'with a parameter',
      'name: s, file: p.yml, with: { label: "${{ params.x }}" }',
      'own.yml:3 parameter: parameters cannot be used in "include"',
    ],
    [
      'with an unknown key',
      'name: s, file: p.yml, params: {}',
      'own.yml:3 unknown-key: there is no key "params" here',
    ],
    ['with a name that is none', 'name: "a/b", file: p.yml', 'own.yml:3 value: '],
  ])('%s', async (_, entry, expected) => {
    const found = await problemsOf(including(entry), { 'p.yml': pack });

    expect(found[0]).toContain(expected);
    expect(found).toHaveLength(1);
  });

  it('without a value that the pack needs', async () => {
    const needs = pack.replace('default: stale', 'example: stale');

    expect(await problemsOf(including('name: s, file: p.yml'), { 'p.yml': needs })).toEqual([
      'own.yml:3 parameter: the parameter label needs a value: write with: { label: … }',
    ]);
  });

  it('in a cycle, with the chain in the message', async () => {
    const files = { 'a.yml': including('name: b, file: b.yml'), 'b.yml': including('name: a, file: a.yml') };

    expect((await problemsOf(including('name: a, file: a.yml'), files)).join('\n')).toContain(
      'b.yml:3 include: the pack "a" cannot be included: it includes itself: own.yml → a.yml → b.yml → a.yml',
    );
  });

  it('at a depth of more than three', async () => {
    const link = (name: string): string => including(`name: ${name}, file: ${name}.yml`);
    const files = { 'a.yml': link('b'), 'b.yml': link('c'), 'c.yml': pack, 'd.yml': link('a') };

    expect((await load(link('a'), files)).rules.map(({ name }) => name)).toEqual(['a/b/c/add']);
    expect((await problemsOf(link('d'), files)).join('\n')).toContain(
      'packs may be nested at most 3 levels deep: own.yml → d.yml → a.yml → b.yml → c.yml',
    );
  });

  it('as soon as nested packs multiply their rules beyond 100', async () => {
    const many = (count: number, file: string): string =>
      `version: 1\ninclude:\n${Array.from({ length: count }, (_, place) => `  - { name: n${place}, file: ${file} }\n`).join('')}`;
    const files = { 'a.yml': many(10, 'b.yml'), 'b.yml': many(10, 'c.yml'), 'c.yml': pack };
    const startedMs = process.cpuUsage().user / 1_000;

    expect((await problemsOf(many(10, 'a.yml'), files)).join('\n')).toMatch(
      /at most 50 packs|at most 100 rules/,
    );
    // Without the limit, a thousand packs would be read and compiled.
    expect(process.cpuUsage().user / 1_000 - startedMs).toBeLessThan(5_000);
  });

  it('if it adds more than 100 rules', async () => {
    const rules = Array.from({ length: 60 }, (_, place) => `  r${place}: ${rule()}\n`).join('');
    const big = `version: 1\nrules:\n${rules}`;
    const text = `${including('name: a, file: big.yml')}  - { name: b, file: big.yml }\n`;

    expect(await problemsOf(text, { 'big.yml': big })).toEqual([
      'own.yml:2 include: a file may have at most 100 rules, counting those of its packs',
    ]);
  });
});

describe('a repository', () => {
  const own: Parameters<typeof load>[2] = { level: 'repository', isReadable: false };

  it('includes packs by name, also under another name', async () => {
    const text = `${including('name: p')}  - { name: docs, pack: p, with: { label: d } }\n`;

    expect((await load(text, { 'p.yml': pack }, own)).problems).toEqual([]);
  });

  it('cannot include a pack by file path, and the error shows what to write instead', async () => {
    expect(await problemsOf(including('name: p, file: p.yml'), { 'p.yml': pack }, own)).toEqual([
      'own.yml:3 level: files of the repository include packs by name, from those that the organization or the operator offers: write include: [{ name: p }]',
    ]);
  });

  it('cannot use "in", either in its include or through the pack', async () => {
    expect((await problemsOf(including('name: p, in: "acme/*"'), { 'p.yml': pack }, own))[0]).toContain(
      'level:',
    );
    expect(await problemsOf(including('name: p'), { 'p.yml': `in: "acme/*"\n${pack}` }, own)).toEqual([
      expect.stringContaining('the pack "p" cannot be included: files of the repository must not have `in`'),
    ]);
  });

  it('sees which grants a pack needs, but no text of a pack that it cannot read', async () => {
    const secret = pack.replace(
      'rules:\n',
      `rules:\n  m: ${rule('merge', '')}\n  x: { on: issues, if: secret_name == 1 }\n`,
    );

    const hidden = await problemsOf(including('name: p'), { 'p.yml': secret }, own);

    expect(hidden).toEqual([
      expect.stringContaining(
        'own.yml:3 level: the pack "p" cannot be included: files of the repository may not use merge',
      ),
      expect.stringMatching(
        /^own.yml:3 include: the pack "p" cannot be included: it has 4? ?.*which the owner of the pack sees/,
      ),
    ]);
    expect(hidden.join()).not.toContain('secret_name');

    const shown = await problemsOf(including('name: p'), { 'p.yml': secret }, { ...own, isReadable: true });
    expect(shown.join()).toContain('secret_name');
    expect(shown.some((line) => line.startsWith('p.yml:5'))).toBe(true);
  });

  it('can use in a pack only what was granted to the repository', async () => {
    const merging = `version: 1\nrules: { m: { on: pull_request, steps: [{ uses: merge, with: { method: squash } }] } }\n`;
    const withGrant = await load(
      including('name: p'),
      { 'p.yml': merging },
      { ...own, grants: granted(['merge']) },
    );

    expect(withGrant.problems).toEqual([]);
    expect(withGrant.rules[0]).toMatchObject({ level: 'repository', byGrant: ['merge'] });
    expect(
      (await load(including('name: p'), { 'p.yml': merging }, own)).problems.map(({ code }) => code),
    ).toEqual(['level']);
  });
});
