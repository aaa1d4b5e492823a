import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { Label } from '../contract/resources/labels.ts';
import type { Facts } from '../facts/fact.ts';
import { ways } from '../facts/ways.ts';
import { indexParams } from '../facts/where.ts';
import { compileGlob } from '../patterns/glob.ts';
import type { Meter } from '../patterns/meter.ts';
import { messageOf } from '../platform/errors.ts';
import { type ArgumentProblem, condition, defineAction } from './action.ts';
import type { Change } from './change.ts';
import {
  boundsOf,
  commandArguments,
  examineOnly,
  isFromCommand,
  maxCommandNames,
  type Names,
  planCommandAnswer,
  type RefusedNames,
} from './command-names.ts';
import { type Inverse, pathParams, readItems, undoCreate } from './inverses.ts';
import {
  decidedLabel,
  definitionsFact,
  definitionsFor,
  exclusiveScope,
  type LabelSource,
  labelAlready,
  labelChange,
  labelCreation,
  labelsFact,
  resolveLabel,
} from './label-names.ts';
import type { PlanContext } from './plan-context.ts';
import { commentInverses } from './texts.ts';

/** Conditions by label: as written, and as results when the step is planned. */
type Conditions = Readonly<Record<string, unknown>>;

type LabelArguments = {
  readonly add?: Names | Conditions;
  readonly remove?: Names;
  readonly sync?: Conditions | undefined;
  readonly create?: object | undefined;
  readonly only?: readonly string[] | undefined;
  readonly prefix?: string | undefined;
};

/** Result of resolving the label names in commands. */
type CommandLabels = RefusedNames & {
  /** Label → whether the command wants it set. */
  readonly accepted: ReadonlyMap<string, boolean>;
};

/** Returns the labels that the rule itself lists, with or without conditions. */
function listedNames(names: Names | Conditions): readonly string[] {
  return Array.isArray(names) ? names : Object.keys(conditionsOf(names));
}

/** Returns the conditions of labels that are only added. */
function conditionsOf(names: Names | Conditions): Conditions {
  return typeof names !== 'object' || Array.isArray(names) || isFromCommand(names)
    ? {}
    : (names as Conditions);
}

/** Returns the labels that the rule wants to be there. */
function addedNames({ add }: LabelArguments): readonly string[] {
  const conditions = conditionsOf(add);
  return listedNames(add).filter((label) => (conditions[label] ?? true) === true);
}

/**
 * Returns the load-time problems of a step that takes names from commands: such a step requires `only`, and must not
 * have `create`; only such a step may have `prefix`.
 */
function examineCommandLabels({
  add,
  remove,
  only,
  create,
  prefix,
}: LabelArguments): readonly ArgumentProblem[] {
  const place = isFromCommand(add) ? 'add' : isFromCommand(remove) ? 'remove' : undefined;
  const found = examineOnly(only, place, { noun: 'labels', example: `${prefix ?? 'kind/'}*` });
  if (found.length > 0) return found;
  if (place === undefined && prefix !== undefined) {
    const message = 'prefix completes the names in a command: write labels that are listed here in full';
    return [{ path: ['prefix'], message }];
  }
  if (place === undefined || create === undefined) return [];
  const message =
    'labels named in a command are never created: remove create, or list the labels in a separate step';
  return [{ path: ['create'], message }];
}

/**
 * Splits the names in commands into accepted and rejected ones. The names are untrusted: a name is accepted only if it
 * matches `only`, a label with the name exists, and the rule does not decide this label itself.
 */
