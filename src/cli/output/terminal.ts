import { styleText } from 'node:util';

export { count } from '../../platform/count.ts';

/** Output of a command: results to `out`, everything else to `error`. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
  /** Width in characters; undefined if the output is no terminal, whose lines are not cut. */
  readonly columns?: number | undefined;
  /** Returns the text in the style if colours are supported. */
  style(style: 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', text: string): string;
}

// The reader may close the pipe (`reeve drift | head`). Further output is then dropped, and the command ends with its
// own status.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** The terminal of this process. Colours depend on the stream, NO_COLOR and FORCE_COLOR. */
export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  error: (text) => void process.stderr.write(`${text}\n`),
  get columns() {
    return process.stdout.isTTY ? process.stdout.columns : undefined;
  },
  style: (style, text) => styleText(style, text, { stream: process.stdout }),
};

/**
 * Returns an untrusted text (a title, a message of the forge) with control characters replaced by a mark, so that it
 * cannot move the cursor, fake a line or give a command to a CI runner.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\u00b7');
}

/** Returns rows as a table with headings, each column as wide as needed. Lines beyond `columns` characters are cut. */
export function tableOf(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  columns?: number,
): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const cut = (text: string): string =>
    columns === undefined || text.length <= columns ? text : `${[...text].slice(0, columns - 1).join('')}…`;
  return [line(heads), ...rows.map(line)].map(cut).join('\n');
}

/** Returns the age of an instant, in its largest unit. */
export function ageOf(instant: string, now: Date): string {
  const minutes = Math.floor((now.getTime() - Date.parse(instant)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} days`;
}
