import type { QueueDesk, QueuePlaceOfPull } from '../../actions/merging/queue-desk.ts';
import type { QueueEvent, QueueRows } from '../../store/queue-rows.ts';
import type { Store } from '../../store/store.ts';
import { editQueue, enterQueue, findBar, forgiveLeft, withdrawEntry } from './edits.ts';
import { queueStateOf } from './state.ts';
import { queueJob } from './wake.ts';
import type { QueuePlace } from './work.ts';

/** Creates the desk at which rules let pull requests into the queues of a store. */
export function createQueueDesk(options: {
  readonly store: Pick<QueueRows, 'readQueue' | 'saveQueue'> & Pick<Store, 'enqueue'>;
  readonly now: () => Date;
  readonly onEnqueued: () => void;
  readonly onEvent?: ((event: QueueEvent & QueuePlace) => void) | undefined;
}): QueueDesk {
  const { store, now, onEnqueued, onEvent } = options;
  const placeOf = ({ repository: { id, owner, name }, base }: QueuePlaceOfPull): QueuePlace => ({
    repositoryId: id,
    base,
    repository: `${owner}/${name}`,
  });
  return {
    async find(pull) {
      const state = queueStateOf(await store.readQueue(placeOf(pull)));
      const entry = state.entries.find(({ number }) => number === pull.number);
      // Another head is a push, unless the queue is just bringing it up to date.
      const isUpdated = state.attempt?.kind === 'update' && state.attempt.number === pull.number;
      if (entry && (entry.head === pull.head || isUpdated)) return 'queued';
      const bar = findBar(state, pull);
      if (bar === undefined) return undefined;
      return { why: `it left the merge queue at ${bar.at} with this head, for ${bar.reason}` };
    },
    async enter(pull, request, { rule, delivery }) {
      const place = placeOf(pull);
      const { number, head } = pull;
      const at = now();
      const hasEntered = await editQueue(
        store,
        place,
        enterQueue({ number, head, rule, delivery, request }, at, pull.base),
      );
      if (!hasEntered) return async () => {};
      onEvent?.({ ...place, at, kind: 'entered', number, head, text: 'entered' });
      const { entries, outbox } = queueStateOf(await store.readQueue(place));
      // Others are looked at when their turn comes.
      const next = entries.find(({ held }) => !held);
      if (next?.number === number || outbox.length > 0) {
        await store.enqueue(queueJob(pull.repository, pull.base, { at }));
        onEnqueued();
      }
      return async () => {
        await editQueue(store, place, withdrawEntry(number, head));
      };
    },
    async forgive(pull) {
      await editQueue(store, placeOf(pull), forgiveLeft(pull.number));
    },
  };
}
