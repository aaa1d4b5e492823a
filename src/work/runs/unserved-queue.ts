import type { RepositoryRef } from '../../contract/events/subject.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { Admissions } from '../../rules/sources/admission.ts';
import { retryDenial } from '../../rules/sources/doubt.ts';
import type { QueueEvent } from '../../store/queue-rows.ts';
import type { Delivery, Store } from '../../store/store.ts';
import { abandonQueue, editQueue } from '../merge-queue/edits.ts';
import type { QueuePlace } from '../merge-queue/work.ts';
import { eventlessOf } from './stored-event.ts';

/**
 * Admits the job of a queue. A repository that the forge has denied for ten minutes counts as gone: nothing else would ever end
 * its queues.
 */
export async function admitQueue(
  repository: RepositoryRef,
  job: Delivery,
  { admissions, now }: { readonly admissions: Pick<Admissions, 'admit'>; readonly now: () => Date },
): ReturnType<Admissions['admit']> {
  try {
    return await admissions.admit({}, eventlessOf(repository, 0, job.eventType));
  } catch (error) {
    const doubt = retryDenial(error, job, now());
    const isDenied = error instanceof ReeveError && (error.status === 403 || error.status === 404);
    if (!isDenied || doubt !== error) throw doubt;
    return { state: 'ignored', reason: `${repository.owner}/${repository.name} is gone: ${error.message}` };
  }
}

/** Lets all pull requests of a queue go whose repository is not served any more. Nothing is written there. */
export async function leaveUnserved(
  place: QueuePlace,
  why: string,
  options: {
    readonly store: Pick<Store, 'readQueue' | 'saveQueue'>;
    readonly now: () => Date;
    readonly onQueueEvent?: ((event: QueueEvent & QueuePlace) => void) | undefined;
  },
): Promise<void> {
  const at = options.now();
  let events: readonly QueueEvent[] = [];
  const isChanged = await editQueue(options.store, place, (state) => {
    const edited = abandonQueue(why, at, place.base)(state);
    events = edited?.events ?? [];
    return edited;
  });
  if (isChanged) for (const event of events) options.onQueueEvent?.({ ...event, ...place });
}
