import { createGlob } from '../../patterns/glob.ts';
import { GlobError } from '../../patterns/glob-error.ts';

/** What an `.editorconfig` sets for a file, of the properties that the API shows. */
export type EditorProperties = {
  readonly charset?: string;
  readonly indent_style?: string;
  readonly indent_size?: string;
  readonly end_of_line?: string;
};

const shown = new Set(['charset', 'indent_style', 'indent_size', 'end_of_line']);

/** Returns what the text of an `.editorconfig` sets for a file name: of sections that match, the last one counts. */
export function editorPropertiesOf(text: string, fileName: string): EditorProperties {
  const properties: Record<string, string> = {};
  let isMatch = false;
  for (const line of text.split(/\r?\n/).map((one) => one.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    if (line.startsWith('[')) {
      const section = /^\[(.*)\]$/.exec(line)?.[1];
      isMatch = section !== undefined && matchesSection(section, fileName);
      continue;
    }
    const [, name = '', value = ''] = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    const key = name.toLowerCase();
    if (!isMatch || !shown.has(key) || value === '') continue;
    properties[key] = key === 'indent_size' ? value : value.toLowerCase();
  }
  return properties;
}

/** A pattern without a slash means files of that name in any folder. A broken pattern matches nothing. */
function matchesSection(pattern: string, fileName: string): boolean {
  const anywhere = pattern.includes('/') ? pattern.replace(/^\//, '') : `**/${pattern}`;
  try {
    return expandRanges(anywhere).some((one) =>
      createGlob(one, { strict: false })(fileName.replace(/^\/+/, '')),
    );
  } catch (error) {
    if (error instanceof GlobError) return false;
    throw error;
  }
}

/** Numbers that one range stands for at most. */
const maxRange = 1000;

/** Writes `{1..3}` as its numbers, and braces around a single name as they stand, both of which globs do not know. */
function expandRanges(pattern: string): string[] {
  const [range, from, to] = /\{([+-]?\d+)\.\.([+-]?\d+)\}/.exec(pattern) ?? [];
  if (range === undefined) return [pattern.replace(/\{([^{},]*)\}/g, '\\{$1\\}')];
  const [low, high] = [Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to))];
  if (high - low >= maxRange) return [];
  const numbers = Array.from({ length: high - low + 1 }, (_, at) => String(low + at));
  return [pattern.replace(range, numbers.length === 1 ? (numbers[0] ?? '') : `{${numbers.join(',')}}`)];
}
