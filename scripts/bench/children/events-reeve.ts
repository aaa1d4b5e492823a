import '../../../src/platform/interpreted-shapes.ts';
import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../src/platform/log.ts';
import { startServer } from '../../../src/server/server.ts';
import { hookSecrets } from '../../harness/receiver.ts';
import { secret } from '../../harness/sender.ts';
import { answerQuestions, processorMs } from '../process.ts';

/** State of the process once nothing waits in its store. */
export type Done = {
  readonly dead: number;
  /** Processor time of all threads since the start of the process. */
  readonly processorMs: number;
};

/**
 * Runs Reeve like `reeve serve`: receiver, store, worker, engine, client, log. Answers the question `done` once Reeve
 * has nothing left to do.
 */
const [url = '', token = '', data = '', rules = '', log = ''] = process.argv.slice(2);
const server = await startServer({
  forge: { url, credentials: { token } },
  secrets: hookSecrets,
  data,
  rules,
  repositories: ['reeve/*'],
  allowAdmin: false,
  host: '127.0.0.1',
  port: 0,
  log: createLog({ secrets: [token, secret], destination: createWriteStream(log) }),
});

answerQuestions(
  server.url,
  {
    async done(): Promise<Done> {
      for (;;) {
        const { accepted = 0, claimed = 0, retry = 0, deferred = 0, dead = 0 } = await server.store.counts();
        if (accepted + claimed + retry + deferred === 0) return { dead, processorMs: processorMs() };
        await sleep(2);
      }
    },
  },
  server.stop,
);
