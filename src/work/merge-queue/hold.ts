import { findPause, type Pause, pausedWords } from '../../engine/bounds/pauses.ts';
import type { QueueKey, QueueRow } from '../../store/queue-rows.ts';
import type { QueueDraft } from './draft.ts';
import { waitUnlessFirst } from './edits.ts';
import type { HeldRule, QueueEntry, QueueState } from './state.ts';

/** Returns the rules for whose pull requests a queue has something to write, each once; empty for a write without one. */
export function rulesOfQueue({ entries, outbox }: QueueState): readonly string[] {
  return [...new Set([...entries, ...outbox].map(({ rule = '' }) => rule))];
}

/** Returns those of the rules that are paused in the repository of a queue, and why. */
export function findHeldRules(
  rules: readonly string[],
  pauses: readonly Pause[],
  { repositoryId: id, repository: name }: Pick<QueueKey & QueueRow, 'repositoryId' | 'repository'>,
): readonly HeldRule[] {
  return rules.flatMap((rule) => {
    const pause = findPause(pauses, { repository: { name, id }, rule });
    return pause ? [{ rule, why: pausedWords(pause) }] : [];
  });
}

/**
 * Puts pull requests of paused rules behind all others, without a turn, and those whose pause has ended back to their place. The
 * one that an update or a merge was about to be sent for stays until it is known what became of that.
 */
export function holdPaused(draft: QueueDraft): QueueDraft {
  const { held = [], state } = draft;
  const { entries, attempt } = state;
  const isHeld = ({ rule, number }: QueueEntry): boolean => held.includes(rule) && attempt?.number !== number;
  const wereAllHeld = entries.every((entry) => entry.held);
  const stopped = entries
    .filter(isHeld)
    .map((entry, at) => ({ ...waitUnlessFirst(entry, at + 1), held: true as const }));
  const going = entries.filter((entry) => !isHeld(entry));
  const stayed = going.filter((entry) => wereAllHeld || !entry.held).map(withoutHold);
  const returned = going.filter((entry) => !wereAllHeld && entry.held).map(withoutHold);
  return { ...draft, state: { ...state, entries: [...returned.reduce(putBack, stayed), ...stopped] } };
}

function withoutHold({ held: _held, ...entry }: QueueEntry): QueueEntry {
  return entry;
}

/** Puts an entry before those that go after it, but never before the one that has its turn. */
function putBack(entries: readonly QueueEntry[], entry: QueueEntry): readonly QueueEntry[] {
  const { priority } = entry.request;
  const at = entries.findIndex(
    ({ request, enteredAt, turnAt }) =>
      turnAt === undefined &&
      (request.priority < priority || (request.priority === priority && enteredAt > entry.enteredAt)),
  );
  return at === -1 ? [...entries, entry] : entries.toSpliced(at, 0, entry);
}
