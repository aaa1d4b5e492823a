import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createForgeInstance } from '../../../src/forge/forge.ts';

/** One request that the forge has answered. */
export type Answered = {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly status: number;
};
/** The request that put labels on an issue, and when its answer was handed to the system: `process.hrtime` of any process. */
export type Labelled = { readonly path: string; readonly atNs: string };
export type ForgeQuestion =
  /** All requests that were answered since the question before. */
  | 'answered'
  /** Asks for the request that put labels for the nth time since the start; the answer comes after it. */
  | { readonly labels: number };

/** The embedded forge, in a process of its own; it notes its answers without being asked by anything that takes its time. */
const [data = ''] = process.argv.slice(2);
const forge = await createForgeInstance({ clock: () => new Date(), data });
const url = await forge.listen();

let answered: Answered[] = [];
const labelled: Labelled[] = [];
let awaited: number | undefined;

subscribe('http.server.response.finish', (message) => {
  const atNs = String(process.hrtime.bigint());
  // The channel is documented to publish these members.
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const { method = '', url: path = '' } = request;
  answered.push({ method, path, status: response.statusCode });
  if (method !== 'PUT' || !/\/labels$/.test(path) || response.statusCode !== 200) return;
  labelled.push({ path, atNs });
  tellAwaited();
});

process.on('message', (question: ForgeQuestion) => {
  if (question === 'answered') {
    process.send?.(answered);
    answered = [];
    return;
  }
  awaited = question.labels;
  tellAwaited();
});
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', async () => {
  await forge.close();
  process.exit(0);
});
process.send?.(url);

function tellAwaited(): void {
  if (awaited === undefined || labelled.length < awaited) return;
  process.send?.(labelled[awaited - 1]);
  awaited = undefined;
}
