import { posix } from 'node:path';

/** Where a text stands: links in it are relative to this place. */
export type TextPlace = {
  /** Address of the repository. */
  readonly repository: string;
  /** Part of the address below which files are, and images: `src/branch/main` and `media/branch/main`; empty for a comment. */
  readonly files: string;
  readonly images: string;
  /** Folder of the text, without slashes at its ends. */
  readonly folder: string;
};

/** Returns the repository that a context names (`OWNER/REPO`, or a path of one of its files), and what the mode makes of it. */
export function placeOfText(
  rootUrl: string,
  mode: string,
  context: string,
  filePath: string,
): TextPlace | undefined {
  const [owner, name, ...rest] = context.replace(/^\/+|\/+$/g, '').split('/');
  if (!owner || !name || ![owner, name].every((part) => /^[\w.-]+$/.test(part))) return undefined;
  const repository = `${rootUrl}/${owner}/${name}`;
  if (mode === 'comment') return { repository, files: '', images: '', folder: '' };
  if (mode === 'wiki') return { repository, files: 'wiki', images: 'wiki/raw', folder: '' };
  const isFile = rest[0] === 'src' && /^(branch|commit|tag)$/.test(rest[1] ?? '');
  const folder = filePath.includes('/') ? posix.dirname(filePath).replace(/^[./]+/, '') : '';
  const at = isFile ? rest.slice(1).join('/') : '';
  const ref = folder !== '' && at.endsWith(`/${folder}`) ? at.slice(0, -folder.length - 1) : at;
  const suffix = ref === '' ? '' : `/${ref}`;
  return { repository, files: `src${suffix}`, images: `media${suffix}`, folder };
}

/** Returns the address of a link or image; what has a scheme or a host of its own stays as it is. */
export function resolveLink(link: string, place: TextPlace | undefined, isImage: boolean): string {
  if (link.startsWith('#')) return `#user-content-${link.slice(1)}`;
  if (place === undefined || link === '' || /^([a-z][a-z0-9+.-]*:|\/\/|\\)/i.test(link)) return link;
  const root = isImage ? place.images : place.files;
  const folder = link.startsWith('/') ? '' : place.folder;
  // `..` never leads out of the repository.
  const path = posix.join('/', folder, link);
  return `${place.repository}${root === '' ? '' : `/${root}`}${path}`;
}
