import { branchOperations } from './branches.ts';
import { contentsOperations } from './contents.ts';
import { hookOperations } from './hooks.ts';
import { instanceOperations } from './instance.ts';
import { issueOperations } from './issues.ts';
import { labelOperations } from './labels.ts';
import type { Operation } from './operation.ts';
import { organizationOperations } from './organizations.ts';
import { protectionOperations } from './protections.ts';
import { pullOperations } from './pulls.ts';
import { repositoryOperations } from './repositories.ts';
import { reviewOperations } from './reviews.ts';
import { runnerOperations } from './runners.ts';
import { statusOperations } from './statuses.ts';
import { userOperations } from './users.ts';

/** Every operation there is, by its short name: what the client may send and what the embedded forge answers. */
export const operations = {
  ...instanceOperations,
  ...userOperations,
  ...organizationOperations,
  ...repositoryOperations,
  ...branchOperations,
  ...contentsOperations,
  ...labelOperations,
  ...issueOperations,
  ...pullOperations,
  ...reviewOperations,
  ...protectionOperations,
  ...statusOperations,
  ...hookOperations,
  ...runnerOperations,
} as const;

export type OperationName = keyof typeof operations;

const byId = new Map<string, Operation>(Object.values(operations).map((row) => [row.id, row]));

/** Returns the row with this id, or undefined. */
export function findOperation(id: string): Operation | undefined {
  return byId.get(id);
}
