import { z } from 'zod';
import type { Client } from '../client/client.ts';
import type { AnyInput } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { Label } from '../contract/resources/labels.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { ownLabels } from '../facts/labels.ts';
import { organizationParams, repositoryParams } from '../facts/where.ts';
import { type Adopted, type AdoptedPlace, defineAction, readAll } from './action.ts';
import type { Change } from './change.ts';
import { undoCreate, undoDelete, undoEdit } from './inverses.ts';

const name = z.string().min(1).max(255);
const LabelForm = z.strictObject({
  name,
  color: z
    .string()
    .regex(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, 'a color has 3 or 6 hex digits, such as "0e8a16"'),
  description: z.string().max(500).optional(),
  exclusive: z.boolean().optional().meta({
    description: 'An issue has at most one label of a scope (the text before the last slash).',
  }),
  archived: z.boolean().optional(),
  previously: z
    .array(name)
    .max(20)
    .optional()
    .meta({ description: 'Former names: a label with such a name is renamed and stays on its issues.' }),
});
type LabelForm = z.output<typeof LabelForm>;

const SyncLabels = z.strictObject({
  labels: z.array(LabelForm).min(1).max(200),
  prune: z.boolean().optional().meta({
    description: 'Deletes all other labels, at most 5 or a quarter of them in one run. Default false.',
  }),
});
type SyncLabels = z.output<typeof SyncLabels>;

const ownLabelsFact = requestOf(ownLabels);

/**
 * Keeps these label definitions of the repository or the organization. A label is found by its name, otherwise by a
 * former name; in that case it is renamed. Omitted fields are left unchanged, and archived labels stay archived.
 */
export const syncLabels = defineAction<SyncLabels>({
  name: 'sync-labels',
  meaning:
    'Keeps these label definitions in the repository, or in the organization if that is the subject: color, and description, exclusive and archived if given. A label with a former name is renamed and stays on its issues. Other labels are deleted only with `prune`.',
  example: `uses: sync-labels
with:
  labels:
    - { name: kind/bug, color: d73a4a, exclusive: true, previously: [bug] }
    - { name: kind/feature, color: a2eeef, exclusive: true, description: Something new }
`,
  arguments: SyncLabels,
  of: ['repository', 'organization'],
  needs: { access: 'writer', scopes: ['issue'] },
  describesState: true,
  granted: false,
  visibleTo: 'repository',
  inverses: {
    [operations.createLabel.id]: undoCreate(operations.listLabels, operations.deleteLabel),
    [operations.editLabel.id]: undoEdit(operations.getLabel, operations.editLabel),
    [operations.deleteLabel.id]: undoDelete(operations.listLabels, operations.createLabel, ['name']),
    [operations.createOrganizationLabel.id]: undoCreate(
      operations.listOrganizationLabels,
      operations.deleteOrganizationLabel,
    ),
    [operations.editOrganizationLabel.id]: undoEdit(
      operations.getOrganizationLabel,
      operations.editOrganizationLabel,
    ),
    [operations.deleteOrganizationLabel.id]: undoDelete(
      operations.listOrganizationLabels,
      operations.createOrganizationLabel,
      ['name'],
    ),
  },
  adoption: { what: 'labels', read: adoptLabels },
  examine: namedTwice,
  facts: () => [ownLabelsFact],
  async plan(given, facts) {
    const live = await facts.ask(ownLabelsFact);
    const taken = new Set<number>();
    const changes = given.labels.map((wanted) => {
      const found = findLabel(wanted, live);
      if (found) taken.add(found.id);
      return definitionChange(wanted, found, facts);
    });
    if (!given.prune) return changes;
    const others = live.filter((label) => !taken.has(label.id));
    return [...changes, ...others.map((label) => labelRemoval(label, live.length, facts))];
  },
  confirm(change, answer) {
    const answered = Label.safeParse(answer);
    if (!answered.success || change.value === null) return undefined;
    const wanted = change.value as LabelMembers;
    const live = membersOf(answered.data);
    const lost = Object.keys(wanted).filter(
      (key) => live[key as keyof LabelMembers] !== wanted[key as keyof LabelMembers],
    );
    return lost.length === 0 ? undefined : `the forge did not accept ${lost.join(', ')} of the label`;
  },
});

function namedTwice(written: SyncLabels) {
  const seen = new Set<string>();
  return written.labels.flatMap((label, place) =>
    [label.name, ...(label.previously ?? [])].flatMap((one, former) => {
      if (!seen.has(one)) {
        seen.add(one);
        return [];
      }
      const path = former === 0 ? ['labels', place, 'name'] : ['labels', place, 'previously', former - 1];
      return [{ path, message: `the label "${one}" is listed twice in this step` }];
    }),
  );
}

