import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createForgeInstance } from '../../../src/forge/forge.ts';
import { answerQuestions, watchMemory } from '../process.ts';

/** What the process says when it is ready. */
export type StartedForge = { readonly url: string; readonly controlToken: string };
/** One request that the forge has answered; its path has the query. */
export type Answered = { readonly method: string; readonly path: string; readonly status: number };
/** The request that put labels on an issue, and when its answer was handed to the system: `process.hrtime` of any process. */
export type Labelled = { readonly path: string; readonly atNs: string };

/** The embedded forge, in a process of its own. With `watched` it notes its answers, and is asked by nothing that takes its time. */
const [data = '', watched = ''] = process.argv.slice(2);
const forge = await createForgeInstance({ clock: () => new Date(), data, control: true });
const url = await forge.listen();
const { controlToken = '' } = forge;
let answered: Answered[] = [];
const labelled: Labelled[] = [];
let onLabelled = (): void => {};

if (watched !== '')
  subscribe('http.server.response.finish', (message) => {
    const atNs = String(process.hrtime.bigint());
    // The channel is documented to publish these members.
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const { method = '', url: path = '' } = request;
    answered.push({ method, path, status: response.statusCode });
    if (method !== 'PUT' || !/\/labels$/.test(path) || response.statusCode !== 200) return;
    labelled.push({ path, atNs });
    onLabelled();
  });

answerQuestions(
  { url, controlToken } satisfies StartedForge,
  {
    memory: watchMemory(),
    /** Sets the latency before every answer. */
    async latency(ms: number) {
      const answer = await fetch(`${url}/-/control/faults`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ latency_ms: ms, count: ms === 0 ? 0 : 1_000_000 }),
      });
      return answer.status;
    },
    /** All requests that were answered since the question before. */
    answered() {
      const since = answered;
      answered = [];
      return since;
    },
    /** The request that put labels for the nth time since the start, once it is answered. */
    labels: (nth: number) =>
      new Promise<Labelled>((resolve) => {
        onLabelled = () => {
          const found = labelled[nth - 1];
          if (found !== undefined) resolve(found);
        };
        onLabelled();
      }),
  },
  forge.close,
);
