/** Fenced block: its language, its text without the indentation of the fence, and the line of the fence. */
export type Block = { readonly language: string; readonly text: string; readonly line: number };

/** Link or image: its target as written, and its line. */
export type Link = { readonly target: string; readonly line: number };

const fence = /^( *)(`{3,})([\w-]*)[^`\n]*\n([\s\S]*?)^\1\2`* *$/gm;

/** Returns the fenced blocks of a page. */
export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(fence)].map(({ index, 1: indent = '', 3: language = '', 4: text = '' }) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    line: page.slice(0, index).split('\n').length,
  }));
}

/** Replaces fenced blocks and inline code by spaces, so that positions do not change. */
function withoutCode(page: string): string {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
  return page.replaceAll(fence, blank).replaceAll(/(`+)(?!`)[^\n]*?[^`\n]\1(?!`)/g, blank);
}

const link = /(\]\()([^)\s]+)(\))/g;

/** Returns the links and images of a page, ignoring code. */
export function linksOf(page: string): readonly Link[] {
  const text = withoutCode(page);
  return [...text.matchAll(link)].map(({ index, 2: target = '' }) => ({
    target,
    line: text.slice(0, index).split('\n').length,
  }));
}

/** Returns the page with the target of each link replaced. Code stays unchanged. */
export function replaceLinks(page: string, replace: (target: string) => string): string {
  let changed = '';
  let end = 0;
  for (const { index, 0: all, 2: target = '' } of withoutCode(page).matchAll(link)) {
    changed += `${page.slice(end, index)}](${replace(target)})`;
    end = index + all.length;
  }
  return changed + page.slice(end);
}

/** Returns the anchor of a heading, as forges generate it. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns the anchors of a page. A repeated heading gets a number. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of page.replaceAll(fence, '').matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = anchorOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    let anchor = plain;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${plain}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns the text of the first heading of a page. */
export function titleOf(page: string): string {
  return /^# (.+)$/m.exec(page)?.[1] ?? '';
}