async function sortCommandLabels(
  given: LabelArguments,
  live: readonly Label[],
  { facts, meter }: { readonly facts: Facts; readonly meter: Meter },
): Promise<CommandLabels> {
  const added = argumentsOf(given.add, given.prefix);
  const removed = argumentsOf(given.remove, given.prefix);
  const all = new Set([...added, ...removed]);
  if (all.size > maxCommandNames) return { accepted: new Map(), refused: [], tooMany: all.size };
  if (all.size === 0) return { accepted: new Map(), refused: [] };
  const matches = compileGlob(given.only ?? []);
  const listed = new Set([
    ...listedNames(given.add),
    ...listedNames(given.remove),
    ...Object.keys(given.sync ?? {}),
  ]);
  const reasons = new Map<string, string>();
  for (const name of all) {
    if (!matches(name, meter)) reasons.set(name, 'commands may not name it here');
    else if (listed.has(name)) reasons.set(name, 'the rule itself decides it');
    else if (added.has(name) && removed.has(name)) reasons.set(name, 'the command both adds and removes it');
  }
  const found = await resolveCommandNames(
    [...all].filter((name) => !reasons.has(name)),
    live,
    { facts, reasons },
  );
  const present = found.filter(({ name }) => added.has(name));
  const rule = live.filter(({ name }) => addedNames(given).includes(name) || given.sync?.[name] === true);
  for (const { name } of present) {
    const rival = [...present, ...rule].find((other) =>
      excludes(
        other,
        found.find((one) => one.name === name),
      ),
    );
    if (rival) reasons.set(name, 'it excludes another label that is wanted');
  }
  const names = [...all].filter((name) => !reasons.has(name));
  return {
    accepted: new Map(names.map((name) => [name, added.has(name)])),
    refused: [...reasons].map(([name, why]) => ({ name, why })),
  };
}

function argumentsOf(names: Names | Conditions, prefix = ''): ReadonlySet<string> {
  const said = isFromCommand(names) ? names.command.filter((name) => name.trim() !== '') : [];
  return new Set(said.map((name) => `${prefix}${name}`));
}

/** Returns the labels with these names, and records the reason for each name that has no label. */
async function resolveCommandNames(
  names: readonly string[],
  live: readonly Label[],
  { facts, reasons }: { readonly facts: Facts; readonly reasons: Map<string, string> },
): Promise<readonly LabelSource[]> {
  const isCarried = (name: string): boolean => live.some((label) => label.name === name);
  const unknown = names.filter((name) => !isCarried(name));
  const definitions = unknown.length === 0 ? [] : await definitionsFor(unknown, facts);
  return names.flatMap((name): readonly LabelSource[] => {
    const carried = live.find((label) => label.name === name);
    if (carried) return [carried];
    // In a what-if without definitions, labels are planned by name.
    if (definitions === undefined) return [{ name }];
    try {
      const label = resolveLabel(name, definitions);
      if (label) return [label];
      reasons.set(name, 'it does not exist');
    } catch (error) {
      reasons.set(
        name,
        messageOf(error).includes('labels named') ? 'it exists more than once' : messageOf(error),
      );
    }
    return [];
  });
}

function excludes(one: LabelSource, other: LabelSource | undefined): boolean {
  if (other === undefined || one.name === other.name) return false;
  const scope = exclusiveScope(one);
  return scope !== undefined && scope === exclusiveScope(other);
}

const name = z.string().min(1).max(255);
const Labels = Label.array();
const labelNames = z.union([z.array(name).max(100), commandArguments('args')]);
const SetLabels = z
  .strictObject({
    add: z
      .union([...labelNames.options, z.record(name, condition())])
      .optional()
      .meta({
        description:
          'Labels to add: a list; or label → condition, where the label is added while it holds, and never removed; or `${{ command("label").args }}` together with `only`.',
      }),
    remove: labelNames.optional().meta({
      description: 'Labels to remove: a list, or `${{ command("unlabel").args }}` together with `only`.',
    }),
    only: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(20)
      .optional()
      .meta({
        description: `Globs of the labels that a command may name, at most ${maxCommandNames} labels in one comment. Names that do not match or do not exist are answered in one comment, if the sender has write access.`,
      }),
    prefix: z.string().min(1).max(100).optional().meta({
      description:
        'Begins the label that a command names: with `kind/`, `/kind bug` means the label `kind/bug`.',
    }),
    sync: z.record(name, condition()).optional().meta({
      description: 'Label → condition: the label is added while it holds, and removed while it does not.',
    }),
    create: z
      .strictObject({
        color: z
          .string()
          .regex(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, 'a color has 3 or 6 hex digits, such as "0e8a16"'),
        description: z.string().max(500).optional(),
      })
      .optional()
      .meta({
        description:
          'Creates labels that do not exist in the repository; without it, the step fails for such a label.',
      }),
  })
  .refine((given) => given.add || given.remove || given.sync, {
    message: 'name at least one label under add, remove or sync',
  });
