import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createForgeInstance } from '../../../src/forge/forge.ts';
import { answerQuestions, watchMemory } from '../process.ts';

/** Message of the process when it is ready. */
export type StartedForge = { readonly url: string; readonly controlToken: string };
/** Request to which the forge has responded; its path includes the query. */
export type Answered = { readonly method: string; readonly path: string; readonly status: number };
/**
 * Request that labelled an issue, and the time at which its response was handed to the system: `process.hrtime`, which
 * all processes share.
 */
export type Labelled = { readonly path: string; readonly atNs: string };

/**
 * Runs the embedded forge in a separate process. With `watched`, it records its responses, so that it need not be
 * polled during a measurement.
 */
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
    // Documented fields of the messages of this channel.
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
    /** Sets the latency before every response. */
    async latency(ms: number) {
      const answer = await fetch(`${url}/-/control/faults`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ latency_ms: ms, count: ms === 0 ? 0 : 1_000_000 }),
      });
      return answer.status;
    },
    /** Returns all requests to which the forge has responded since the last call. */
    answered() {
      const since = answered;
      answered = [];
      return since;
    },
    /** Returns the nth request since the start that labelled an issue, as soon as the forge has responded to it. */
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
