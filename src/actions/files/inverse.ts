import type { AnyInput } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { branchRef } from '../../facts/contents.ts';
import { absentAsUndefined } from '../../facts/where.ts';
import { ReeveError } from '../../platform/errors.ts';
import { pathParams } from '../inverses/forms.ts';
import type { Inverse } from '../inverses/inverse.ts';

/** One file of a commit, as the request has it. */
export type FileOfCommit = {
  readonly operation: 'create' | 'update' | 'delete';
  readonly path: string;
  /** Base64; absent for a deletion, and in the record of a run. */
  readonly content?: string;
  /** Id of the content that is replaced: the forge refuses the commit if the file has another one. */
  readonly sha?: string;
};

/** Body of the request that commits files. */
export type CommitBody = {
  readonly branch: string;
  readonly message: string;
  readonly files: readonly FileOfCommit[];
};

/** A file as plans and records show it: the id of its content in git. */
export type FileState = { readonly sha: string; readonly size: number };

/** Returns the common request of several: their files in one commit. */
export function joinCommits(inputs: readonly AnyInput[]): AnyInput {
  const [first] = inputs;
  const bodies = inputs.map(({ body }) => body as CommitBody);
  const files = bodies.flatMap((body) => body.files);
  const [{ branch = '', message = '' } = {}] = bodies;
  return { ...first, body: { branch, message, files } };
}

/** Returns a request as runs record it: without contents, which are as large as the files. */
export function withoutContents(input: AnyInput): AnyInput {
  const { files, ...body } = input.body as CommitBody;
  return { ...input, body: { ...body, files: files.map(({ content: _content, ...file }) => file) } };
}

export function fileTarget(branch: string, path: string): string {
  return `file:${branch}:${path}`;
}

/**
 * Restores a file as it was before the commit, unless it has changed since: all files of one commit in one inverse commit. Its
 * former content is read by its id in git, whatever has happened to the branch.
 */
export const undoCommitFile: Inverse = async (change, client) => {
  const params = pathParams(change) as { readonly owner: string; readonly repo: string };
  const { branch, files } = change.input.body as CommitBody;
  const path = change.target.slice(fileTarget(branch, '').length);
  const former = files.find((file) => file.path === path)?.sha;
  const entry = await absentAsUndefined(
    client.call(operations.getContents, {
      params: { ...params, filepath: path },
      query: { ref: await branchRef(client, branch) },
    }),
  );
  if (Array.isArray(entry)) return { value: 'a directory', undo: () => 'there is a directory now' };
  const live: FileState | null = entry?.sha ? { sha: entry.sha, size: entry.size ?? 0 } : null;
  if (JSON.stringify(live) !== JSON.stringify(change.after)) {
    return { value: live, undo: () => 'it has changed since' };
  }
  const content = former === undefined ? undefined : await readContent(client, { ...params, sha: former });
  const file: FileOfCommit = {
    operation: former === undefined ? 'delete' : live === null ? 'create' : 'update',
    path,
    ...(content === undefined ? {} : { content }),
    ...(live === null ? {} : { sha: live.sha }),
  };
  const message = `Restore ${files.length === 1 ? path : 'files'} as before`;
  return {
    value: change.after,
    undo: () => ({
      operation: operations.changeFiles,
      input: { params, body: { branch, message, files: [file] } },
      join: joinCommits,
    }),
  };
};

async function readContent(
  client: Parameters<Inverse>[1],
  params: { readonly owner: string; readonly repo: string; readonly sha: string },
): Promise<string> {
  const { encoding, content } = await client.call(operations.getBlob, { params });
  if (encoding === 'base64' && typeof content === 'string') return content;
  throw new ReeveError('forge-unexpected', 'the forge does not return its former content');
}
