import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { Label } from '../contract/resources/labels.ts';
import { FactNotGiven } from '../facts/ask.ts';
import type { Facts } from '../facts/fact.ts';
import { requestOf } from '../facts/fact.ts';
import type { LabelDefinition } from '../facts/label-definitions.ts';
import { labelDefinitions } from '../facts/label-definitions.ts';
import { labels as labelsRow } from '../facts/labels.ts';
import { indexParams, repositoryParams } from '../facts/where.ts';
import { condition, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { pathParams, readItems, undoCreate } from './inverses/forms.ts';
import type { Inverse } from './inverses/inverse.ts';
import { exclusiveScope, type LabelSource, resolveLabel } from './label-names.ts';

const name = z.string().min(1).max(255);
const SetLabels = z
  .strictObject({
    add: z.array(name).max(100).optional().meta({ description: 'Labels to add.' }),
    remove: z.array(name).max(100).optional().meta({ description: 'Labels to remove.' }),
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

const labelsFact = requestOf(labelsRow);
const definitionsFact = requestOf(labelDefinitions);

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
 * Sets the listed labels; other labels of the subject are unchanged. All label changes of a run on one subject
 * are sent as one PUT, computed from labels read immediately before; none if equal.
 */
export const setLabels = defineAction<SetLabels>({
  name: 'set-labels',
  meaning:
    'Adds and removes the listed labels of the issue or pull request; other labels are left unchanged. Names are looked up in the repository, then in its organization.',
  example: `uses: set-labels
with:
  add: [triage]
  sync:
    area/docs: files.exists(f, f.filename.glob("docs/**"))
    size/L: pull_request.additions + pull_request.deletions > 500
`,
  arguments: SetLabels,
  of: ['issue', 'pull_request'],
  needs: { access: 'writer', scopes: ['issue'] },
  describesState: true,
  granted: true,
  visibleTo: 'subject',
  inverses: {
    [operations.replaceIssueLabels.id]: undoIssueLabel,
    [operations.createLabel.id]: undoCreate(operations.listLabels, operations.deleteLabel),
  },
  adoption: undefined,
  operatorOnly: ['create'],
  examine: (written) => {
    const places = [
      ...(written.add ?? []).map((label, place) => ({ label, path: ['add', place] })),
      ...(written.remove ?? []).map((label, place) => ({ label, path: ['remove', place] })),
      ...Object.keys(written.sync ?? {}).map((label) => ({ label, path: ['sync', label] })),
    ];
    const seen = new Set<string>();
    return places.flatMap(({ label, path }) => {
      if (!seen.has(label)) {
        seen.add(label);
        return [];
      }
      return [{ path, message: `the label "${label}" is named twice in this step` }];
    });
  },
  facts: () => [labelsFact, definitionsFact],
  async plan(given, facts) {
    const wanted = wantedLabels(given);
    const live = await facts.ask(labelsFact);
    const missing = [...wanted].filter(([label, there]) => there && !live.some((one) => one.name === label));
    const definitions =
      missing.length === 0
        ? []
        : await definitionsFor(
            missing.map(([label]) => label),
            facts,
          );

    const changes: Change[] = [];
    const added: LabelSource[] = [];
    for (const [label] of missing) {
      const found = definitions === undefined ? { name: label } : resolveLabel(label, definitions);
      if (found === undefined && given.create === undefined) {
        throw new Error(
          `there is no label "${label}" in the repository or its organization; create it, or add create to the step`,
        );
      }
      if (found === undefined) changes.push(createChange(label, given.create ?? { color: '' }, facts));
      added.push(found ?? { name: label });
    }
    const kept = live.filter((label) => wanted.get(label.name) === true);
    refuseRivals([...kept, ...added]);
    for (const label of added) changes.push(labelChange(label.name, true, 'the rule wants it', facts));
    for (const [label, there] of wanted) {
      if (live.some((one) => one.name === label) === there) changes.push(labelAlready(label, there, facts));
    }
    for (const label of live) {
      if (wanted.get(label.name) === false) {
        changes.push(labelChange(label.name, false, 'the rule does not want it', facts));
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
    if (operation === operations.createLabel.id) return undefined;
    const label = target.slice('label:'.length);
    const text: unknown = sync?.[label];
    if (text !== undefined) return `${text} ${value ? 'holds' : 'does not hold'}`;
    if (add?.includes(label) && value) return 'the rule adds it';
    return remove?.includes(label) ? 'the rule removes it' : undefined;
  },
  async join(changes, facts) {
    const live = await facts.ask(labelsFact);
    const gone = new Set(changes.filter((change) => change.value === false).map(labelOf));
    const added = changes.filter((change) => change.value === true).map(labelOf);
    const kept = live.filter((label) => !gone.has(label.name));
    const definitions = added.length === 0 ? [] : await definitionsFor(added, facts);
    const params = indexParams(facts.subject);
    const found = added.map((label) => definitions && resolveLabel(label, definitions));
    // In a what-if without definitions, or before a label is created, names replace ids; the forge accepts either, not both.
    if (found.some((one) => one?.id === undefined)) {
      return { params, body: { labels: [...kept.map((label) => label.name), ...added] } };
    }
    const ids = [...kept, ...found].flatMap((label) => label?.id ?? []);
    return { params, body: { labels: [...new Set(ids)].sort((a, b) => a - b) } };
  },
  confirm(change, answer) {
    const answered = Label.array().safeParse(answer);
    if (!answered.success || change.operation !== operations.replaceIssueLabels.id) return undefined;
    const there = answered.data.some((label) => label.name === labelOf(change));
    if (there === change.value) return undefined;
    return change.value ? 'the forge dropped the label in silence' : 'the forge kept the label';
  },
});

function wantedLabels(given: SetLabels): ReadonlyMap<string, boolean> {
  return new Map([
    ...(given.add ?? []).map((label) => [label, true] as const),
    ...(given.remove ?? []).map((label) => [label, false] as const),
    ...Object.entries(given.sync ?? {}),
  ]);
}

/**
 * Returns the label definitions, read again if a wanted name is not among the cached ones; undefined if a
 * what-if does not provide them.
 */
async function definitionsFor(
  wanted: readonly string[],
  facts: Facts,
): Promise<readonly LabelDefinition[] | undefined> {
  try {
    const remembered = await facts.ask(definitionsFact);
    if (wanted.every((label) => remembered.some((one) => one.name === label))) return remembered;
    return await facts.fresh([definitionsFact], 1_000).ask(definitionsFact);
  } catch (error) {
    if (error instanceof FactNotGiven) return undefined;
    throw error;
  }
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

function labelOf(change: Change): string {
  return change.target.slice('label:'.length);
}

function labelChange(label: string, there: boolean, reason: string, facts: Facts): Change {
  const { index } = indexParams(facts.subject);
  return {
    action: 'set-labels',
    operation: operations.replaceIssueLabels.id,
    input: { params: indexParams(facts.subject) },
    target: `label:${label}`,
    value: there,
    before: !there,
    after: there,
    reason,
    reads: [labelsFact],
    joins: `labels of #${index}`,
  };
}

function labelAlready(label: string, there: boolean, facts: Facts): Change {
  return {
    ...labelChange(label, there, 'already in the desired state', facts),
    before: there,
    already: true,
  };
}

function createChange(label: string, create: NonNullable<SetLabels['create']>, facts: Facts): Change {
  const body = {
    name: label,
    color: create.color.replace('#', '').toLowerCase(),
    description: create.description ?? '',
  };
  return {
    action: 'set-labels',
    operation: operations.createLabel.id,
    input: { params: repositoryParams(facts.subject), body },
    target: `label-definition:${label}`,
    value: { color: body.color, description: body.description },
    before: null,
    after: body,
    reason: 'the label does not exist yet',
    forgets: ['label_definitions'],
    reads: [labelsFact, definitionsFact],
    stage: 0,
  };
}
