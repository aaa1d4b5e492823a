import { describe, expect, it } from 'vitest';
import { ungrantedReason } from '../../../src/engine/bounds/grants.ts';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import { gatherPacks, notOffered, type PackReader } from '../../../src/rules/files/packs.ts';
import { registry } from '../../../src/rules/registry.ts';
import type { LoadedRule, ScopedGrant } from '../../../src/rules/rule.ts';
import { createGrants, type Grant } from '../../../src/rules/sources/grants.ts';
import {
  createLastValid,
  narrowest,
  type ReadRuleFile,
  type RuleTexts,
  type StoredRuleText,
} from '../../../src/rules/sources/last-valid.ts';
import { recordLog } from '../../support/record-log.ts';

const startedAt = Date.parse('2026-05-04T10:00:00Z');

/** Texts in a plain map, with the changes that were stored. */
function makeTexts() {
  const rows = new Map<string, StoredRuleText & { at: Date }>();
  const changes: { kept: readonly string[]; gone: readonly string[] }[] = [];
  let nowMs = startedAt;
  let refusal: Error | undefined;
  const texts: RuleTexts = {
    listRuleTexts: async () => [...rows.values()],
    async storeRuleTexts(_place, { kept, gone }) {
      if (refusal) throw refusal;
      changes.push({ kept: kept.map(({ path }) => path), gone });
      for (const path of gone) rows.delete(path);
      for (const text of kept) rows.set(text.path, { ...text, at: new Date(nowMs) });
    },
  };
  return {
    texts,
    rows,
    changes,
    clock: { now: () => new Date(nowMs) },
    advance: (hours: number) => {
      nowMs += hours * 3_600_000;
    },
    refuse: (error: Error) => {
      refusal = error;
    },
  };
}

const labelling = (label: string): string => `version: 1
rules: { mark: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [${label}] } }] } }
`;
const statusRule = (context: string): string => `version: 1
rules: { gate: { on: pull_request, steps: [{ uses: set-status, with: { context: ${context}, state: success } }] } }
`;

type Options = {
  readonly grants?: readonly Grant[];
  readonly packs?: Readonly<Record<string, string>>;
};

/** Reads files of a repository as its source does: text by path; an invalid text has no rules. */
async function settle(
  made: ReturnType<typeof makeTexts>,
  texts: Readonly<Record<string, string>>,
  { grants = [], packs = {} }: Options = {},
  log?: ReturnType<typeof recordLog>['log'],
) {
  const scope = (given: readonly Grant[]): readonly ScopedGrant[] =>
    createGrants(given).ofRepository({ id: 1, owner: 'acme', name: 'demo' });
  const reader: PackReader = {
    async read(request) {
      const name = 'pack' in request ? request.pack : request.file;
      const text = packs[name];
      return text === undefined
        ? notOffered(name, Object.keys(packs))
        : { path: `packs/${name}.yml`, text: Buffer.from(text), isReadable: true, packs: new Map() };
    },
  };
  const level = 'repository';
  const files = await Promise.all(
    Object.entries(texts).map(async ([path, written]): Promise<ReadRuleFile> => {
      const text = Buffer.from(written);
      const content = { text, packs: await gatherPacks({ path, text }, reader) };
      const loaded = loadRuleFile({
        path,
        level,
        commit: 'now',
        registry,
        grants: scope(grants),
        ...content,
      });
      return { path, commit: 'now', rules: loaded.rules, isValid: loaded.problems.length === 0, content };
    }),
  );
  const keeper = createLastValid({ texts: made.texts, clock: made.clock, ...(log ? { log } : {}) });
  const restored = await keeper.settle({
    place: 'repository 1',
    files,
    grants,
    scope,
    reader: () => reader,
    load: (source) => loadRuleFile({ ...source, level, registry }),
  });
  return new Map([...restored].map(([path, { rules, commit }]) => [path, { rules, commit }]));
}

const namesOf = (found: ReadonlyMap<string, { readonly rules: readonly LoadedRule[] }>) =>
  [...found].map(([path, { rules }]) => [path, rules.map(({ name }) => name)]);

