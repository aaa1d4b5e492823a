import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import { nowMs } from '../../harness/progress.ts';
import { type BacklogEvent, backlogEvent } from '../deliveries.ts';
import { answerQuestions, createTally } from '../process.ts';

/** Start options of this script. */
export type LibraryProcess = {
  readonly library: 'pg-boss' | 'graphile-worker';
  readonly url: string;
  readonly schema: string;
  readonly concurrency: number;
  /** Whether the jobs of one lane are handled one after another. */
  readonly isOrdered: boolean;
};

/** Operations of each library, by the question of the parent. */
type Answers = {
  /** Stores jobs. */
  store(jobs: number): Promise<void>;
  start(): Promise<void>;
  /** Claims and completes jobs repeatedly; returns how long each claim took. */
  claim?(options: { times: number; limit: number }): Promise<readonly number[]>;
};

const options = JSON.parse(process.argv[2] ?? '{}') as LibraryProcess;
const { url, schema, concurrency, isOrdered } = options;
const batch = 1_000;
const name = 'deliveries';
const tally = createTally();

function laneOf({ repository, issue }: BacklogEvent): string {
  return `${repository.id}/${issue.number}`;
}

/** Returns the events with numbers below `count`, in batches. */
function* batchesOf(
  count: number,
): Generator<readonly { readonly number: number; readonly event: BacklogEvent }[]> {
  for (let from = 0; from < count; from += batch)
    yield Array.from({ length: Math.min(batch, count - from) }, (_, at) => ({
      number: from + at,
      event: backlogEvent(from + at),
    }));
}

/** Returns an id that increases with the number: the ids of jobs that are stored together decide their order. */
function idOf(number: number): string {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** Fetches batches of as many jobs as run at once, without a pause between full batches. */
async function usePgBoss(): Promise<Answers> {
  const boss = new PgBoss({ connectionString: url, schema });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  if ((await boss.getQueue(name)) === null)
    await boss.createQueue(name, { policy: isOrdered ? 'key_strict_fifo' : 'standard' });
  return {
    async store(jobs) {
      for (const events of batchesOf(jobs))
        await boss.insert(
          name,
          events.map(({ number, event }) => ({
            id: idOf(number),
            data: event,
            ...(isOrdered && { singletonKey: laneOf(event) }),
          })),
        );
    },
    async start() {
      const times = { pollingIntervalSeconds: 0.5, batchSize: concurrency, burstWhenBatchFull: true };
      await boss.work(name, times, async (jobs) => tally.add(jobs.length));
    },
    async claim({ times, limit }) {
      const taken: number[] = [];
      for (let at = 0; at < times; at += 1) {
        const startMs = nowMs();
        const jobs = await boss.fetch(name, { batchSize: limit });
        taken.push(nowMs() - startMs);
        if (jobs.length !== limit) throw new Error(`fetched ${jobs.length} of ${limit}`);
        await boss.complete(
          name,
          jobs.map(({ id }) => id),
        );
      }
      return taken;
    },
  };
}

/** Uses the settings that the documentation recommends for throughput: jobs are fetched and completed in batches. */
async function useGraphileWorker(): Promise<Answers> {
  // The default logger would write two lines for each job.
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: url, schema, logger });
  await utils.migrate();
  return {
    async store(jobs) {
      for (const events of batchesOf(jobs))
        await utils.addJobs(
          events.map(({ event }) => ({
            identifier: name,
            payload: event,
            ...(isOrdered && { queueName: laneOf(event) }),
          })),
        );
    },
    async start() {
      await run({
        connectionString: url,
        schema,
        logger,
        concurrency,
        noHandleSignals: true,
        taskList: { [name]: async () => tally.add() },
        preset: { worker: { localQueue: { size: concurrency + 1 }, completeJobBatchDelay: 0 } },
      });
    },
  };
}

const use = options.library === 'pg-boss' ? usePgBoss : useGraphileWorker;
answerQuestions('ready', { ...(await use()), handled: tally.read });