/** Finds a label by name, then by the former names in order. Throws if two labels have the same name. */
function findLabel(wanted: LabelForm, live: readonly Label[]): Label | undefined {
  for (const one of [wanted.name, ...(wanted.previously ?? [])]) {
    const found = live.filter((label) => label.name === one);
    if (found.length > 1) throw new Error(`there are ${found.length} labels named "${one}"`);
    if (found[0]) return found[0];
  }
  return undefined;
}

/** The compared fields, in the forge's spelling. */
type LabelMembers = {
  readonly name: string;
  readonly color: string;
  readonly description: string;
  readonly exclusive: boolean;
  readonly is_archived: boolean;
};

function membersOf(label: Label): LabelMembers {
  return {
    name: label.name,
    color: (label.color ?? '').replace('#', '').toLowerCase(),
    description: label.description ?? '',
    exclusive: label.exclusive ?? false,
    is_archived: label.is_archived ?? false,
  };
}

function wantedMembers({
  name: wanted,
  color,
  description,
  exclusive,
  archived,
}: LabelForm): Partial<LabelMembers> {
  const digits = color.replace('#', '').toLowerCase();
  return {
    name: wanted,
    color: digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits,
    ...(description !== undefined && { description }),
    ...(exclusive !== undefined && { exclusive }),
    ...(archived !== undefined && { is_archived: archived }),
  };
}

function definitionChange(definition: LabelForm, found: Label | undefined, facts: Facts): Change {
  const value = wantedMembers(definition);
  const common = {
    action: 'sync-labels',
    target: `label-definition:${definition.name}`,
    value,
    forgets: ['label_definitions'],
    reads: [ownLabelsFact],
    stage: 0,
  } as const;
  if (found === undefined) {
    const reason = 'there is no label with this name';
    return {
      ...common,
      ...at('create', facts),
      before: null,
      after: value,
      reason,
      ...labelRequest(facts, value),
    };
  }
  const live = membersOf(found);
  const after = { ...live, ...value };
  const differing = Object.keys(value).filter(
    (key) => live[key as keyof LabelMembers] !== after[key as keyof LabelMembers],
  );
  const isUpToDate = differing.length === 0;
  const was = found.name === definition.name ? '' : `it is still named "${found.name}"; `;
  // Always sent, because an edit without is_archived un-archives the label.
  const body = { ...value, is_archived: after.is_archived };
  return {
    ...common,
    ...at('edit', facts),
    before: live,
    after,
    reason: isUpToDate ? 'already in the desired state' : `${was}different: ${differing.join(', ')}`,
    ...labelRequest(facts, body, found.id),
    ...(isUpToDate && { already: true }),
  };
}

function labelRemoval(label: Label, there: number, facts: Facts): Change {
  return {
    action: 'sync-labels',
    ...at('delete', facts),
    ...labelRequest(facts, undefined, label.id),
    target: `label-definition:${label.name}`,
    value: null,
    before: membersOf(label),
    after: null,
    reason: 'the rule does not list it, and prune is set',
    removes: { from: 'labels', there },
    forgets: ['label_definitions'],
    reads: [ownLabelsFact],
    stage: 2,
  };
}

const rows = {
  repository: {
    create: operations.createLabel.id,
    edit: operations.editLabel.id,
    delete: operations.deleteLabel.id,
  },
  organization: {
    create: operations.createOrganizationLabel.id,
    edit: operations.editOrganizationLabel.id,
    delete: operations.deleteOrganizationLabel.id,
  },
} as const;

function at(what: keyof (typeof rows)['repository'], { subject }: Facts): { readonly operation: string } {
  return { operation: rows[subject.kind === 'organization' ? 'organization' : 'repository'][what] };
}

function labelRequest({ subject }: Facts, body: unknown, id?: number): { readonly input: AnyInput } {
  const where = subject.kind === 'organization' ? organizationParams(subject) : repositoryParams(subject);
  const params = id === undefined ? where : { ...where, id };
  return { input: body === undefined ? { params } : { params, body } };
}

async function adoptLabels(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  const live = await readAll(
    repo === undefined
      ? client.items(operations.listOrganizationLabels, { params: { org: owner } })
      : client.items(operations.listLabels, { params: { owner, repo } }),
  );
  return live.length === 0 ? {} : { arguments: { labels: live.map(declarationOf) } };
}

function declarationOf({
  name,
  color,
  description,
  exclusive,
  is_archived,
}: Label): Readonly<Record<string, unknown>> {
  return {
    name,
    color: color ?? 'ededed',
    ...(description ? { description } : {}),
    ...(exclusive ? { exclusive } : {}),
    ...(is_archived ? { archived: true } : {}),
  };
}
