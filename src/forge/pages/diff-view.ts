import { type Html, html } from '../../platform/http/html.ts';

/** Bytes of a change that a page reads, and lines of it that it shows; the address of the diff has the rest. */
export const shownDiffBytes = 512 * 1024;
const shownDiffLines = 4_000;
/** A longer line is cut: minified files are one line. */
const shownColumns = 1_000;

/** Shows a change as git prints it, file by file. `whole` is the address of all of it, if it has one; `isCut`: the text ends before its end. */
export function viewDiff(
  text: string,
  { whole, isCut }: { whole: string | undefined; isCut: boolean },
): Html {
  const files = text.split(/^(?=diff --git )/m).filter((part) => part.startsWith('diff --git '));
  let left = shownDiffLines;
  const shown: Html[] = [];
  for (const file of files) {
    if (left <= 0) break;
    const lines = file.replace(/\n$/, '').split('\n');
    shown.push(viewFileDiff(lines, left));
    left -= lines.length;
  }
  const rest = isCut || left < 0 || shown.length < files.length;
  const link = whole === undefined ? undefined : html` <a href="${whole}">The whole diff</a>`;
  return html`${shown}${rest ? html`<p>More lines are not shown.${link}</p>` : undefined}`;
}

function viewFileDiff(lines: readonly string[], most: number): Html {
  const start = lines.findIndex((line) => line.startsWith('@@'));
  const body = start < 0 ? [] : lines.slice(start);
  const head = start < 0 ? lines : lines.slice(0, start);
  // Before the first hunk: modes, similarity, "Binary files … differ".
  const said = head.slice(1).filter((line) => !/^(index|---|\+\+\+) /.test(line));
  const notes = said.length > 0 ? html`<p class="muted">${said.join(', ')}</p>` : undefined;
  const shown = body.slice(0, Math.max(0, most)).map(viewLine);
  const code = shown.length > 0 ? html`<pre>${shown}</pre>` : undefined;
  return html`<details open><summary>${pathOf(head)}</summary>${notes}${code}</details>`;
}

/** Returns the path after the change, or before it for a file that goes. */
function pathOf(head: readonly string[]): string {
  const read = (sign: string): string | undefined => {
    const line = head.find((one) => one.startsWith(sign));
    return line === undefined || line.endsWith('/dev/null') ? undefined : line.slice(sign.length);
  };
  // Git ends a path with spaces in it by a tab.
  const path = read('+++ b/') ?? read('rename to ') ?? read('--- a/') ?? read('+++ ') ?? read('--- ');
  return path?.replace(/\t$/, '') ?? (head[0] ?? '').slice('diff --git '.length);
}

const classes: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'hunk' };

function viewLine(line: string): Html {
  const text = line.length > shownColumns ? `${line.slice(0, shownColumns)} …` : line;
  const name = classes[line[0] ?? ''];
  // The elements with a colour are blocks: each is a line without a newline.
  return name === undefined ? html`${text}\n` : html`<span class="${name}">${text}</span>`;
}
