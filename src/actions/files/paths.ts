import { isDotGit } from '../../patterns/dot-git.ts';

const maxPathBytes = 1_000;
const maxSegmentBytes = 255;

/**
 * Returns what is wrong with the path of a file to commit, or undefined. Names that a file system takes for `.git` are
 * refused: in a clone, such a file would configure the git of its reader.
 */
export function pathProblem(path: string): string | undefined {
  if (Buffer.byteLength(path) > maxPathBytes) return `a path has at most ${maxPathBytes} bytes`;
  if (!path.isWellFormed() || /[\p{Cc}\\]/u.test(path))
    return 'a path has no backslashes or control characters';
  const segments = path.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'write the path of a file from the top of the repository, without a leading /, // or ..';
  }
  if (segments.some((segment) => Buffer.byteLength(segment) > maxSegmentBytes))
    return `a name has at most ${maxSegmentBytes} bytes`;
  return segments.some(isDotGit) ? 'files of git itself are never written' : undefined;
}

/** Returns the paths that are given twice, or that are a directory of another one. */
export function clashingPaths(paths: readonly string[]): readonly number[] {
  return paths.flatMap((path, place) => {
    const clashes = paths.some((other, at) => (at < place && other === path) || other.startsWith(`${path}/`));
    return clashes ? [place] : [];
  });
}
