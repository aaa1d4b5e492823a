import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Block, blocksOf } from '../../scripts/site/markdown.ts';
import { markdownFiles } from '../../scripts/site/stage.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { parseOperatorFile } from '../../src/server/settings/operator-file.ts';

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...markdownFiles(packageRoot, 'docs')];
const blocks = pages.flatMap((page) =>
  blocksOf(readFileSync(join(packageRoot, page), 'utf8')).map((block) => ({ page, ...block })),
);
type PageBlock = Block & { readonly page: string };

function problemsOfRules(text: string, level: 'operator' | 'repository' = 'operator'): readonly string[] {
  const { problems } = loadRuleFile({ path: 'a.yml', text, level, commit: '', registry });
  return problems.map(({ message, line, column }) => `${line}:${column} ${message}`);
}

/** Returns a complete file for a part of a rule. */
function wholeFile(text: string): string {
  const value = parse(text);
  const on = { on: 'pull_request' };
  if (text.startsWith('uses:'))
    return JSON.stringify({ version: 1, rules: { example: { ...on, steps: [value] } } });
  const step = /issues/.test(text)
    ? { uses: 'comment', with: { text: 'Hello' } }
    : { uses: 'set-status', with: { state: 'success' } };
  return JSON.stringify({ version: 1, rules: { example: { ...value, steps: [step] } } });
}

type Kind = {
  readonly isOne: (block: PageBlock, value: Record<string, unknown>) => boolean;
  /** Returns the problems. `by` lists, per page, the test that checks all blocks of this kind instead. */
  readonly problems?: (block: PageBlock, value: Record<string, unknown>) => readonly string[];
  readonly by?: Readonly<Record<string, string>>;
};

/** The kinds of YAML blocks in the documentation. The first matching kind counts. */
const kinds: Readonly<Record<string, Kind>> = {
  'an example of an action': {
    isOne: ({ page, text }) => page.startsWith('docs/reference/actions/') && text.startsWith('uses:'),
    by: { 'docs/reference/actions/': 'test/rules/examples.test.ts' },
  },
  'a rule file that includes packs': {
    isOne: (_block, value) => 'include' in value,
    by: { 'docs/packs.md': 'test/rules/files/pack-documents.test.ts' },
  },
  'a rule file': {
    isOne: (_block, value) => 'rules' in value,
    problems: ({ text }) =>
      problemsOfRules(text, text.startsWith('# .reeve.yml') ? 'repository' : 'operator'),
  },
  'a part of a rule': {
    isOne: (_block, value) => ('on' in value && !('jobs' in value)) || 'uses' in value,
    problems: ({ text }) => problemsOfRules(wholeFile(text)),
  },
  'a rule test': {
    isOne: (_block, value) => 'cases' in value,
    by: {
      'docs/recipes.md': 'test/documents/recipes.test.ts',
      'docs/rule-tests.md': 'test/rules/documents.test.ts',
      'docs/packs.md': 'test/rules/files/pack-documents.test.ts',
    },
  },
  'a workflow': {
    isOne: (_block, value) => 'jobs' in value,
    by: { 'docs/ci.md': 'test/ci/ci-page.test.ts' },
  },
  'a workflow of Woodpecker': {
    isOne: (_block, value) => 'steps' in value && 'when' in value,
    by: { 'docs/ci.md': 'test/ci/ci-page.test.ts' },
  },
  'settings of Prometheus': {
    isOne: (_block, value) => 'scrape_configs' in value,
    problems: (_block, value) => {
      const jobs = value.scrape_configs as {
        job_name?: string;
        basic_auth?: object;
        static_configs?: object[];
      }[];
      const known = ['job_name', 'basic_auth', 'static_configs'];
      return jobs.flatMap((job) => [
        ...known.filter((key) => !(key in job)).map((key) => `${key} is missing`),
        ...Object.keys(job).filter((key) => !known.includes(key)),
        ...Object.keys(job.basic_auth ?? {}).filter((key) => !['username', 'password_file'].includes(key)),
      ]);
    },
  },
  'a provider of Grafana': {
    isOne: (_block, value) => 'providers' in value && 'apiVersion' in value,
    problems: (_block, value) => {
      const providers = value.providers as { name?: string; options?: { path?: string } }[];
      return providers.flatMap(({ name, options }) => {
        const [, path] = /@reeve-forge\/reeve\/(.+)$/.exec(options?.path ?? '') ?? [];
        return name !== undefined && path !== undefined && existsSync(join(packageRoot, path))
          ? []
          : [`${options?.path} is no folder of the package`];
      });
    },
  },
  'an operator file': {
    isOne: (_block, value) => value.version === 1,
    problems: ({ text }) => parseOperatorFile('x.yml', text).problems.map(String),
  },
};

