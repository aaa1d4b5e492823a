import { type Html, html } from '../../platform/http/html.ts';

/** Tokens of a condition, in order: text, number, word of the language, call, name, operator. */
const expressionToken =
  /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(\d+(?:\.\d+)?)\b|\b(true|false|null|in|has)\b|([A-Za-z_]\w*)(?=\s*\()|([A-Za-z_]\w*)|([-+*/%!=<>&|?:]+)/g;

/** Classes of these tokens. */
const expressionClasses = ['string', 'number', 'word', 'call', 'name', 'mark'] as const;

/** Keys whose values are conditions. */
const conditionKeys: ReadonlySet<string> = new Set(['if']);

/** Maximum length of a line with colours; a longer one is shown without. */
const maxColouredChars = 2_000;

/** Returns a rule file with line numbers and colours. The line of the rule is marked. The text is unchanged. */
export function viewSource(text: string, line: number): Html {
  /** Indentation of the key whose block text is a condition. */
  let block: { readonly indent: number; readonly isCondition: boolean } | undefined;
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const shown = lines.map((one, at) => {
    const indent = /^ */.exec(one)?.[0].length ?? 0;
    if (block !== undefined && one.trim() !== '' && indent <= block.indent) block = undefined;
    const body =
      block === undefined ? viewLine(one) : block.isCondition ? viewExpression(one) : viewTemplates(one);
    const opened = /^( *(?:- +)*)(["']?)([\w.-]+)\2:\s*[|>][-+0-9]*\s*(?:#.*)?$/.exec(one);
    if (block === undefined && opened !== null)
      block = { indent, isCondition: conditionKeys.has(opened[3] ?? '') };
    const here = at + 1 === line ? ' here' : '';
    return html`<span class="line${here}"><span class="n" data-n="${at + 1}"></span>${body}</span>`;
  });
  return html`<pre class="source" tabindex="0" role="region" aria-label="Source of the rule file"><code>${shown}</code></pre>`;
}

function viewLine(line: string): Html {
  if (line.length > maxColouredChars) return html`${line}`;
  const comment = commentOf(line);
  const code = line.slice(0, line.length - comment.length);
  const key =
    /^(\s*(?:- +)*)((?:"[^"]*"|'[^']*'|[^\s#"'{[&*!|>%@`-][^:#]*?|-[^\s:][^:]*?))(\s*:)(?=\s|$)/.exec(code);
  const shownComment = comment === '' ? undefined : span('comment', comment);
  if (key === null) return html`${viewValue(code, false)}${shownComment}`;
  const [whole, before = '', name = '', colon = ''] = key;
  const isCondition = conditionKeys.has(name);
  return html`${before}${span('key', name)}${span('mark', colon)}${viewValue(code.slice(whole.length), isCondition)}${shownComment}`;
}

/** Returns the comment at the end of a line of YAML: from a `#` after a space that is outside of quotes. */
function commentOf(line: string): string {
  let quote = '';
  for (const [at, sign] of [...line].entries()) {
    const before = line[at - 1] ?? ' ';
    if (quote !== '') quote = sign === quote && (quote !== '"' || before !== '\\') ? '' : quote;
    else if ((sign === '"' || sign === "'") && /[\s{[,:]/.test(before)) quote = sign;
    else if (sign === '#' && /\s/.test(before)) return line.slice(at);
  }
  return '';
}

function viewValue(text: string, isCondition: boolean): Html {
  if (isCondition) return viewExpression(text);
  if (/^\s*(?:true|false|null|~)\s*$/.test(text)) return span('word', text);
  if (/^\s*-?\d+(?:\.\d+)?\s*$/.test(text)) return span('number', text);
  if (/^\s*(?:"|')/.test(text)) return span('string', text);
  return viewTemplates(text);
}

/** Colours the conditions in `${{ … }}` and `{{ … }}`. */
function viewTemplates(text: string): Html {
  const parts = text.slice(0, maxColouredChars).split(/(\{\{.*?\}\})/);
  return html`${parts.map((part, at) => (at % 2 === 1 ? viewExpression(part) : part))}${text.slice(maxColouredChars)}`;
}

/** Returns a condition with colours. */
export function viewExpression(text: string): Html {
  if (text.length > maxColouredChars) return html`${text}`;
  const pieces: (Html | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(expressionToken)) {
    const [token, ...groups] = match;
    const kind = expressionClasses[groups.findIndex((group) => group !== undefined)] ?? 'mark';
    pieces.push(text.slice(end, match.index), span(kind, token));
    end = match.index + token.length;
  }
  return html`${pieces}${text.slice(end)}`;
}

function span(kind: string, text: string): Html {
  return html`<span class="hl-${kind}">${text}</span>`;
}
