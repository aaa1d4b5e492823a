import { findPause, type Pause, pausedWords } from '../../engine/bounds/pauses.ts';
import type { QueueRow } from '../../store/queue-rows.ts';
import { type QueueEntry, type QueuePhase, type QueueState, queueStateOf } from './state.ts';

/** A pull request in a queue, for display. */
export type DescribedEntry = {
  /** Position, starting at 1. The first pull request has its turn. */
  readonly position: number;
  readonly number: number;
  readonly priority: number;
  readonly phase: QueuePhase;
  /** What the pull request waits for, as part of a sentence. */
  readonly waitsFor: string;
  readonly head: string;
  readonly rule: string;
  readonly enteredAt: Date;
  readonly turnAt: Date | undefined;
};

/** A queue, for display. */
export type DescribedQueue = {
  readonly repositoryId: number;
  readonly repository: string;
  readonly base: string;
  readonly paused: { readonly by: string; readonly at: Date } | undefined;
  /** The foreign commit on the base that blocks merges, and when the block began. */
  readonly blocked: { readonly commit: string; readonly since: Date } | undefined;
  /** Pauses that stop the writes of all or some of the queue's rules, as sentences. */
  readonly pauses: readonly string[];
  readonly entries: readonly DescribedEntry[];
};

/** Describes a stored queue: positions, phases, and what each pull request waits for. `pauses`: the pauses in force. */
export function describeQueue(row: QueueRow, pauses: readonly Pause[]): DescribedQueue {
  const state = queueStateOf(row);
  const repository = { name: row.repository, id: row.repositoryId };
  const pauseOf = ({ rule }: QueueEntry): string | undefined => {
    const pause = findPause(pauses, { repository, rule });
    return pause && pausedWords(pause);
  };
  const { paused, blocked, entries } = state;
  return {
    repositoryId: row.repositoryId,
    repository: row.repository,
    base: row.base,
    paused: paused && { by: paused.by, at: new Date(paused.at) },
    blocked: blocked && { commit: blocked.commit, since: new Date(blocked.since) },
    pauses: [...new Set(entries.flatMap((entry) => pauseOf(entry) ?? []))],
    entries: entries.map((entry, at) => ({
      position: at + 1,
      number: entry.number,
      priority: entry.request.priority,
      phase: entry.phase,
      waitsFor: describeWait(entry, at, { state, base: row.base, pause: pauseOf(entry) }),
      head: entry.head,
      rule: entry.rule,
      enteredAt: new Date(entry.enteredAt),
      turnAt: entry.turnAt === undefined ? undefined : new Date(entry.turnAt),
    })),
  };
}

/**
 * Describes the queues that contain a pull request, are paused, or wait for checks of their base. Idle queues are left
 * out.
 */
export function describeBusyQueues(
  rows: readonly QueueRow[],
  pauses: readonly Pause[],
): readonly DescribedQueue[] {
  return rows
    .map((row) => describeQueue(row, pauses))
    .filter(
      ({ entries, paused, blocked }) => entries.length > 0 || paused !== undefined || blocked !== undefined,
    );
}

function describeWait(
  { removal, phase }: QueueEntry,
  at: number,
  {
    state,
    base,
    pause,
  }: { readonly state: QueueState; readonly base: string; readonly pause: string | undefined },
): string {
  if (removal) return `its removal, asked for by ${removal.by}`;
  if (state.paused) return 'the end of the pause';
  if (pause !== undefined) return `the end of a pause: ${pause}`;
  const first = state.entries[0];
  if (at > 0 && first) return at === 1 ? `#${first.number}` : `#${first.number} and ${at - 1} more`;
  if (state.blocked && phase !== 'updating')
    return `checks of ${base}, which someone wrote to between a check and a merge`;
  return waits[phase];
}

/** What the first pull request waits for, by its phase. */
const waits: Readonly<Record<QueuePhase, string>> = {
  waiting: 'the next look at the queue',
  updating: 'the update with its base',
  testing: 'its checks',
  ready: 'its merge',
};
