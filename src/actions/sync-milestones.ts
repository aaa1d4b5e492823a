import { z } from 'zod';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import { Milestone } from '../contract/resources/milestones.ts';
import { trimSpace } from '../contract/written-texts.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { milestones as milestonesRow } from '../facts/milestones.ts';
import { repositoryParams } from '../facts/where.ts';
import { count } from '../platform/count.ts';
import { type Adopted, type AdoptedPlace, type ArgumentProblem, defineAction, readAll } from './action.ts';
import type { Change } from './change.ts';
import { type DoneChange, type Inverse, pathParams, type Undo } from './inverses.ts';

const MilestoneForm = z.strictObject({
  title: z
    .string()
    .max(255)
    .refine((title) => title !== '' && title === trimSpace(title), 'a title has no white space at its ends'),
  description: z.string().max(10_000).optional(),
  due_on: z.iso.date().optional().meta({ description: 'The day on which it is due: `2026-12-31`.' }),
  state: z.enum(['open', 'closed']).optional(),
});
type MilestoneForm = z.output<typeof MilestoneForm>;

const SyncMilestones = z.strictObject({
  milestones: z.array(MilestoneForm).min(1).max(200),
  prune: z.boolean().optional().meta({
    description:
      'Deletes all other milestones that have no issues and pull requests, at most 5 or a quarter of all in one run. Default false.',
  }),
});
type SyncMilestones = z.output<typeof SyncMilestones>;

const milestonesFact = requestOf(milestonesRow);
const targetPrefix = 'milestone:';

/**
 * Keeps these milestones of the repository. A milestone is found by its title, which stays the same; omitted fields are
 * left unchanged.
 */
export const syncMilestones = defineAction<SyncMilestones>({
  name: 'sync-milestones',
  meaning:
    'Keeps these milestones in the repository: description, due date and state if given. A milestone is found by its title. Others are deleted only with `prune`, and never if they have issues or pull requests, open or closed: the plan then says so.',
  example: `uses: sync-milestones
with:
  milestones:
    - { title: v2.0, description: Next major release, due_on: 2026-12-31 }
    - { title: v1.9, state: closed }
    - { title: Later }
`,
  arguments: SyncMilestones,
  of: ['repository'],
  needs: { access: 'writer', scopes: ['issue'] },
  describesState: true,
  granted: false,
  visibleTo: 'issues',
  inverses: {
    [operations.createMilestone.id]: undoMilestone,
    [operations.editMilestone.id]: undoMilestone,
    [operations.deleteMilestone.id]: undoMilestone,
  },
  adoption: { what: 'milestones', read: adoptMilestones },
  examine: ({ milestones }) => {
    const titles = milestones.map(({ title }) => title);
    return titles.flatMap((title, place): readonly ArgumentProblem[] => {
      if (titles.indexOf(title) === place) return [];
      const message = `the milestone "${title}" is listed twice in this step`;
      return [{ path: ['milestones', place, 'title'], message }];
    });
  },
  facts: () => [milestonesFact],
  async plan({ milestones: wanted, prune }, facts) {
    const live = await facts.ask(milestonesFact);
    const listed = new Set(wanted.map(({ title }) => title));
    const changes = wanted.map((one) => milestoneChange(one, live, facts));
    if (!prune) return changes;
    const others = live.filter(({ title }) => !listed.has(title));
    return [...changes, ...others.map((one) => milestoneRemoval(one, live.length, facts))];
  },
  confirm(change, answer) {
    const answered = Milestone.safeParse(answer);
    if (!answered.success || change.value === null) return undefined;
    const lost = differences(change.value as Wanted, answered.data);
    return lost.length === 0 ? undefined : `the forge did not accept ${lost.join(', ')} of the milestone`;
  },
});

/** The compared fields. */
type MilestoneMembers = {
  readonly title: string;
  readonly description: string;
  /** The day, or null. */
  readonly due_on: string | null;
  readonly state: string;
};

function membersOf({ title, description, due_on, state }: Milestone): MilestoneMembers {
  return {
    title,
    description: description ?? '',
    due_on: due_on?.slice(0, 'YYYY-MM-DD'.length) ?? null,
    state: state ?? 'open',
  };
}

/** Fields with their wanted values; omitted fields are left unchanged. */
type Wanted = { readonly [Name in keyof MilestoneMembers]?: MilestoneMembers[Name] | undefined };

/** Returns the names of the fields in which a milestone differs from the wanted values. */
function differences(wanted: Wanted, live: Milestone): readonly string[] {
  const there = membersOf(live);
  return Object.entries(wanted).flatMap(([key, value]) => {
    const isSame =
      value === undefined ||
      there[key as keyof MilestoneMembers] === value ||
      // The forge writes a time in its own time zone, in which it may belong to the neighbouring day.
      (key === 'due_on' && live.due_on != null && new Date(live.due_on).toISOString().startsWith(`${value}`));
    return isSame ? [] : [key];
  });
}

/** Finds a milestone by its title. Throws if several have it: nothing shows which of them is meant. */
function findMilestone(title: string, live: readonly Milestone[]): Milestone | undefined {
  const found = live.filter((one) => one.title === title);
  if (found.length > 1) throw new Error(`there are ${count(found.length, 'milestone')} named "${title}"`);
  return found[0];
}

/**
 * Returns a body with the given fields. An edit without `due_on` clears the due date (Gitea: `EditMilestone`), so the
 * time of the live milestone is sent with each edit.
 */
