import { accountOperations } from './accounts.ts';
import { attachmentOperations } from './attachments.ts';
import { branchOperations } from './branches.ts';
import { commitOperations } from './commits.ts';
import { contentsOperations } from './contents.ts';
import { dependencyOperations } from './dependencies.ts';
import { hookOperations } from './hooks.ts';
import { instanceOperations } from './instance.ts';
import { issueOperations } from './issues.ts';
import { labelOperations } from './labels.ts';
import { milestoneOperations } from './milestones.ts';
import { notificationOperations } from './notifications.ts';
import { oauth2Operations } from './oauth2.ts';
import type { Operation } from './operation.ts';
import { organizationOperations } from './organizations.ts';
import { ownerHookOperations } from './owner-hooks.ts';
import { protectionOperations } from './protections.ts';
import { pullBranchOperations } from './pull-branches.ts';
import { pullOperations } from './pulls.ts';
import { repositoryOperations } from './repositories.ts';
import { reviewOperations } from './reviews.ts';
import { runnerOperations } from './runners.ts';
import { statusOperations } from './statuses.ts';
import { subscriptionOperations } from './subscriptions.ts';
import { tagOperations } from './tags.ts';
import { teamOperations } from './teams.ts';
import { timeOperations } from './times.ts';
import { transferOperations } from './transfers.ts';
import { userOperations } from './users.ts';
import { wikiOperations } from './wiki.ts';

/** Every operation there is, by its short name: what the client may send and what the embedded forge answers. */
export const operations = {
  ...instanceOperations,
  ...userOperations,
  ...accountOperations,
  ...oauth2Operations,
  ...organizationOperations,
  ...teamOperations,
  ...repositoryOperations,
  ...transferOperations,
  ...wikiOperations,
  ...branchOperations,
  ...tagOperations,
  ...commitOperations,
  ...contentsOperations,
  ...labelOperations,
  ...issueOperations,
  ...pullOperations,
  ...pullBranchOperations,
  ...reviewOperations,
  ...protectionOperations,
  ...statusOperations,
  ...hookOperations,
  ...ownerHookOperations,
  ...runnerOperations,
  ...attachmentOperations,
  ...dependencyOperations,
  ...milestoneOperations,
  ...notificationOperations,
  ...subscriptionOperations,
  ...timeOperations,
} as const;

export type OperationName = keyof typeof operations;

const byId = new Map<string, Operation>(Object.values(operations).map((row) => [row.id, row]));

export function findOperation(id: string): Operation | undefined {
  return byId.get(id);
}
