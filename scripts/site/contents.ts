import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** An entry of the table of contents: a page, as a path from the root of the repository. */
export type Entry = { readonly title: string; readonly path: string };
export type Section = { readonly title: string; readonly entries: readonly Entry[] };

/** Reads the list items of each section of a page that has one link in each item, or links in a line. */
function readSections(root: string, page: string): readonly Section[] {
  const [, ...sections] = readFileSync(join(root, page), 'utf8').split(/^## /m);
  return sections.map((text) => {
    const title = text.split('\n', 1)[0] ?? '';
    const links = text.matchAll(/(?:^- |^| · )\[([^\]]+)\]\(([^)]+\.md)\)/gm);
    const entries = [...links].map(([, name = '', target = '']) => ({
      title: name,
      path: posix.join(posix.dirname(page), target),
    }));
    return { title, entries };
  });
}

/** Returns the table of contents, `docs/README.md`: the order of all pages. The sidebar of the site follows it. */
export function readContents(root: string): readonly Section[] {
  return readSections(root, 'docs/README.md');
}

/** Returns the groups of generated pages of the reference. */
export function readReference(root: string): readonly Section[] {
  return readSections(root, 'docs/reference/README.md');
}
