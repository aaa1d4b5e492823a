import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { int, text } from '../contract/shape.ts';
import { refOfBranch } from './contents.ts';
import { defineFact } from './fact.ts';
import { gitBlobId } from './git-blob-id.ts';
import { absentAsUndefined, repositoryParams } from './where.ts';

const example = 'file_at("release:VERSION") != null && file_at("release:VERSION").size > 0';

/** A file of a branch or commit, without its content. */
export const fileAt = defineFact({
  name: 'file_at',
  meaning:
    'A file of a branch or commit of the repository (`branch:path`), without its content: `sha` is the id of its content in git; null if it does not exist. In a facts file, the text is enough.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z
    .object({
      path: text,
      /** file, dir, symlink, submodule. */
      type: text,
      /** Empty for a directory. */
      sha: text,
      /** Bytes. */
      size: int,
    })
    .nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'branch:path',
  examineArgument: (argument) => (/^[^:]+:[^/]/.test(argument) ? undefined : 'name the file as branch:path'),
  requests: 1,
  example,
  complete: (written) => {
    if (typeof written !== 'string') return written;
    const bytes = Buffer.from(written);
    return { path: '', type: 'file', sha: gitBlobId(bytes), size: bytes.length };
  },
  async ask(context, argument = '') {
    const { ref: name, path } = splitAddress(argument);
    // No branch is asked for by an id: that is a commit, whatever branches are called.
    const query = isCommitId(name) ? { ref: name } : await refOfBranch(context, name);
    const params = { ...repositoryParams(context.subject), filepath: path };
    const entry = await absentAsUndefined(context.client.call(operations.getContents, { params, query }));
    if (entry === undefined) return null;
    if (Array.isArray(entry)) return { path, type: 'dir', sha: '', size: 0 };
    return { path, type: entry.type, sha: entry.sha ?? '', size: entry.size ?? 0 };
  },
});

/** A name of a branch has no colon. */
function splitAddress(argument: string): { ref: string; path: string } {
  const colon = argument.indexOf(':');
  return { ref: argument.slice(0, colon), path: argument.slice(colon + 1) };
}

/** Returns whether a name is the full id of a commit. */
export function isCommitId(name: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(name);
}
