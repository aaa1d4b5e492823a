import type { z } from 'zod';
import { RunnerItem } from '../../src/contract/events/runner-item.ts';
import { Branch, ChangedFile, Commit, CommitEntry, Compare } from '../../src/contract/resources/branches.ts';
import { Comment } from '../../src/contract/resources/comments.ts';
import { Hook } from '../../src/contract/resources/hooks.ts';
import { Attachment, Issue } from '../../src/contract/resources/issues.ts';
import { Label } from '../../src/contract/resources/labels.ts';
import { Milestone } from '../../src/contract/resources/milestones.ts';
import { BranchProtection, TagProtection } from '../../src/contract/resources/protections.ts';
import { PullRequest } from '../../src/contract/resources/pulls.ts';
import { Repository } from '../../src/contract/resources/repositories.ts';
import { PullReview } from '../../src/contract/resources/reviews.ts';
import { CommitStatus } from '../../src/contract/resources/statuses.ts';
import { TrackedTime } from '../../src/contract/resources/times.ts';
import { Organization, Team, User } from '../../src/contract/resources/users.ts';
import { Workflow, WorkflowRun } from '../../src/contract/resources/workflows.ts';
import { table, word } from '../../src/language-server/documentation.ts';
import { alternatives, describeType, type Type, typeOf } from '../../src/rules/expressions/types.ts';

/** Returns a page: a title and its parts, separated by empty lines, with a trailing line break. */
export function page(title: string, ...parts: readonly (string | false | undefined)[]): string {
  return `# ${title}\n\n${parts.filter(Boolean).join('\n\n').trim()}\n`;
}

/** Number of nested levels in one table, for objects without their own page. */
const maxLevels = 5;

/**
 * Returns the fields of a shape, or of the items of a list, with their types, and with their meanings if the shape has
 * any. A field with an object that has its own
 * page links to that page; the fields of any other object have their own rows: `head.ref`, `commits[].message`.
 */
export function membersOf(shape: z.ZodType): string {
  const object = objectIn(typeOf(shape));
  if (object === undefined) return '';
  const rows = memberRows(object, '', [object]);
  return rows.some(([, , meaning]) => meaning !== '')
    ? table(['member', 'type', 'meaning'], rows)
    : table(
        ['member', 'type'],
        rows.map((row) => row.slice(0, 2)),
      );
}

type Members = Readonly<Record<string, z.ZodType>>;

function memberRows(
  members: Members,
  before: string,
  around: readonly Members[],
): readonly (readonly string[])[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const type = typeOf(member);
    const path = `${before}${name}`;
    const row = [word(path), describeMember(type), member.description ?? ''];
    const inner = objectIn(type);
    const isShown = inner === undefined || sharedObjectOf(inner) !== undefined || around.includes(inner);
    if (isShown || around.length >= maxLevels) return [row];
    const isList = alternatives(type).some(({ kind }) => kind === 'list');
    return [row, ...memberRows(inner, `${path}${isList ? '[]' : ''}.`, [...around, inner])];
  });
}

/** Describes a type, including its object or the type of its items. */
function describeMember(type: Type): string {
  const parts = alternatives(type).map((one) => {
    if (one.kind === 'list') return `a list: ${describeMember(one.item)}`;
    if (one.kind === 'map') return `a map: ${describeMember(one.value)}`;
    const name = one.kind === 'object' ? sharedObjectOf(one.members) : undefined;
    return name === undefined ? describeType(one) : `[${name}](../objects/${name}.md)`;
  });
  return [...new Set(parts)].join(' or ');
}

function objectIn(type: Type): Members | undefined {
  for (const one of alternatives(type)) {
    if (one.kind === 'object') return one.members;
    const inner = one.kind === 'list' ? objectIn(one.item) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

/** Objects that fields of facts and events share: each has its own page, to which the tables of fields link. */
export const sharedObjects: Readonly<Record<string, z.ZodType>> = {
  attachment: Attachment,
  branch: Branch,
  'branch-protection': BranchProtection,
  'changed-file': ChangedFile,
  comment: Comment,
  commit: Commit,
  'commit-entry': CommitEntry,
  'commit-status': CommitStatus,
  compare: Compare,
  hook: Hook,
  issue: Issue,
  label: Label,
  milestone: Milestone,
  organization: Organization,
  'pull-request': PullRequest,
  repository: Repository,
  review: PullReview,
  runner: RunnerItem,
  'tag-protection': TagProtection,
  team: Team,
  'tracked-time': TrackedTime,
  user: User,
  workflow: Workflow,
  'workflow-run': WorkflowRun,
};

const membersByName = Object.entries(sharedObjects).flatMap(([name, shape]) => {
  const type = typeOf(shape);
  return type.kind === 'object' ? [[name, type.members] as const] : [];
});

/**
 * Minimum number of fields: an object with at least this many counts as the shared object that has all of them, for
 * example `parent` of a repository.
 */
const minAlike = 20;

/** Returns the name of the object that has these fields, or undefined if it has no page. */
function sharedObjectOf(members: Readonly<Record<string, z.ZodType>>): string | undefined {
  const keys = Object.keys(members);
  const found = membersByName.find(([, known]) => {
    return known === members || (keys.length >= minAlike && keys.every((key) => Object.hasOwn(known, key)));
  });
  return found?.[0];
}
