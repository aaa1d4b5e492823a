import { parse } from 'yaml';
import { runCase } from '../../../src/cli/commands/rules/rule-tests.ts';
import type { Entry, Format, Target } from '../../../src/import/conversion.ts';
import { type ImportedFile, importFile } from '../../../src/import/import-file.ts';
import { createNames, type ForgeNames, type NameMappings } from '../../../src/import/names.ts';
import { runOn } from './imported.ts';

/** An import of a text, as the command makes it. */
export type Imported = {
  readonly file: ImportedFile;
  /** The first rule file as plain data. */
  readonly written: {
    readonly conditions?: Readonly<Record<string, string>>;
    readonly rules: Readonly<Record<string, WrittenRule>>;
  };
  readonly entry: (part: string) => Entry | undefined;
  /** Runs all rules on a pull request, and returns the changes as `action target`. */
  readonly decide: (
    pull: Readonly<Record<string, unknown>>,
    facts?: Readonly<Record<string, unknown>>,
    more?: { readonly activity?: string; readonly now?: string },
  ) => Promise<readonly string[]>;
};

export type WrittenRule = {
  readonly on: unknown;
  readonly each?: unknown;
  readonly if?: string;
  readonly steps: readonly {
    readonly uses: string;
    readonly if?: string;
    readonly with?: Record<string, unknown>;
  }[];
};

/** Facts without a value in a test. */
const nothing = {
  labels: [],
  files: [],
  statuses: [],
  reviews: [],
  approvals: [],
  rejections: [],
  comments: [],
  commits: [],
  required_checks: [],
  collaborator_permissions: [],
  base_branch: { name: 'main', protected: true, required_approvals: 0 },
  scheduled_merge: null,
  head_branch: { name: 'change', sha: 'a'.repeat(40), protected: false, is_default: false, used_by: [] },
};

export async function importText(
  format: Format,
  text: string,
  {
    path = format.places[0] ?? 'x',
    target = 'operator',
    names = {},
    forge = {},
  }: {
    readonly path?: string;
    readonly target?: Target;
    readonly names?: NameMappings;
    readonly forge?: ForgeNames;
  } = {},
): Promise<Imported> {
  const context = { target, names: createNames(names, forge) };
  const file = await importFile({ path, text }, { format, context, name: 'imported', run: runCase });
  const first = file.files.find(({ name }) => name === 'imported.yml')?.text;
  const written = first === undefined ? { rules: {} } : (parse(first) as Imported['written']);
  return {
    file,
    written,
    entry: (part) => file.entries.find((one) => one.part === part),
    async decide(pull, facts = {}, { activity = 'opened', now = '2026-06-01T09:00:00Z' } = {}) {
      const payload = {
        number: 7,
        pull_request: {
          number: 7,
          state: 'open',
          draft: false,
          title: 'A change',
          body: '',
          user: { id: 2, login: 'ada' },
          labels: [],
          additions: 1,
          deletions: 1,
          mergeable: true,
          behind: 0,
          merged: false,
          is_locked: false,
          milestone: null,
          assignees: [],
          requested_reviewers: [],
          requested_reviewers_teams: [],
          created_at: '2026-05-01T09:00:00Z',
          updated_at: '2026-06-01T08:00:00Z',
          ...pull,
          base: { ref: 'main', ...(pull.base as object | undefined) },
          head: { ref: 'change', sha: 'a'.repeat(40), ...(pull.head as object | undefined) },
        },
        repository: { id: 1, full_name: 'acme/demo', default_branch: 'main' },
        sender: { id: 9, login: 'grace' },
      };
      const definitions = { label_definitions: labelsIn(written) };
      const run = await runOn(file.rules, {
        now,
        event: {
          kind: activity === 'synchronized' ? 'pull_request_sync' : 'pull_request',
          activity,
          payload,
        },
        facts: { ...nothing, ...definitions, ...facts },
      });
      return run.changes.map(({ action, target, value }) =>
        typeof value === 'object' && value !== null && 'state' in value
          ? `${action} ${target} ${String(value.state)}`
          : `${action} ${target}${value === false ? ' off' : ''}`,
      );
    },
  };
}

function labelsIn({ rules }: Imported['written']): readonly string[] {
  return [
    ...new Set(
      Object.values(rules).flatMap(({ steps }) =>
        steps.flatMap(({ uses, with: given = {} }) =>
          uses === 'set-labels'
            ? [
                ...((given.add as string[]) ?? []),
                ...((given.remove as string[]) ?? []),
                ...Object.keys(given.sync ?? {}),
              ]
            : [],
        ),
      ),
    ),
  ];
}

/** The condition of the only rule: `if`, or `when` of its only step. */
export function conditionOf({ written }: Imported): string | undefined {
  const [rule] = Object.values(written.rules);
  return rule?.if ?? (rule?.steps[0]?.with?.when as string | undefined);
}
