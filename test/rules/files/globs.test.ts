import { describe, expect, it } from 'vitest';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import { registry } from '../../../src/rules/registry.ts';
import { parseOperatorFile } from '../../../src/server/settings/operator-file.ts';

const rule = (on: string, rest: string): string => `version: 1\nrules:\n  a:\n    on: ${on}\n${rest}`;
const step = (on: string, uses: string, given: string): string =>
  rule(on, `    steps:\n      - uses: ${uses}\n        with: ${given}\n`);
const label = '    steps:\n      - uses: set-labels\n        with: { add: [bug] }\n';

/** All places of a rule file that contain a glob. */
const places: Readonly<Record<string, (glob: string) => string>> = {
  'a filter of branches': (glob) =>
    rule(`{ push: { branches: [${glob}] } }`, '    steps: [{ uses: set-status }]\n'),
  'a filter of paths': (glob) => rule(`{ pull_request: { paths: [${glob}] } }`, label),
  'in of a file': (glob) => `in: [${glob}]\n${rule('pull_request', label)}`,
  'glob() of a condition': (glob) =>
    rule('pull_request', `    if: files.exists(f, f.filename.glob(${glob.replaceAll('"', "'")}))\n${label}`),
  'ignore-paths of reviews': (glob) =>
    step('pull_request', 'dismiss-stale-reviews', `{ ignore-paths: [${glob}] }`),
  'only of a command': (glob) =>
    step('issue_comment.created', 'set-labels', `{ add: '\${{ command("label").args }}', only: [${glob}] }`),
  'to of a backport': (glob) => step('pull_request', 'backport', `{ to: [${glob}] }`),
  'a branch protection': (glob) =>
    step('push', 'sync-branch-protections', `{ protections: [{ rule_name: ${glob} }] }`),
  'protected files': (glob) =>
    step(
      'push',
      'sync-branch-protections',
      `{ protections: [{ rule_name: main, protected_file_patterns: ${glob} }] }`,
    ),
  'unprotected files': (glob) =>
    step(
      'push',
      'sync-branch-protections',
      `{ protections: [{ rule_name: main, unprotected_file_patterns: ${glob} }] }`,
    ),
  'a tag protection': (glob) =>
    step('push', 'protect-tags', `{ tags: [{ name_pattern: ${glob}, whitelist_usernames: [ada] }] }`),
  'the filter of a hook': (glob) =>
    step(
      'repository',
      'sync-hooks',
      `{ hooks: [{ url: "https://ci.example/", events: [push], branch_filter: ${glob} }] }`,
    ),
};

const messages = (text: string): string =>
  loadRuleFile({ path: 'rules.yml', text, level: 'operator', commit: '', registry })
    .problems.map(({ message }) => message)
    .join('\n');

describe('a glob that cannot match what its author intends', () => {
  it.each(Object.entries(places))(
    'is refused in %s, and the message shows what to write instead',
    (name, write) => {
      const isScope = name === 'in of a file';
      const at = isScope ? 'acme/' : '';

      expect(messages(write(`"${at}docs"`))).toBe('');
      expect(messages(write(`"${at}@(docs|src)"`))).toContain('write {a,b}, or [(] for a parenthesis');
      expect(messages(write(`"${at}+(docs)"`))).toContain('has the group +(docs)');
      expect(messages(write(`"${at}[[:alpha:]]"`))).toContain('list the characters');
      // The forge trims white space around these globs.
      const isTrimmed = ['protected files', 'unprotected files', 'a tag protection'].includes(name);
      if (!isTrimmed) expect(messages(write(`"${at}docs "`))).toContain('white space');
    },
  );

  it('is refused in a grant', () => {
    const grantOf = (members: string): string =>
      parseOperatorFile(
        'reeve.yml',
        `version: 1\ngrants:\n  - { ${members}, use: [merge] }\n`,
      ).problems.join();

    expect(grantOf('in: "acme/@(a|b)"')).toContain('has the group @(a|b)');
    expect(grantOf('in: "acme/* "')).toContain('white space');
    expect(grantOf('in: "acme/*", branches: ["release/+(a)"]')).toContain('has the group +(a)');
  });

  it('may be a regular expression of a tag protection, which the forge evaluates', () => {
    expect(messages(places['a tag protection']?.('"/^v(1|2)[[:digit:]]*$/"') ?? '?')).toBe('');
  });
});
