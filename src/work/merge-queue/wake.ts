import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { mergeQueueKind } from '../../actions/merging/queue-desk.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import type { NewJob } from '../../store/store.ts';

const MergeQueueJob = z.object({
  repository: z.object({ id: z.number(), owner: z.string(), name: z.string() }),
  base: z.string(),
  /** A pull request that something happened to, beside the first. */
  number: z.number().optional(),
  /** Someone else than Reeve pushed to that pull request. */
  pushed: z.boolean().optional(),
});
type MergeQueueJob = z.output<typeof MergeQueueJob>;

/** Reads the payload of the job. */
export function readQueueJob(payload: unknown): MergeQueueJob {
  return MergeQueueJob.parse(payload);
}

/** Returns a job that looks at a queue now: after an edit, or for an event. Jobs of one queue run one after the other. */
export function queueJob(
  repository: RepositoryRef,
  base: string,
  {
    at,
    ...about
  }: { readonly at: Date; readonly number?: number | undefined; readonly pushed?: boolean | undefined },
): NewJob {
  const { id, owner, name } = repository;
  return {
    door: 'cron',
    uuid: `${mergeQueueKind}#${randomUUID()}`,
    kind: mergeQueueKind,
    lane: `${mergeQueueKind} ${id} ${base}`,
    receivedAt: at,
    payload: { repository: { id, owner, name }, base, ...about } satisfies z.input<typeof MergeQueueJob>,
  };
}
