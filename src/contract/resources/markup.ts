import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs } from '../row-fields.ts';
import { flag, text } from '../shape.ts';

const shared = {
  method: 'POST',
  ...callerAs('signed-in'),
  scopes: [],
  success: 200,
  response: text,
  media: 'file',
} as const;

/**
 * Text to render. `Mode` is `markdown` (default), `comment`, `gfm` or `wiki`; `Context` is `OWNER/REPO`, for links and
 * references.
 */
const MarkdownText = {
  Text: text.optional(),
  Mode: text.optional(),
  Context: text.optional(),
  /** Deprecated; use the mode `wiki`. */
  Wiki: flag.optional(),
};

/**
 * Operations that render text as HTML without scripts. The response has the type `text/html`; the HTML differs between
 * forges.
 */
export const markupOperations = {
  renderMarkdown: defineOperation({
    id: 'markup.markdown',
    meaning: 'Returns Markdown as HTML without scripts.',
    path: '/markdown',
    ...shared,
    body: z.strictObject(MarkdownText),
    errors: [422],
    source: 'routers/api/v1/misc/markup.go Markdown; routers/common/markup.go RenderMarkup',
  }),
  renderRawMarkdown: defineOperation({
    id: 'markup.raw-markdown',
    meaning:
      'Returns Markdown as HTML without scripts; the whole body is the text, whatever its content type.',
    path: '/markdown/raw',
    ...shared,
    upload: 'text',
    takesWholeBody: true,
    errors: [422],
    source: 'routers/api/v1/misc/markup.go MarkdownRaw',
  }),
  renderMarkup: defineOperation({
    id: 'markup.markup',
    meaning:
      'Like `/markdown`, with a further mode: in `file`, the extension of `FilePath` says how the text is written.',
    path: '/markup',
    ...shared,
    body: z.strictObject({ ...MarkdownText, FilePath: text.optional() }),
    errors: [422],
    source: 'routers/api/v1/misc/markup.go Markup; routers/common/markup.go RenderMarkup',
  }),
} as const;
