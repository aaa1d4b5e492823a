import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import { CommitStatus } from '../contract/resources/statuses.ts';
import { list } from '../contract/shape.ts';
import { defineFact, requestOf } from './fact.ts';
import { head as headRow } from './head.ts';
import { repositoryParams } from './where.ts';

/** The newest status of every context of the subject's newest commit. */
export const statuses = defineFact({
  name: 'statuses',
  meaning:
    "The newest status of every `context` of the subject's newest commit (`head`); the member `status` is success, pending, failure, error, warning or skipped.",
  shows: 'repository',
  visibleTo: 'code',
  shape: list(CommitStatus),
  of: ['pull_request', 'branch', 'repository'],
  needs: { access: 'reader', scopes: ['repository'] },
  isPolled: true,
  requests: 2,
  example: 'statuses.all(s, s.status == "success")',
  async ask({ client, subject, ask }) {
    const { sha } = await ask(requestOf(headRow));
    return readNewestStatuses(client, { ...repositoryParams(subject), sha });
  },
});

/** Reads the newest status of every context of a commit. */
export async function readNewestStatuses(
  client: Client,
  params: { readonly owner: string; readonly repo: string; readonly sha: string },
): Promise<CommitStatus[]> {
  const newest = new Map<string, CommitStatus>();
  // Lists all statuses and keeps the newest of each context: the combined answer counts only its page, so its end is unknown.
  for await (const one of client.items(operations.listStatuses, { params })) {
    const context = one.context ?? '';
    const known = newest.get(context);
    if (known === undefined || one.id > known.id) newest.set(context, one);
  }
  return [...newest.values()];
}