describe('a text', () => {
  it('is stored when it changes and again after a day, and deleted with its file', async () => {
    const made = makeTexts();
    await settle(made, { 'a.yml': labelling('x'), 'b.yml': labelling('y') });
    await settle(made, { 'a.yml': labelling('x'), 'b.yml': labelling('z') });
    made.advance(23);
    await settle(made, { 'a.yml': labelling('x'), 'b.yml': labelling('z') });
    made.advance(2);
    await settle(made, { 'a.yml': labelling('x') });

    expect(made.changes).toEqual([
      { kept: ['a.yml', 'b.yml'], gone: [] },
      { kept: ['b.yml'], gone: [] },
      { kept: ['a.yml'], gone: ['b.yml'] },
    ]);
  });

  it('that a later version of Reeve refuses, or wrote in another form, restores nothing', async () => {
    const made = makeTexts();
    await settle(made, { 'a.yml': labelling('x') });
    const row = made.rows.get('a.yml');
    if (row === undefined) throw new Error('nothing was stored');
    const stored = (content: string) => made.rows.set('a.yml', { ...row, content });

    stored(JSON.stringify({ ...JSON.parse(row.content), text: labelling('x').replace('uses', 'using') }));
    expect(await settle(made, { 'a.yml': 'rules: []' })).toEqual(new Map());
    stored(JSON.stringify({ text: 1 }));
    expect(await settle(made, { 'a.yml': 'rules: []' })).toEqual(new Map());
    stored(row.content);
    expect(namesOf(await settle(made, { 'a.yml': 'rules: []' }))).toEqual([['a.yml', ['mark']]]);
  });

  it('that is too large is not stored, nor is an older one kept, and the log says so', async () => {
    const made = makeTexts();
    const { log, lines } = recordLog();
    await settle(made, { 'a.yml': labelling('x'), 'b.yml': labelling('x') });
    const packs = Object.fromEntries(
      Array.from({ length: 4 }, (_, n) => [
        `p${n}`,
        `# ${'\u0001'.repeat(0)}${'"'.repeat(60_000)}\n${labelling(`x${n}`)}`,
      ]),
    );
    const including = `version: 1\ninclude: [${Object.keys(packs)
      .map((name) => `{ name: ${name} }`)
      .join(', ')}]\n`;
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`c${n}.yml`, including]));

    await settle(made, { 'a.yml': labelling('x'), ...many, 'b.yml': including }, { packs }, log);

    const total = [...made.rows.values()].reduce((sum, { content }) => sum + content.length, 0);
    expect(total).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect([...made.rows.keys()]).not.toContain('b.yml');
    expect(lines).toMatchObject([
      ['warn', expect.stringContaining('too large'), { files: expect.arrayContaining(['b.yml']) }],
    ]);
  });

  it('that the store refuses does not keep the rules that were read out of force', async () => {
    const made = makeTexts();
    const { log, lines } = recordLog();
    made.refuse(new Error('the disk is full'));

    expect(await settle(made, { 'a.yml': labelling('x') }, {}, log)).toEqual(new Map());

    expect(lines).toMatchObject([['warn', expect.any(String), { error: 'the disk is full' }]]);
  });
});

describe('an invalid file', () => {
  it('has the rules of its last valid version, with the commit of that version', async () => {
    const made = makeTexts();
    await settle(made, { 'a.yml': labelling('x') });

    const restored = await settle(made, { 'a.yml': 'rules: []' });

    expect(restored.get('a.yml')).toMatchObject({
      commit: 'now',
      rules: [{ name: 'mark', isLastValid: true }],
    });
    expect(await settle(made, { 'b.yml': 'rules: []' })).toEqual(new Map());
  });

  it('keeps the statuses of its last valid version, unless a valid file has them now', async () => {
    const made = makeTexts();
    await settle(made, { 'a.yml': statusRule('reeve-repo/a'), 'b.yml': statusRule('reeve-repo/b') });

    const alone = await settle(made, { 'a.yml': 'rules: []', 'b.yml': statusRule('reeve-repo/b') });
    const taken = await settle(made, { 'a.yml': 'rules: []', 'b.yml': statusRule('reeve-repo/a') });

    expect(namesOf(alone)).toEqual([['a.yml', ['gate']]]);
    expect(taken).toEqual(new Map());
  });
});

