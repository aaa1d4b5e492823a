import type { z } from 'zod';
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
import { typeOf } from '../../src/rules/expressions/types.ts';

/** Objects that members of facts and events share: each has a page of its own, which the tables of members link. */
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

/** An object of this many members is the shared object that has all of them: `parent` of a repository is one. */
const minAlike = 20;

/** Returns the name of the object that has these members, or undefined if it has no page. */
export function sharedObjectOf(members: Readonly<Record<string, z.ZodType>>): string | undefined {
  const keys = Object.keys(members);
  const found = membersByName.find(([, known]) => {
    return known === members || (keys.length >= minAlike && keys.every((key) => Object.hasOwn(known, key)));
  });
  return found?.[0];
}