type SetLabels = z.output<typeof SetLabels>;

const undoIssueLabel: Inverse = async (change, client) => {
  const params = pathParams(change);
  const name = change.target.slice('label:'.length);
  const labels = await readItems(client, operations.listIssueLabels, { params });
  const label = labels.find((one) => one.name === name);
  return {
    value: label !== undefined,
    undo: () =>
      label === undefined
        ? { operation: operations.addIssueLabels, input: { params, body: { labels: [name] } } }
        : { operation: operations.removeIssueLabel, input: { params: { ...params, id: label.id } } },
  };
};

/**
 * Sets the listed labels; other labels of the subject are unchanged. All label changes of a run on one subject are sent
 * as one PUT, computed from labels read immediately before. No PUT is sent if nothing differs.
 */
export const setLabels = defineAction<SetLabels>({
  name: 'set-labels',
  meaning:
    'Adds and removes the listed labels of the issue or pull request; other labels are left unchanged. Names are looked up in the repository, then in its organization.',
  example: `uses: set-labels
with:
  add: [triage]
  sync:
    area/docs: touches("docs/**")
    size/L: pull_request.additions + pull_request.deletions > 500
`,
  arguments: SetLabels,
  of: ['issue', 'pull_request'],
  ways: { writes: [ways.labels], after: [ways.labels] },
  needs: { access: 'writer', scopes: ['issue'] },
  // Required because the reply depends on the permission of the sender, which only administrators may read.
  moreAccess: { only: 'admin' },
  describesState: true,
  granted: true,
  visibleTo: 'subject',
  inverses: {
    [operations.replaceIssueLabels.id]: undoIssueLabel,
    [operations.createLabel.id]: undoCreate(operations.listLabels, operations.deleteLabel),
    ...commentInverses,
  },
  adoption: undefined,
  operatorOnly: ['create'],
  examine: (written) => {
    const places = [
      ...listedNames(written.add).map((label, place) => ({ label, path: ['add', place] })),
      ...listedNames(written.remove).map((label, place) => ({ label, path: ['remove', place] })),
      ...Object.keys(written.sync ?? {}).map((label) => ({ label, path: ['sync', label] })),
    ];
    const seen = new Set<string>();
    const twice = places.flatMap(({ label, path }) => {
      if (!seen.has(label)) {
        seen.add(label);
        return [];
      }
      return [{ path, message: `the label "${label}" is listed twice in this step` }];
    });
    return [...twice, ...examineCommandLabels(written)];
  },
  facts: () => [labelsFact, definitionsFact],
  async plan(given, facts, context) {
    const live = await facts.ask(labelsFact);
    const commanded = await sortCommandLabels(given, live, { facts, meter: context.meter });
    const wanted = new Map([...wantedLabels(given), ...commanded.accepted]);
    const missing = [...wanted].filter(([label, there]) => there && !live.some((one) => one.name === label));
    const definitions =
      missing.length === 0
        ? []
        : await definitionsFor(
            missing.map(([label]) => label),
            facts,
          );

    const changes: Change[] = [...(await answerLabels(commanded, given, { facts, context }))];
    const added: LabelSource[] = [];
    for (const [label] of missing) {
      const found = definitions === undefined ? { name: label } : resolveLabel(label, definitions);
      if (found === undefined && given.create === undefined) {
        throw new Error(
          `there is no label "${label}" in the repository or its organization; create it, or add create to the step`,
        );
      }
      if (found === undefined) changes.push(labelCreation(label, given.create ?? { color: '' }, facts));
      added.push(found ?? { name: label });
    }
    const kept = live.filter((label) => wanted.get(label.name) === true);
    refuseRivals([...kept, ...added]);
    const reasonFor = (label: string, reason: string): string =>
      commanded.accepted.has(label) ? 'a command of the comment names it' : reason;
    for (const { name } of added)
      changes.push(labelChange(name, true, reasonFor(name, 'the rule wants it'), facts));
    for (const [label, there] of wanted) {
      if (live.some((one) => one.name === label) === there) changes.push(labelAlready(label, there, facts));
    }
    for (const label of live) {
      if (wanted.get(label.name) === false) {
        const why = reasonFor(label.name, 'the rule does not want it');
        changes.push(labelChange(label.name, false, why, facts));
        continue;
      }
      const rival = added.find(
        (one) => exclusiveScope(one) !== undefined && exclusiveScope(one) === exclusiveScope(label),
      );
      if (rival) {
        const why = `"${rival.name}" is exclusive in ${exclusiveScope(rival)}/`;
        changes.push(labelChange(label.name, false, why, facts));
      }
    }
    return changes;
  },
  words({ target, value, operation }, written) {
    const { add, remove, sync } = written as SetLabels;
    if (operation !== operations.replaceIssueLabels.id) return undefined;
    const label = target.slice('label:'.length);
    const text: unknown = sync?.[label] ?? conditionsOf(add)[label];
    if (text !== undefined) return `${text} ${value ? 'holds' : 'does not hold'}`;
    if (listedNames(add).includes(label) && value) return 'the rule adds it';
    return listedNames(remove).includes(label) ? 'the rule removes it' : undefined;
  },
  async join(changes, facts) {
    const live = await facts.ask(labelsFact);
    const gone = new Set(changes.filter((change) => change.value === false).map(decidedLabel));
    const added = changes.filter((change) => change.value === true).map(decidedLabel);
    const kept = live.filter((label) => !gone.has(label.name));
    const definitions = added.length === 0 ? [] : await definitionsFor(added, facts);
    const params = indexParams(facts.subject);
    const found = added.map((label) => definitions && resolveLabel(label, definitions));
    // In a what-if without definitions, or before a label is created, all labels are sent by name instead of by id: the
    // forge accepts names or ids, but not a mixture.
    if (found.some((one) => one?.id === undefined)) {
      return { params, body: { labels: [...kept.map((label) => label.name), ...added] } };
    }
    const ids = [...kept, ...found].flatMap((label) => label?.id ?? []);
    return { params, body: { labels: [...new Set(ids)].sort((a, b) => a - b) } };
  },
  confirm(change, answer) {
    const answered = Labels.safeParse(answer);
    if (!answered.success || change.operation !== operations.replaceIssueLabels.id) return undefined;
    const there = answered.data.some((label) => label.name === decidedLabel(change));
    if (there === change.value) return undefined;
    return change.value ? 'the forge silently dropped the label' : 'the forge kept the label';
  },
});