describe('packs', () => {
  const including = 'version: 1\ninclude: [{ name: p, with: { label: x } }]\n';
  const pack = (label: string): string => `version: 1
params: { label: { type: string, default: ${label} } }
rules: { mark: { on: issues.opened, steps: [{ uses: set-labels, with: { add: ["\${{ params.label }}"] } }] } }
`;

  it('of the last valid version are those of now, and those that were stored if it is not valid with them', async () => {
    const made = makeTexts();
    await settle(made, { 'a.yml': including }, { packs: { p: pack('x') } });
    const changed = pack('x').replace('mark:', 'renamed:');

    const withNew = await settle(made, { 'a.yml': 'rules: []' }, { packs: { p: changed } });
    const withBroken = await settle(made, { 'a.yml': including }, { packs: { p: 'rules: []' } });
    const incompatible = await settle(made, { 'a.yml': including }, { packs: { p: labelling('x') } });

    expect(namesOf(withNew)).toEqual([['a.yml', ['p/renamed']]]);
    expect(namesOf(withBroken)).toEqual([['a.yml', ['p/mark']]]);
    expect(namesOf(incompatible)).toEqual([['a.yml', ['p/mark']]]);
  });

  it('that were deleted end the last valid version', async () => {
    const made = makeTexts();
    await settle(made, { 'a.yml': including }, { packs: { p: pack('x') } });

    expect(await settle(made, { 'a.yml': including }, { packs: {} })).toEqual(new Map());
  });
});

describe('grants', () => {
  const tidy = `version: 1
rules: { tidy: { on: pull_request.closed, steps: [{ uses: delete-branch }] } }
`;
  const grant = (more: Partial<Grant> = {}): Grant => ({
    repositories: ['acme/demo'],
    organizations: [],
    names: ['delete-branch'],
    ...more,
  });
  const reasonFor = (rule: LoadedRule | undefined, branch: string, fork = false) =>
    rule &&
    ungrantedReason(rule, {
      change: { action: 'delete-branch', branch, fork },
      params: { owner: 'acme', repo: 'demo' },
      defaultBranch: { name: 'main' },
    });

  it('that were taken away end the last valid version', async () => {
    const made = makeTexts();
    await settle(made, { 'a.yml': tidy }, { grants: [grant()] });

    expect(namesOf(await settle(made, { 'a.yml': 'rules: []' }, { grants: [grant()] }))).toEqual([
      ['a.yml', ['tidy']],
    ]);
    expect(await settle(made, { 'a.yml': 'rules: []' })).toEqual(new Map());
    expect(
      await settle(made, { 'a.yml': 'rules: []' }, { grants: [grant({ repositories: ['acme/x'] })] }),
    ).toEqual(new Map());
  });

  it.each([
    ['earlier narrower', grant({ branches: ['feature/*'] }), grant({ branches: ['**'], forks: true })],
    ['now narrower', grant({ branches: ['**'], forks: true }), grant({ branches: ['feature/*'] })],
  ])('of the last valid version are the narrower of both: %s', async (_title, earlier, now) => {
    const made = makeTexts();
    await settle(made, { 'a.yml': tidy }, { grants: [earlier] });

    const restored = await settle(made, { 'a.yml': 'rules: []' }, { grants: [now] });

    const rule = restored.get('a.yml')?.rules[0];
    expect(reasonFor(rule, 'feature/a')).toBeUndefined();
    expect(reasonFor(rule, 'release/a')).toContain('does not cover the branch release/a');
    expect(reasonFor(rule, 'feature/a', true)).toContain('does not include branches of forks');
  });

  it('for the default branch and for patterns are combined: only a default branch that matches is covered', () => {
    const scoped = (one: Grant) => createGrants([one]).ofRepository({ id: 1, owner: 'acme', name: 'demo' });
    const [rule] = loadRuleFile({
      path: 'a.yml',
      text: tidy,
      level: 'repository',
      commit: '',
      registry,
      grants: narrowest(scoped(grant()), scoped(grant({ branches: ['ma*', 'feature/*'] }))),
    }).rules;

    expect(reasonFor(rule, 'main')).toBeUndefined();
    expect(reasonFor(rule, 'feature/a')).toContain('covers only the default branch');
  });

  it('of different names give nothing together', () => {
    const all = { covers: () => true, forks: false };

    expect(narrowest([{ ...all, names: ['a', 'b'] }], [{ ...all, names: ['b', 'c'] }])).toMatchObject([
      { names: ['b'] },
    ]);
    expect(narrowest([{ ...all, names: ['a'] }], [{ ...all, names: ['c'] }])).toEqual([]);
  });
});