function bodyOf({ due_on, ...fields }: Wanted, live?: Milestone) {
  // Gitea keeps the time of a new milestone as it is sent. Its time zone is not known, and noon in UTC is the same day in
  // almost every zone. An edit stores the end of the day.
  const dueOn = due_on == null ? live?.due_on : `${due_on}T12:00:00Z`;
  return { ...fields, ...(dueOn != null && { due_on: dueOn }) };
}

function milestoneChange(wanted: MilestoneForm, live: readonly Milestone[], facts: Facts): Change {
  const { owner, repo } = repositoryParams(facts.subject);
  const found = findMilestone(wanted.title, live);
  const common = {
    action: 'sync-milestones',
    target: `${targetPrefix}${wanted.title}`,
    value: wanted,
    reads: [milestonesFact],
    stage: 0,
  } as const;
  if (found === undefined) {
    return {
      ...common,
      operation: operations.createMilestone.id,
      input: { params: { owner, repo }, body: bodyOf(wanted) },
      before: null,
      after: wanted,
      reason: 'there is no milestone with this title',
    };
  }
  const differing = differences(wanted, found);
  const isUpToDate = differing.length === 0;
  const { title: _title, ...fields } = wanted;
  return {
    ...common,
    operation: operations.editMilestone.id,
    input: { params: { owner, repo, id: found.id }, body: bodyOf(fields, found) },
    before: membersOf(found),
    after: { ...membersOf(found), ...wanted },
    reason: isUpToDate ? 'already in the desired state' : `different: ${differing.join(', ')}`,
    ...(isUpToDate && { already: true }),
  };
}

function milestoneRemoval(live: Milestone, there: number, facts: Facts): Change {
  const { owner, repo } = repositoryParams(facts.subject);
  const why = reasonToKeep(live);
  return {
    action: 'sync-milestones',
    operation: operations.deleteMilestone.id,
    // The forge looks for a title only if no milestone has this id.
    input: { params: { owner, repo, id: live.id } },
    target: `${targetPrefix}${live.title}`,
    value: null,
    before: membersOf(live),
    after: null,
    reason: why ?? 'the rule does not list it, and prune is set',
    removes: { from: 'milestones', there },
    reads: [milestonesFact],
    stage: 2,
    ...(why !== undefined && { waits: { why, polls: false } }),
  };
}

/** Returns why a milestone must not be deleted; undefined if it has no items. Unknown counts are no zeros. */
function reasonToKeep({ title, open_issues, closed_issues }: Milestone): string | undefined {
  if (open_issues == null || closed_issues == null)
    return `the forge does not say how many issues and pull requests the milestone "${title}" has`;
  const items = open_issues + closed_issues;
  return items === 0
    ? undefined
    : `the milestone "${title}" has ${count(items, 'item')} (issues and pull requests): it is not deleted`;
}

/**
 * Deletes a created milestone, unless it has items by now; restores the fields of an edited one; creates a deleted one
 * again, with another id.
 */
async function undoMilestone(change: DoneChange, client: Client): ReturnType<Inverse> {
  const { owner, repo } = pathParams(change) as { readonly owner: string; readonly repo: string };
  const params = { owner, repo };
  const before = change.before as MilestoneMembers | null;
  const after = change.after as Wanted | null;
  const live = await readAll(client.items(operations.listMilestones, { params, query: { state: 'all' } }));
  const title = change.target.slice(targetPrefix.length);
  const named = live.filter((one) => one.title === title);
  const [found] = named;
  if (named.length > 1)
    return { value: after, undo: () => `there are ${count(named.length, 'milestone')} named "${title}" now` };
  if (found === undefined || after === null) {
    return {
      value: found === undefined ? null : membersOf(found),
      undo: (): Undo => ({
        operation: operations.createMilestone,
        input: { params, body: bodyOf(before ?? { title }) },
      }),
    };
  }
  const isAsMade = differences(after, found).length === 0;
  return {
    value: isAsMade ? after : membersOf(found),
    undo: (): Undo | string => {
      const at = { ...params, id: found.id };
      if (before === null) {
        return reasonToKeep(found) ?? { operation: operations.deleteMilestone, input: { params: at } };
      }
      const { title: _title, due_on, ...fields } = before;
      return {
        operation: operations.editMilestone,
        input: { params: at, body: bodyOf({ ...fields, due_on }) },
        // Forgejo keeps the due date if an edit has none, and has no other way to clear it.
        ...(due_on === null && after.due_on != null && { except: 'the due date, on Forgejo' }),
      };
    },
  };
}

async function adoptMilestones(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  if (repo === undefined) return {};
  const open = await readAll(client.items(operations.listMilestones, { params: { owner, repo } }));
  const titles = open.map(({ title }) => title);
  const isUnique = ({ title }: Milestone): boolean => titles.indexOf(title) === titles.lastIndexOf(title);
  const twice = [...new Set(open.filter((one) => !isUnique(one)).map(({ title }) => title))];
  const known = open.filter(isUnique).map((one) => {
    const { title, description, due_on } = membersOf(one);
    return { title, ...(description !== '' && { description }), ...(due_on !== null && { due_on }) };
  });
  return {
    ...(known.length > 0 && { arguments: { milestones: known } }),
    ...(twice.length > 0 && { left: twice.map((title) => `several milestones named ${title}`) }),
  };
}
