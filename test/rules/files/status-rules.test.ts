import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import { registry } from '../../../src/rules/registry.ts';
import type { Level } from '../../../src/rules/rule.ts';
import { loadRuleFiles } from '../../../src/rules/sources/folder.ts';

const load = (rules: string, level: Level = 'operator', more: object = {}) =>
  loadRuleFile({
    path: level === 'repository' ? '.reeve.yml' : 'r.yml',
    text: `version: 1\nrules:\n${rules}`,
    level,
    commit: '',
    registry,
    ...more,
  });
const problems = (rules: string, level?: Level) =>
  load(rules, level).problems.map(({ line, code, message }) => `${line} ${code}: ${message}`);

const all = '{ pull_request: [opened, edited, reopened, synchronized] }';
const rule = (name: string, context?: string, { on = all, more = '' } = {}): string =>
  `  ${name}: { on: ${on}, ${more} steps: [{ uses: set-status${context === undefined ? '' : `, with: { context: "${context}" }`} }] }\n`;

describe('a status that two steps write', () => {
  it.each([
    ['two rules', `${rule('a', 'reeve/x')}${rule('b', 'reeve/x')}`],
    ['a rule with the name, and one with the context', `${rule('x')}${rule('b', 'reeve/x')}`],
    ['one with space that the forge removes', `${rule('x')}${rule('b', ' reeve/x\\t')}`],
    [
      'one that names the base',
      `${rule('a', 'x ${{ pull_request.base.ref }}')}${rule('b', 'x ${{ pull_request.base.ref }}')}`,
    ],
  ])('is a problem: %s', (_title, rules) => {
    expect(problems(rules)).toEqual([
      expect.stringMatching(/^4 status-name: rule .+ writes the status .+ as well/),
    ]);
  });

  it('is a problem within one rule, whatever the conditions of the steps', () => {
    const steps = (more: string) =>
      `  a: { on: ${all}, steps: [{ uses: set-status }, { uses: set-status, ${more} }] }\n`;

    expect(problems(steps('if: "pull_request.draft"'))).toEqual([
      expect.stringContaining(
        'two steps of rule a write the status reeve/a: write one step with when and otherwise',
      ),
    ]);
    expect(problems(steps('with: { context: reeve/b }'))).toEqual([]);
  });

  it('is not a problem for different subjects, for different repositories, and in observe mode', () => {
    const first = rule('a', 'reeve/x', { more: 'in: acme/one,' });

    expect(problems(`${rule('a', 'reeve/x')}${rule('b', 'reeve/x', { on: 'push' })}`)).toEqual([]);
    expect(problems(`${first}${rule('b', 'reeve/x', { more: 'in: acme/two,' })}`)).toEqual([]);
    expect(problems(`${first}${rule('b', 'reeve/x', { more: 'in: "acme/*",' })}`)).toHaveLength(1);
    expect(problems(`${first}${rule('b', 'reeve/x', { more: 'mode: observe,' })}`)).toEqual([]);
  });

  describe('in another file', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'reeve-status-'));
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    it('of the operator is a problem and disables the later file', async () => {
      await writeFile(join(folder, 'a.yml'), `version: 1\nrules:\n${rule('a', 'ci')}`);
      await writeFile(join(folder, 'b.yml'), `version: 1\nrules:\n${rule('b', 'ci')}`);

      const files = await loadRuleFiles([folder]);

      expect(files.map(({ rules }) => rules.length)).toEqual([1, 0]);
      expect(files[1]?.problems).toMatchObject([
        {
          code: 'status-name',
          line: 3,
          message: expect.stringContaining(`rule a (${join(folder, 'a.yml')}:3)`),
        },
      ]);
    });
  });
});

describe('status names that Reeve itself uses', () => {
  it.each(['queue', 'rules'])('cannot be used by rules that write a status: %s', (name) => {
    expect(problems(rule(name))).toEqual([
      expect.stringContaining(`reeve/${name} is the status of Reeve itself`),
    ]);
    expect(problems(rule(name), 'repository')).toEqual([]);
  });

  it('are allowed in a pack, whose rules are prefixed with the name of the include', () => {
    const pack = `version: 1\nrules:\n${rule('queue')}`;
    const text = 'version: 1\ninclude: [{ name: mine, file: packs/x.yml, mode: enforce }]\n';
    const packs = new Map([['mine', { path: 'packs/x.yml', text: pack, isReadable: true }]]);
    const loaded = loadRuleFile({
      path: 'r.yml',
      text,
      level: 'operator',
      commit: '',
      registry,
      packs,
    } as never);

    expect(loaded.problems).toEqual([]);
    expect(loaded.rules.map(({ name }) => name)).toEqual(['mine/queue']);
  });
});

it.each([
  ['repository', 'reeve/security', 'write context: reeve-repo/security, and require that one'],
  ['organization', 'reeve/security', 'write context: reeve-org/security, and require that one'],
  ['operator', 'reeve-repo/x', 'statuses that begin with reeve-repo/'],
  ['operator', '${{ sender.login }}', 'no other expression'],
] as const)(
  'a file of the %s with the context %s is refused, and the message shows the fix',
  (level, context, remedy) => {
    expect(problems(rule('a', context), level)).toEqual([expect.stringMatching(/^3 argument: /)]);
    expect(problems(rule('a', context), level)[0]).toContain(remedy);
  },
);

describe('a gate that does not receive every change', () => {
  const warnings = (on: string, more = '') =>
    (load(rule('gate', undefined, { on, more })).warnings ?? []).map(
      ({ code, message }) => `${code}: ${message}`,
    );

  it.each([
    ['opened', '{ pull_request: [edited, reopened, synchronized] }'],
    ['reopened', '{ pull_request: [opened, edited, synchronized] }'],
    ['synchronized', '{ pull_request: [opened, edited, reopened] }'],
    [
      'edited',
      '[pull_request.opened, pull_request.reopened, pull_request.synchronized, pull_request_review]',
    ],
  ])('causes a warning if it does not listen to %s', (missing, on) => {
    expect(warnings(on)).toEqual([expect.stringContaining(`add pull_request.${missing} to its on`)]);
  });

  it('causes no warning with all activities, without a list of activities, and for other subjects', () => {
    expect(warnings(all)).toEqual([]);
    expect(warnings('pull_request')).toEqual([]);
    expect(warnings('push')).toEqual([]);
    expect(warnings('[{ schedule: "2 * * * *" }]', 'each: pull_request,')).toEqual([
      expect.stringContaining(
        'add pull_request.opened, pull_request.reopened, pull_request.synchronized, pull_request.edited',
      ),
    ]);
  });
});
