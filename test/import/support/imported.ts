import { stringify } from 'yaml';
import { runCase } from '../../../src/cli/commands/rules/rule-tests.ts';
import type { Entry, Format, SourceFile, Target } from '../../../src/import/conversion.ts';
import { formats } from '../../../src/import/formats.ts';
import { importFile } from '../../../src/import/import-file.ts';
import { createNames, type ForgeNames, type NameMappings } from '../../../src/import/names.ts';
import type { LoadedRule } from '../../../src/rules/rule.ts';
import { type CaseRun, loadRuleTests } from '../../../src/rules/rule-tests.ts';

/** An imported source, as a test looks at it. */
export type Imported = {
  /** Outcome and note of each entry, by its part. */
  readonly entries: ReadonlyMap<string, Entry>;
  readonly rules: readonly LoadedRule[];
  /** Text of the rule files. */
  readonly text: string;
  /** The report. */
  readonly report: string;
  /** Runs a case of a rule test on all imported rules. Returns its changes as `TARGET` or `TARGET=VALUE`. */
  readonly changes: (written: Readonly<Record<string, unknown>>) => Promise<readonly string[]>;
};

export type ImportTestOptions = {
  readonly path?: string;
  readonly target?: Target;
  readonly workflows?: readonly SourceFile[];
  readonly mappings?: NameMappings;
  readonly forge?: ForgeNames;
};

export function formatNamed(name: string): Format {
  const format = formats.find((one) => one.name === name);
  if (format === undefined) throw new Error(`there is no format ${name}`);
  return format;
}

/** Imports a source and keeps what a test looks at. */
export async function imported(
  name: string,
  text: string,
  { path = 'source.yml', target = 'operator', workflows = [], mappings, forge }: ImportTestOptions = {},
): Promise<Imported> {
  const result = await importFile(
    { path, text, workflows },
    {
      format: formatNamed(name),
      context: { names: createNames(mappings, forge), target },
      name: 'imported',
      run: runCase,
    },
  );
  const isRules = (file: { readonly name: string }): boolean => /(?<!\.test)\.yml$/.test(file.name);
  const { rules } = result;
  return {
    entries: new Map(result.entries.map((entry) => [entry.part, entry])),
    rules,
    text: result.files
      .filter(isRules)
      .map((file) => file.text)
      .join('\n'),
    report: result.files.find((file) => file.name.endsWith('.md'))?.text ?? '',
    async changes(written) {
      const run = await runOn(rules, written);
      return run.changes
        .map(({ target, value }) => {
          const shown = typeof value === 'object' && value !== null && 'state' in value ? value.state : value;
          return target.startsWith('comment:') ? 'comment' : `${target}=${String(shown)}`;
        })
        .toSorted();
    },
  };
}

/** Runs a case of a rule test on rules. Throws if the case is invalid, or if a rule fails. */
export async function runOn(
  rules: readonly LoadedRule[],
  written: Readonly<Record<string, unknown>>,
): Promise<CaseRun> {
  const text = stringify(
    { cases: [{ name: 'a case', expect: {}, ...written }] },
    { aliasDuplicateObjects: false },
  );
  const { cases, problems } = loadRuleTests({ path: 'imported.test.yml', text });
  const [one] = cases;
  if (one === undefined) throw new Error(JSON.stringify(problems));
  const run = await runCase(one, { path: 'imported.yml', cases, rules });
  const failed = run.rules.filter(({ verdict }) => verdict === 'failed');
  if (failed.length > 0) throw new Error(JSON.stringify(failed));
  return run;
}

/** An event about a pull request with changed files and labels. */
export function pullCase(
  activity: string,
  pull: Readonly<Record<string, unknown>> = {},
  facts: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    event: {
      kind: 'pull_request',
      activity,
      payload: {
        number: 7,
        pull_request: {
          number: 7,
          state: 'open',
          draft: false,
          merged: false,
          title: 'A change',
          body: '',
          user: { login: 'ada' },
          base: { ref: 'main' },
          head: { ref: 'change', sha: 'a'.repeat(40) },
          labels: [],
          additions: 1,
          deletions: 0,
          ...pull,
        },
        repository: { id: 1, full_name: 'acme/demo', default_branch: 'main' },
        sender: { login: 'ada' },
      },
    },
    facts: { labels: [], files: [], ...facts },
  };
}

/** One item of a schedule. */
export function itemCase(
  kind: 'issue' | 'pull_request',
  item: Readonly<Record<string, unknown>>,
  facts: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    now: '2026-06-01T09:00:00Z',
    item: {
      [kind]: {
        number: 5,
        state: 'open',
        title: 'A report',
        body: '',
        user: { login: 'ada' },
        labels: [],
        is_locked: false,
        milestone: null,
        assignees: null,
        created_at: '2025-01-01T08:00:00Z',
        updated_at: '2025-01-01T08:00:00Z',
        ...(kind === 'pull_request'
          ? { draft: false, head: { ref: 'change', sha: 'a'.repeat(40) }, base: { ref: 'main' } }
          : {}),
        ...item,
        repository: { id: 1, full_name: 'acme/demo', default_branch: 'main' },
      },
    },
    facts: { labels: [], comments: [], timeline: [], ...facts },
  };
}
