import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');

/** The rows of the walks: a file, and a function in it. */
const stops = [...page.matchAll(/^\| \d+ \| `(src\/[^`]+)` \| `(\w+)` \|/gm)].map(
  ([, file = '', name = '']) => [file, name] as const,
);

describe('docs/architecture.md', () => {
  it('has five walks', () => {
    expect(page.match(/^\| 1 \|/gm)).toHaveLength(5);
    expect(stops.length).toBeGreaterThan(80);
  });

  it('names files and functions that exist', () => {
    const missing = stops.filter(([file, name]) => !declares(file, name)).map((stop) => stop.join(' '));

    expect(missing).toEqual([]);
  });

  it('names paths that exist', () => {
    const paths = [...page.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);

    expect(paths.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([]);
  });
});

/** Returns whether a file declares a function, a class, a method or a table of this name. */
function declares(file: string, name: string): boolean {
  const url = new URL(`../${file}`, import.meta.url);
  if (!existsSync(url)) return false;
  return new RegExp(`(function\\*? |class |const |^\\s+(?:async )?)${name}\\b\\s*[<(:={]`, 'm').test(
    readFileSync(url, 'utf8'),
  );
}
