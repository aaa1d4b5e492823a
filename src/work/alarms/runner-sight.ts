import type { Subject } from '../../contract/events/subject.ts';
import { createUnlimitedMeter } from '../../patterns/meter.ts';
import { isInScope } from '../../rules/match.ts';
import { type LoadedRule, visits } from '../../rules/rule.ts';
import type { MemoryRows } from '../../store/store.ts';
import { type SweepResult, SweepStore } from '../sweeps/progress.ts';
import { type Cron, createCron } from '../sweeps/schedule/cron.ts';
import { createRunnerMemory, type RunnerRecord } from '../sweeps/targets/runner-memory.ts';

/** A runner as it was seen last. */
export type KnownRunner = RunnerRecord & {
  readonly id: number;
  /** `organization acme`, `repository acme/demo`, `user reeve`, `instance`. */
  readonly level: string;
  /** Set if its state is not known now: time at which its level was seen last. */
  readonly notSeenSince?: Date;
};

/** A rule that visits runners, and its latest sweep. */
type Watcher = {
  readonly rule: LoadedRule;
  readonly crons: readonly Cron[];
  readonly result: SweepResult | undefined;
};

/** A level is shown as not seen after this number of slots without a listing of it. */
const missedSlots = 2;
/** The same for a level that no rule of the operator visits any more. */
const unwatchedMs = 86_400_000;

/** Returns the rules that visit runners on a schedule. */
export function runnerRules(rules: readonly LoadedRule[]): readonly LoadedRule[] {
  return rules.filter((rule) => visits(rule, 'runner') && rule.schedules.length > 0);
}

/**
 * Reads the runners that sweeps have observed. A level that the last sweep of one of these rules could not see, or that
 * none has listed for two of its slots, is not seen: its runners may have any state now. Sends no request to the forge.
 */
export async function readKnownRunners(
  rules: readonly LoadedRule[],
  store: MemoryRows,
  now: Date,
): Promise<readonly KnownRunner[]> {
  const levels = Object.entries(await createRunnerMemory(store).levels());
  if (levels.length === 0) return [];
  const sweeps = new SweepStore(store);
  const watchers = await Promise.all(
    runnerRules(rules).map(
      async (rule): Promise<Watcher> => ({
        rule,
        crons: rule.schedules.map((schedule) => createCron(schedule)),
        result: await sweeps.readResult(rule.id),
      }),
    ),
  );
  return levels.flatMap(([level, records]) => {
    const notSeenSince = findLoss(level, Object.values(records), watchers, now);
    return Object.entries(records).map(([id, record]): KnownRunner => {
      const known = { id: Number(id), level, ...record };
      return notSeenSince === undefined || record.status === 'gone' ? known : { ...known, notSeenSince };
    });
  });
}

/** Returns when a level was seen last, if it is not seen now. */
function findLoss(
  level: string,
  records: readonly RunnerRecord[],
  watchers: readonly Watcher[],
  now: Date,
): Date | undefined {
  const listed = records.flatMap(({ listedAt }) => listedAt ?? []).toSorted();
  const last = listed.at(-1);
  // Written by an earlier version: the next sweep notes the time.
  if (last === undefined) return undefined;
  const listedAt = new Date(last);
  const meter = createUnlimitedMeter();
  const of = watchers.filter(({ rule }) => isInScope(rule, subjectOf(level), meter));
  const isLost =
    of.length === 0
      ? now.getTime() - listedAt.getTime() >= unwatchedMs
      : of.some((watcher) => hasMissed(watcher, listedAt, now));
  return isLost ? listedAt : undefined;
}

function hasMissed({ crons, result }: Watcher, listedAt: Date, now: Date): boolean {
  if (result?.isComplete && !result.isPartial && Date.parse(result.startedAt) > listedAt.getTime())
    return true;
  const slots = crons.reduce((sum, cron) => sum + cron.due(listedAt, now).count, 0);
  return slots >= missedSlots;
}

/** Returns the subject of the runners of a level, as `targets/runners.ts` makes it. */
function subjectOf(level: string): Subject {
  const [kind, name = ''] = level.split(' ');
  if (kind === 'organization') return { kind: 'runner', organization: name };
  if (kind !== 'repository') return { kind: 'runner' };
  const [owner = '', repo = ''] = name.split('/');
  return { kind: 'runner', repository: { id: 0, owner, name: repo } };
}
