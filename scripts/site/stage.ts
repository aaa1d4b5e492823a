import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';
import { replaceLinks } from './markdown.ts';

/** Markdown files outside of `docs` that are pages of the site. */
const others: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'contributing.md',
  'CHANGELOG.md': 'changelog.md',
};

/** Returns the page of the site that shows a file or folder of the repository; paths are relative to their roots. */
export function pageOf(source: string, { isFolder }: { isFolder: boolean }): string {
  if (others[source] !== undefined) return others[source];
  if (source === 'docs') return 'index.md';
  if (!source.startsWith('docs/')) return isFolder ? `files/${source}/index.md` : `files/${source}.md`;
  const path = source.slice('docs/'.length);
  if (isFolder) return `${path}/index.md`;
  return path.replace(/(^|\/)README\.md$/, '$1index.md');
}

const codeLanguages: Readonly<Record<string, string>> = {
  '.yml': 'yaml',
  '.yaml': 'yaml',
  '.ts': 'ts',
  '.sh': 'sh',
};

/**
 * Writes the pages of the site below `folder`: the Markdown files of the repository with the links between them
 * adapted, and a page for each other file or folder to which one of them links. The files of the repository stay
 * unchanged.
 */
export function stagePages(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const waiting = [...markdownFiles(root, 'docs'), ...Object.keys(others)];
  const known = new Set(waiting);
  const linkTo = (from: string, source: string): string => {
    const isFolder = statSync(join(root, source)).isDirectory();
    if (!known.has(source) && extname(source) !== '.png') {
      known.add(source);
      waiting.push(source);
    }
    return posix.relative(posix.dirname(from), pageOf(source, { isFolder }));
  };
  for (const source of waiting) {
    const isFolder = statSync(join(root, source)).isDirectory();
    const page = pageOf(source, { isFolder });
    if (isFolder && known.has(`${source}/README.md`)) continue;
    const text = isFolder ? listOf(root, source) : textOf(root, source);
    const base = isFolder ? source : posix.dirname(source);
    const staged = replaceLinks(text, (target) => {
      if (/^(?:[a-z]+:|#)/.test(target)) return target;
      const [path = '', anchor] = target.split('#');
      const to = linkTo(page, posix.normalize(posix.join(base, path)).replace(/\/$/, ''));
      return anchor === undefined ? to : `${to}#${anchor}`;
    });
    mkdirSync(join(folder, dirname(page)), { recursive: true });
    writeFileSync(join(folder, page), staged);
  }
  cpSync(join(root, 'docs/images'), join(folder, 'images'), { recursive: true });
}

/** Returns the Markdown files below a folder. */
export function markdownFiles(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => posix.join(folder, path))
    .toSorted();
}

function textOf(root: string, source: string): string {
  const text = readFileSync(join(root, source), 'utf8');
  if (source.endsWith('.md')) return text;
  return `# ${source}\n\n\`\`\`\`${codeLanguages[extname(source)] ?? 'text'}\n${text.trimEnd()}\n\`\`\`\`\n`;
}

/** Returns a page that lists the files of a folder, each with its first comment. */
function listOf(root: string, source: string): string {
  const lines = readdirSync(join(root, source), { withFileTypes: true })
    .toSorted(
      (one, other) =>
        Number(one.isDirectory()) - Number(other.isDirectory()) || one.name.localeCompare(other.name),
    )
    .map((entry) => {
      const about = entry.isDirectory() ? '' : firstComment(join(root, source, entry.name));
      return `- [${entry.name}](${entry.name})${about === '' ? '' : `: ${about}`}`;
    });
  return `# ${source}\n\n${lines.join('\n')}\n`;
}

/** Returns the first sentence of the comment at the start of a file. */
function firstComment(path: string): string {
  const [, comment = ''] = /^((?:# .*\n)+)/.exec(readFileSync(path, 'utf8')) ?? [];
  const text = comment.replaceAll(/^# /gm, '').replaceAll('\n', ' ');
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? '';
}
