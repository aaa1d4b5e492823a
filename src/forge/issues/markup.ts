import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { isVisible } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { UserRow } from '../platform/rows.ts';
import {
  type MarkdownOptions,
  placeOfText,
  type RenderAnswer,
  type RenderRequest,
} from './render-markdown.ts';

/** Maximum length of a text; the thread takes a second or two to render a text of this length. */
const maxCharacters = 128 * 1024;
/** Maximum number of account names per text that are looked up. */
const maxMentions = 100;
/** Maximum number of texts waiting for the thread; further texts are refused. */
const maxWaiting = 100;
/** Wall-clock limit, generous for a busy machine; the thread is stopped if a text takes longer. */
const maxRenderMs = 60_000;
/** Idle time after which the thread ends. */
const idleMs = 30_000;

type Rendering = { readonly context: ForgeContext; readonly caller: UserRow; readonly reply: Reply };
type MarkupText = {
  readonly text: string;
  readonly mode: string;
  readonly place?: string | undefined;
  readonly filePath?: string | undefined;
};

async function answerHtml(rendering: Rendering, wanted: MarkupText): Promise<Buffer> {
  const { context, reply } = rendering;
  const { text, mode, place = '', filePath = '' } = wanted;
  if (text.length > maxCharacters)
    throw new ForgeProblem(422, `the text has more than ${maxCharacters} characters`);
  const isPlain = mode === '' || mode === 'markdown';
  const html = await renderAside(text, {
    breaks: mode === 'comment',
    references: !isPlain,
    place: isPlain ? undefined : placeOfText(context.rootUrl(), mode, place, filePath),
    addresses: isPlain ? new Map() : addressesIn(rendering, text),
  });
  reply.header('content-type', 'text/html; charset=utf-8');
  return Buffer.from(html);
}

/** Returns the URLs of the accounts that a text mentions with `@`. */
function addressesIn(rendering: Rendering, text: string): ReadonlyMap<string, string> {
  const names = new Set<string>();
  for (const [, name = ''] of text.matchAll(/@([\w][\w.-]*[\w]|[\w])/g)) {
    names.add(name);
    if (names.size === maxMentions) break;
  }
  const found = [...names].map((name) => [name, findVisible(rendering, name)] as const);
  const root = rendering.context.rootUrl();
  return new Map(found.flatMap(([name, user]) => (user === undefined ? [] : [[name, `${root}/${user}`]])));
}

/**
 * Returns the name of an account. An account that the caller may not see counts as unknown, because a link would reveal
 * its existence.
 */
function findVisible({ context, caller }: Rendering, name: string): string | undefined {
  const user = userNamed(context.db, name);
  return user && isVisible(context.db, user, caller) ? user.name : undefined;
}

type Waiting = RenderRequest & {
  readonly resolve: (html: string) => void;
  readonly reject: (error: Error) => void;
};

let thread: Worker | undefined;
let serial = 0;
let idling: NodeJS.Timeout | undefined;
const waiting: Waiting[] = [];

/**
 * Renders a text in a separate thread, one text at a time: a crafted text can take seconds, during which the process
 * must serve other requests. Ends the request if too many texts are waiting or if a text takes too long. All forges of
 * the process share one thread.
 */
function renderAside(text: string, options: MarkdownOptions): Promise<string> {
  if (waiting.length >= maxWaiting) throw new ForgeProblem(503, 'too many texts are waiting to be rendered');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  serial += 1;
  waiting.push({ id: serial, text, options, resolve, reject });
  if (waiting.length === 1) renderNext();
  return promise;
}

/** Sends the first waiting text to the thread; the text stays in the queue until the thread responds. */
function renderNext(): void {
  clearTimeout(idling);
  const [next] = waiting;
  if (next === undefined) {
    const resting = thread;
    idling = setTimeout(() => {
      if (thread === resting) thread = undefined;
      void resting?.terminate();
    }, idleMs).unref();
    return;
  }
  const { id, text, options } = next;
  thread ??= startThread();
  const worker = thread;
  worker.ref();
  const settle = (answer: () => void): void => {
    clearTimeout(timer);
    worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd).unref();
    waiting.shift();
    answer();
    renderNext();
  };
  const onMessage = (message: RenderAnswer): void => {
    if (message.id !== id) return;
    settle(() =>
      message.html === undefined ? next.reject(new Error(message.error)) : next.resolve(message.html),
    );
  };
  /** Handles the end of the thread, which ran out of memory or was stopped. */
  const onEnd = (): void => {
    thread = undefined;
    settle(() => next.reject(new ForgeProblem(422, 'the text takes too much time or memory to render')));
  };
  const timer = setTimeout(() => void worker.terminate(), maxRenderMs);
  worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
  worker.postMessage({ id, text, options } satisfies RenderRequest);
}

/** Starts the thread. Its program is a file next to this one in the sources, or an entry file in a build. */
function startThread(): Worker {
  const places = ['./render-markdown.ts', './render-thread.js', '../render-thread.js'];
  const addresses = places.map((place) => new URL(place, import.meta.url));
  // If the program is missing, the thread reports an error.
  const program = addresses.find((address) => existsSync(fileURLToPath(address))) ?? new URL(import.meta.url);
  const started = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: 256 } });
  // An error while the thread is idle ends the thread, not the process.
  started.on('error', () => {
    if (thread === started) thread = undefined;
  });
  return started;
}

const modes = new Set(['', 'markdown', 'comment', 'gfm', 'wiki', 'file']);

/** Returns the mode of a request, or ends the request with 422 for an unknown mode. */
function modeOf(body: { readonly Mode?: string | undefined; readonly Wiki?: boolean | undefined }): string {
  const mode = body.Wiki ? 'wiki' : (body.Mode ?? '');
  if (!modes.has(mode)) throw new ForgeProblem(422, `unsupported render mode: ${mode}`);
  return mode;
}

/** Handlers that render text as HTML. */
export const markupHandlers = defineHandlers({
  renderMarkdown(call) {
    const { Text = '', Context } = call.body;
    const mode = modeOf(call.body);
    // Without a file path, the markup type is unknown.
    if (mode === 'file') throw new ForgeProblem(422, 'unable to find a render');
    return answerHtml(call, { text: Text, mode, place: Context });
  },

  async renderRawMarkdown(call) {
    const { bytes } = await call.upload();
    return answerHtml(call, { text: Buffer.from(bytes).toString('utf8'), mode: '' });
  },

  renderMarkup(call) {
    const { Text = '', Context, FilePath = '' } = call.body;
    const mode = modeOf(call.body);
    if (mode === 'file' && !/\.(md|markdown|mdown|mkd|livemd)$/i.test(FilePath))
      throw new ForgeProblem(422, 'unable to find a render');
    return answerHtml(call, { text: Text, mode, place: Context, filePath: FilePath });
  },
});