function wantedLabels(given: SetLabels): ReadonlyMap<string, boolean> {
  return new Map([
    ...addedNames(given).map((label) => [label, true] as const),
    ...listedNames(given.remove).map((label) => [label, false] as const),
    ...Object.entries(given.sync ?? {}),
  ]);
}

function refuseRivals(present: readonly LabelSource[]): void {
  const holders = new Map<string, string>();
  for (const label of present) {
    const scope = exclusiveScope(label);
    if (scope === undefined) continue;
    const holder = holders.get(scope);
    if (holder !== undefined && holder !== label.name) {
      throw new Error(
        `"${holder}" and "${label.name}" exclude each other (scope ${scope}/), and both are wanted`,
      );
    }
    holders.set(scope, label.name);
  }
}

/** Plans the reply to rejected names in commands. Each prefix has a reply of its own. */
function answerLabels(
  labels: CommandLabels,
  { only, prefix = '' }: LabelArguments,
  place: { readonly facts: Facts; readonly context: PlanContext },
): Promise<readonly Change[]> {
  const words = {
    action: 'set-labels',
    key: `labels${prefix === '' ? '' : ` ${prefix}`}`,
    noun: 'labels',
    heading: 'These labels were not changed:',
    bounds: boundsOf('labels', only),
  };
  return planCommandAnswer(labels, words, place);
}
