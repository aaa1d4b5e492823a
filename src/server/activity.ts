import { hasFailed, type Run } from '../engine/record.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Sample } from '../store/samples.ts';
import { type Claim, isForgeEvent, type Store } from '../store/store.ts';
import { RuleEvaluations } from '../work/alarms/rule-sight.ts';
import { readDrift } from '../work/sweeps/drift.ts';
import { createRunnerMemory } from '../work/sweeps/targets/runner-memory.ts';
import {
  chartStretches,
  latencyName,
  type SampleName,
  sampleMerges,
  sampleSpanOf,
} from './dashboard/activity-samples.ts';

/** Fields of a handled delivery or job that the counts depend on. */
type EndedClaim = Pick<Claim, 'door' | 'eventType'> & { readonly redrivenAt?: Date | undefined };
type HandledClaim = EndedClaim & { readonly receivedAt: Date };

/** Counts the activity of this process, for the charts of the dashboard. */
export interface Activity {
  /** Counts a response of the receiver by its result. */
  countReceived(result: string): void;
  /**
   * Counts a handled event of the forge, with the time since its receipt. An event that was found by reading the forge
   * counts as received when it first ends. Jobs are not counted.
   */
  countHandled(claim: HandledClaim, runs: readonly Run[]): void;
  /** Counts a dead event of the forge. */
  countDead(claim: EndedClaim): void;
  /** Records which rules a run evaluated. */
  countRun(run: Run): void;
  /** Counts the corrections of an item of a sweep, and whether the item failed. */
  countSweepRun(run: Run): void;
  /**
   * Samples the queue (with `isThorough`, also runners and drift) if this process is the leader, and then writes the
   * counts.
   */
  write(options?: { readonly isThorough?: boolean }): Promise<void>;
  /** Writes the remaining counts and stops. */
  stop(): Promise<void>;
}

/** Interval between writes: a killed process loses at most this much chart data. */
const writeMs = 60_000;
/** Runners and drift are sampled only on every n-th write, because only sweeps change them. */
const thoroughEvery = 5;

/** Starts counting. */
export function startActivity(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): Activity {
  const { store, clock, log } = options;
  /** Samples by width, start and name. */
  let counted = new Map<string, Sample>();

  const add = (name: string, amount: number, merge: Sample['merge']): void => {
    const now = clock.now();
    for (const { minutes } of chartStretches) {
      const at = sampleSpanOf(now, minutes);
      const key = `${minutes} ${at.getTime()} ${name}`;
      const before = counted.get(key)?.amount ?? 0;
      counted.set(key, { minutes, at, name, amount: merge === 'sum' ? before + amount : amount, merge });
    }
  };
  const count = (name: SampleName, amount = 1): void => add(name, amount, sampleMerges[name]);

  /** Counts an event as received that did not come through the receiver. */
  const countFound = ({ door, redrivenAt }: EndedClaim): void => {
    if (door !== 'webhook' && redrivenAt === undefined) count('received');
  };

  const evaluations = new RuleEvaluations();
  const { lookAtQueue, lookAtSweeps } = createLooks(store, clock, count);
  const write = async (): Promise<void> => {
    const samples = [...counted.values()];
    counted = new Map();
    await store.addSamples(samples);
    await evaluations.save(store);
  };

  let writes = 0;
  const writeAll: Activity['write'] = async ({ isThorough = false } = {}) => {
    try {
      if (store.isLeader()) {
        await lookAtQueue();
        if (isThorough) await lookAtSweeps();
      }
      await write();
    } catch (error) {
      // Serving requests matters more than complete charts.
      log.debug({ error: messageOf(error) }, 'the activity could not be written');
    }
  };
  const timer = setInterval(() => {
    void writeAll({ isThorough: writes % thoroughEvery === 0 });
    writes += 1;
  }, writeMs);
  timer.unref();

  return {
    countReceived(result) {
      if (result === 'stored' || result === 'copy') count('received');
    },
    countHandled(claim, runs) {
      if (!isForgeEvent(claim)) return;
      const { receivedAt, redrivenAt } = claim;
      countFound(claim);
      count(runs.some(hasFailed) ? 'failed' : 'handled');
      // A redriven delivery waited for manual action, so its latency is not counted.
      if (redrivenAt === undefined) add(latencyName(clock.now().getTime() - receivedAt.getTime()), 1, 'sum');
    },
    countDead(claim) {
      if (!isForgeEvent(claim)) return;
      countFound(claim);
      count('dead');
    },
    countRun: (run) => evaluations.note(run),
    countSweepRun(run) {
      if (hasFailed(run)) count('failed in sweeps');
      const corrected = run.outcomes.filter(({ status }) => status === 'applied').length;
      if (corrected > 0) count('corrected', corrected);
    },
    write: writeAll,
    async stop() {
      clearInterval(timer);
      await writeAll();
    },
  };
}

/** Returns the functions that sample current levels: the queue, runners and drift. */
function createLooks(store: Store, clock: Clock, count: (name: SampleName, amount: number) => void) {
  const runners = createRunnerMemory(store);
  const lookAtQueue = async (): Promise<void> => {
    const { accepted, claimed, retry, deferred } = await store.counts();
    const oldest = await store.oldestWaiting();
    count('waiting', accepted + claimed + retry + deferred);
    count(
      'oldest',
      oldest === undefined ? 0 : Math.max((clock.now().getTime() - oldest.getTime()) / 1_000, 0),
    );
  };
  const lookAtSweeps = async (): Promise<void> => {
    const seen = Object.values(await runners.levels()).flatMap((records) => Object.values(records));
    if (seen.length > 0) {
      count('runners online', seen.filter(({ status }) => status === 'online').length);
      count('runners busy', seen.filter(({ status, busy }) => status === 'online' && busy).length);
      count('runners offline', seen.filter(({ status }) => status === 'offline').length);
    }
    count('drift', (await readDrift(store)).length);
  };
  return { lookAtQueue, lookAtSweeps };
}
