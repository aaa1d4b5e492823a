import { isVisible } from '../access/permissions.ts';
import { userNamed } from '../access/redirects.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { defineHandlers, type Reply } from '../http/handler.ts';
import { placeOfText } from './markup-links.ts';
import { renderMarkdown } from './render-markdown.ts';

/** Rendering takes the process for itself: this much text takes a fraction of a second. */
const maxCharacters = 128 * 1024;
/** Names in one text that are looked up. */
const maxMentions = 100;

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
  let lookups = 0;
  const html = await renderMarkdown(text, {
    breaks: mode === 'comment',
    references: !isPlain,
    place: isPlain ? undefined : placeOfText(context.rootUrl(), mode, place, filePath),
    addressOf(name) {
      lookups += 1;
      const user = lookups > maxMentions ? undefined : findVisible(rendering, name);
      return user && `${context.rootUrl()}/${user}`;
    },
  });
  reply.header('content-type', 'text/html; charset=utf-8');
  return Buffer.from(html);
}

/** An account that the caller may not see is not found: a link would tell that it exists. */
function findVisible({ context, caller }: Rendering, name: string): string | undefined {
  const user = userNamed(context.db, name);
  return user && isVisible(context.db, user, caller) ? user.name : undefined;
}

const modes = new Set(['', 'markdown', 'comment', 'gfm', 'wiki', 'file']);

/** Returns the mode of a request, or ends the request with 422 where there is none of this name. */
function modeOf(body: { readonly Mode?: string | undefined; readonly Wiki?: boolean | undefined }): string {
  const mode = body.Wiki ? 'wiki' : (body.Mode ?? '');
  if (!modes.has(mode)) throw new ForgeProblem(422, `unsupported render mode: ${mode}`);
  return mode;
}

/** What answers with text as HTML. */
export const markupHandlers = defineHandlers({
  renderMarkdown(call) {
    const { Text = '', Context } = call.body;
    const mode = modeOf(call.body);
    // There is no path that would say how a file is written.
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
