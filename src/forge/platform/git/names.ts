import { isDotGit } from '../../../patterns/dot-git.ts';

/** Maximum bytes of one segment of a ref or path that every file system accepts as a file name. */
const maxSegmentBytes = 255;
const maxNameBytes = 1_000;

/**
 * Returns whether a text is a branch or tag name that git accepts (`git check-ref-format --branch`) and that is short
 * enough for a file name. Rejects a leading dash, `..`, control characters and NUL.
 */
export function isRefName(name: string): boolean {
  if (name === '' || name === '@' || name === 'HEAD' || Buffer.byteLength(name) > maxNameBytes) return false;
  // Encoding an unpaired surrogate would give git a different name.
  if (!name.isWellFormed() || /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/.test(name)) return false;
  if (name.startsWith('-') || name.endsWith('.')) return false;
  return name.split('/').every(isRefSegment);
}

function isRefSegment(segment: string): boolean {
  if (segment === '' || segment.startsWith('.') || segment.endsWith('.lock')) return false;
  return Buffer.byteLength(segment) <= maxSegmentBytes;
}

/** Returns whether a text is a full object id, sha1 or sha256. */
export function isObjectId(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Returns whether a text could be an abbreviated or full object id. */
export function isIdPrefix(text: string): boolean {
  return /^[0-9a-f]{4,64}$/i.test(text);
}

/** Returns whether an object id is the null id (used for a ref that is created or deleted). */
export function isZeroId(id: string): boolean {
  return /^0+$/.test(id);
}

/** Returns the null id in the object format of another id. */
export function zeroIdLike(id: string): string {
  return '0'.repeat(id.length);
}

/**
 * Returns a path inside a tree in normalized form: no leading, trailing or repeated slashes, no `.` or `..`. Undefined
 * if the path would leave the tree, or has a `.git` segment, a NUL, or a segment that cannot be a file name; git would
 * refuse such a path later.
 */
export function cleanTreePath(path: string): string | undefined {
  if (!path.isWellFormed() || path.includes('\0') || Buffer.byteLength(path) > 4_000) return undefined;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..' || segment.toLowerCase() === '.git') return undefined;
    if (Buffer.byteLength(segment) > maxSegmentBytes) return undefined;
    segments.push(segment);
  }
  return segments.join('/');
}

/**
 * Returns a path like `cleanTreePath`, but also undefined if the file system of a clone would treat a segment as
 * `.git`.
 */
export function cleanWritePath(path: string): string | undefined {
  const clean = cleanTreePath(path);
  return clean?.split('/').some(isDotGit) ? undefined : clean;
}
