import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { anchorsOf, linksOf } from './markdown.ts';
import { markdownFiles } from './stage.ts';

/** Pages outside of `docs`. */
const others = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];

/**
 * Returns the broken links of all pages, one per line as `FILE:LINE: problem`, and the pages that are missing or
 * duplicated in the table of contents (`docs/README.md`, and `docs/reference/README.md` below it).
 */
export function findLinkProblems(root: string): readonly string[] {
  const pages = [...others, ...markdownFiles(root, 'docs')];
  const texts = new Map(pages.map((page) => [page, readFileSync(join(root, page), 'utf8')]));
  const anchors = new Map([...texts].map(([page, text]) => [page, anchorsOf(text)]));
  const problemOf = (page: string, target: string): string | undefined => {
    const [path = '', anchor] = target.split('#');
    const found =
      path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path)).replace(/\/$/, '');
    if (found.startsWith('../') || !existsSync(join(root, found))) return `there is no ${found}`;
    if (anchor === undefined) return undefined;
    const known = anchors.get(found);
    if (known === undefined)
      return statSync(join(root, found)).isDirectory() ? 'a folder has no anchors' : undefined;
    return known.has(anchor) ? undefined : `${found} has no heading #${anchor}`;
  };
  const dead = [...texts].flatMap(([page, text]) =>
    linksOf(text).flatMap(({ target, line }) => {
      if (/^[a-z]+:/.test(target)) return [];
      const problem = problemOf(page, target);
      return problem === undefined ? [] : [`${page}:${line}: ${target}: ${problem}`];
    }),
  );
  return [...dead, ...findContentsProblems(root, pages)];
}

function findContentsProblems(root: string, pages: readonly string[]): readonly string[] {
  const listed = [...readContents(root), ...readReference(root)].flatMap(({ entries }) =>
    entries.map(({ path }) => path),
  );
  const start = ['README.md', 'docs/README.md'];
  const missing = pages.filter((page) => !start.includes(page) && !listed.includes(page));
  const repeated = listed.filter((path, place) => listed.indexOf(path) !== place);
  return [
    ...missing.map((page) => `docs/README.md: ${page} is not in the table of contents`),
    ...repeated.map((path) => `docs/README.md: ${path} is in the table of contents twice`),
  ];
}

/** Entry of the table of contents: a page, with its path relative to the root of the repository. */
type Entry = { readonly title: string; readonly path: string };
type Section = { readonly title: string; readonly entries: readonly Entry[] };

/** Reads the links at the beginning of list items and table rows, section by section; sections without one are left out. */
function readSections(root: string, page: string): readonly Section[] {
  const [, ...sections] = readFileSync(join(root, page), 'utf8').split(/^## /m);
  const read = sections.map((text) => {
    const title = text.split('\n', 1)[0] ?? '';
    const links = text.matchAll(/^(?:- |\| )\[([^\]]+)\]\(([^)]+\.md)\)/gm);
    const entries = [...links].map(([, name = '', target = '']) => ({
      title: name,
      path: posix.join(posix.dirname(page), target),
    }));
    return { title, entries };
  });
  return read.filter(({ entries }) => entries.length > 0);
}

/** Returns the table of contents, `docs/README.md`, which defines the order of all pages and of the site's sidebar. */
export function readContents(root: string): readonly Section[] {
  return readSections(root, 'docs/README.md');
}

/** Returns the groups of generated pages of the reference. */
export function readReference(root: string): readonly Section[] {
  return readSections(root, 'docs/reference/README.md');
}
