import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorOf, blocksOf } from '../../scripts/site/markdown.ts';
import { packageRoot } from '../../src/platform/package.ts';

/** A command of a `console` block, and the lines that the page says it prints. */
type ShownCommand = { readonly command: string; readonly printed: readonly string[] };

/** Returns the commands of the `console` blocks of a page, by the anchor of the heading above them. */
export function shownCommands(page: string): ReadonlyMap<string, readonly ShownCommand[]> {
  const sections = readFileSync(join(packageRoot, page), 'utf8').split(/^#{2,3} /m);
  const found = sections.map((text) => {
    const blocks = blocksOf(text).filter(({ language }) => language === 'console');
    return [
      anchorOf(text.split('\n', 1)[0] ?? ''),
      blocks.flatMap((block) => commandsIn(block.text)),
    ] as const;
  });
  return new Map(found.filter(([, commands]) => commands.length > 0));
}

function commandsIn(text: string): readonly ShownCommand[] {
  const [, ...parts] = text.split(/^\$ /m);
  return parts.map((part) => {
    const [command = '', ...printed] = part.trimEnd().split('\n');
    return { command, printed };
  });
}

/**
 * Returns the first line that the page shows and the command did not print, in this order; undefined where all are there. `…` stands
 * for any text.
 */
export function missingLine(printed: readonly string[], output: string): string | undefined {
  const lines = output.split('\n');
  let from = 0;
  for (const line of printed) {
    const pattern = new RegExp(`^\\s*${line.trim().split('…').map(literal).join('.*')}\\s*$`);
    const place = lines.findIndex((one, index) => index >= from && pattern.test(one));
    if (place === -1) return line;
    from = place + 1;
  }
  return undefined;
}

/** Returns a pattern for exactly this text. */
const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