const yaml = blocks.filter(({ language }) => language === 'yaml');
const kindOf = (block: PageBlock) => {
  const value: unknown = parse(block.text);
  if (typeof value !== 'object' || value === null) return undefined;
  const found = Object.entries(kinds).find(([, { isOne }]) => isOne(block, value as Record<string, unknown>));
  return found && { name: found[0], kind: found[1], value: value as Record<string, unknown> };
};

describe('YAML in the documentation', () => {
  it('is of a kind that a test checks', () => {
    const unknown = yaml.filter((block) => {
      const found = kindOf(block);
      if (found?.kind.problems !== undefined) return false;
      return !Object.keys(found?.kind.by ?? {}).some((page) => block.page.startsWith(page));
    });

    expect(unknown.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
    expect(yaml.length).toBeGreaterThan(120);
  });

  it('has a block of each kind', () => {
    const found = new Set(yaml.map((block) => kindOf(block)?.name));

    expect(Object.keys(kinds).filter((name) => !found.has(name))).toEqual([]);
  });

  it('is loaded without problems by the loader of its kind', () => {
    const problems = yaml.flatMap((block) => {
      const found = kindOf(block);
      const messages = found?.kind.problems?.(block, found.value) ?? [];
      return messages.map((message) => `${block.page}:${block.line}: ${found?.name}: ${message}`);
    });

    expect(problems).toEqual([]);
  });

  it('an unknown key, and YAML of no known kind, are detected', () => {
    const bad = { page: 'docs/x.md', language: 'yaml', line: 1 };
    const rule = { ...bad, text: 'version: 1\nrules: { a: { on: push, color: red, steps: [] } }\n' };

    expect(kindOf({ ...bad, text: 'services: { reeve: {} }\n' })).toBeUndefined();
    expect(kindOf(rule)?.kind.problems?.(rule, {})).not.toEqual([]);
  });
});

describe('other blocks', () => {
  /** Languages without a loader in this repository, whose blocks are only read by people. */
  const languages = [
    'yaml',
    'sh',
    'console',
    'cel',
    'text',
    'toml',
    'json',
    'js',
    'ts',
    'ini',
    'lua',
    'elisp',
    '',
  ];

  it('are in a known language', () => {
    const unknown = blocks.filter(({ language }) => !languages.includes(language));

    expect(unknown.map(({ page, line, language }) => `${page}:${line}: ${language}`)).toEqual([]);
  });

  it('in TypeScript are only on the page whose block a test runs', () => {
    const shown = blocks.filter(({ language }) => language === 'ts').map(({ page }) => page);

    // test/embedded-forge.test.ts
    expect(shown).toEqual(['docs/forge.md']);
  });

  it('in CEL are only on pages whose examples a test evaluates', () => {
    const cel = new Set(blocks.filter(({ language }) => language === 'cel').map(({ page }) => page));
    const tested = /^docs\/(rules\.md|reference\/(facts|functions)\/)/;

    expect([...cel].filter((page) => !tested.test(page))).toEqual([]);
  });

  it('of console commands are only on the page whose commands a test runs', () => {
    const shown = new Set(blocks.filter(({ language }) => language === 'console').map(({ page }) => page));

    expect([...shown]).toEqual(['docs/troubleshoot.md']);
  });
});
