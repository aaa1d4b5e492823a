// The program of the thread that renders Markdown: `markup.ts` starts it.
import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../platform/errors.ts';
import { type MarkdownOptions, renderMarkdown } from './render-markdown.ts';

/** A text to render. */
export type RenderRequest = { readonly id: number; readonly text: string; readonly options: MarkdownOptions };
/** Its HTML, or why there is none. */
export type RenderAnswer = { readonly id: number; readonly html?: string; readonly error?: string };

parentPort?.on('message', async ({ id, text, options }: RenderRequest) => {
  let answer: RenderAnswer;
  try {
    answer = { id, html: await renderMarkdown(text, options) };
  } catch (error) {
    answer = { id, error: messageOf(error) };
  }
  parentPort?.postMessage(answer);
});
