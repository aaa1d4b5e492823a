import { toVerification } from '../accounts/gpg-keys-rows.ts';
import { findPull } from '../platform/access/targets.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { instantOf } from '../platform/git/commit.ts';
import { type CommitFilter, countFiltered, listFiltered } from '../platform/git/commit-log.ts';
import { lastCommits } from '../platform/git/history.ts';
import { cleanTreePath, isIdPrefix, isRefName } from '../platform/git/names.ts';
import {
  findRevision,
  isRevision,
  listAllRefs,
  readCommit,
  readTag,
  type TypedRef,
} from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { readTagObject } from '../platform/git/tags.ts';
import { findEntry, readBlob, readTree, readTreeDeep, type TreeEntry } from '../platform/git/tree.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { toPull } from '../pulls/pulls-rows.ts';
import { escapePath } from './commits-rows.ts';
import { addressOf, type ReadTarget, toDetailed } from './git-reads-service.ts';

/** Handlers for refs, tags, trees, notes and commit lists, read from git. */
export const gitReadHandlers = defineHandlers({
  listRefs: async (call) => await listRefsUnder(call, ''),
  findRefs: async (call) => await listRefsUnder(call, call.params.ref),

  async getTagObject({ params, ...call }) {
    const git = call.context.git.open(call.repository.id);
    const tag = await readTagObject(git, params.sha);
    if (tag === undefined) {
      throw new ForgeProblem(400, `object does not exist [id: ${params.sha}, rel_path: ]`);
    }
    // The commit is looked up by the name of the tag, which may have moved.
    const commit = await readTag(git, tag.name);
    if (commit === undefined)
      throw new ForgeProblem(400, `object does not exist [id: ${tag.name}, rel_path: ]`);
    const { api } = addressOf(call);
    return {
      tag: tag.name,
      sha: tag.id,
      url: `${api}/git/tags/${tag.id}`,
      message: tag.message,
      tagger: { name: tag.tagger.name, email: tag.tagger.email, date: instantOf(tag.tagger) },
      object: { type: 'commit', url: `${api}/git/commits/${commit.id}`, sha: commit.id },
      verification: toVerification(call.context.db, commit),
    };
  },

  async getTree({ params, query, reply, ...call }) {
    const git = call.context.git.open(call.repository.id);
    const tree = isRevision(params.sha) ? await git.objects.info(await treeName(git, params.sha)) : undefined;
    if (tree?.type !== 'tree') throw new ForgeProblem(400, `sha not found [${params.sha}]`);
    const all = query.recursive ? await readTreeDeep(git, tree.id) : await readTree(git, tree.id);
    if (all === undefined) throw new ForgeProblem(400, 'the tree has too many entries');
    const wanted = query.per_page ?? 0;
    const size = wanted > 0 && wanted <= treesPerPage ? wanted : treesPerPage;
    const page = Math.max(1, query.page ?? 1);
    const from = size * (page - 1);
    const { api } = addressOf(call);
    const shown = all.slice(from, from + size);
    reply.total(all.length);
    return {
      sha: tree.id,
      url: `${api}/git/trees/${tree.id}`,
      tree: shown.length === 0 ? null : await Promise.all(shown.map((entry) => toTreeEntry(git, api, entry))),
      truncated: shown.length > 0 && from + size < all.length,
      page,
      total_count: all.length,
    };
  },

  async getNote({ params, query, ...call }) {
    const { sha } = params;
    if (!isRefName(sha) && !isIdPrefix(sha)) throw new ForgeProblem(422, `no valid ref or sha: ${sha}`);
    const git = call.context.git.open(call.repository.id);
    const commit = await findRevision(git, sha);
    const id = found(commit?.id, `object does not exist [id: ${sha}, rel_path: ]`);
    const { message, path, notes } = found(await findNote(git, id), `commit doesn't exist: ${sha}`);
    const [directory, name] = splitPath(path);
    const writer = (await lastCommits(git, notes, directory, [name])).get(name);
    const [shape] = await toDetailed(call, writer ? [writer] : [], query);
    return { message, commit: shape ?? null };
  },

  async listCommits({ query, page, reply, ...call }) {
    const { since, until } = {
      since: secondsOfQuery(query.since, 'since'),
      until: secondsOfQuery(query.until, 'until'),
    };
    if (call.repository.is_empty) throw new ForgeProblem(409, 'Git Repository is empty.');
    const git = call.context.git.open(call.repository.id);
    const path = query.path ? readPath(query.path) : undefined;
    const filter = { ...(await openFilter(call, git, query)), since, until, path };
    const count = await countFiltered(git, filter);
    if (path !== undefined && count === 0) await assertPathHasHistory(git, filter);
    // The history of a path has a fixed page size, whatever size is requested; the headers reflect the requested size.
    const size = path === undefined ? page.limit : commitsPerPath;
    const ids = await listFiltered(git, filter, { skip: (page.page - 1) * size, limit: size });
    const commits = await Promise.all(ids.map((id) => readCommit(git, id)));
    reply.total(count);
    const pages = Math.ceil(count / page.limit);
    reply.expose('X-Page', String(page.page));
    reply.expose('X-PerPage', String(page.limit));
    reply.expose('X-Total', String(count));
    reply.expose('X-PageCount', String(pages));
    reply.expose('X-HasMore', String(page.page < pages));
    return await toDetailed(
      call,
      commits.filter((commit) => commit !== undefined),
      query,
    );
  },

  getCommitPull({ params, ...call }) {
    const { context, repository, caller } = call;
    const row = context.db.get<{ number: number }>(
      'SELECT number FROM pulls WHERE repo_id = ? AND merged_commit_sha = ? AND is_merged = 1 ORDER BY id LIMIT 1',
      repository.id,
      params.sha,
    );
    const { number } = found(row, `pull request does not exist [merged commit: ${params.sha}]`);
    const { issue } = findPull(context, call, number);
    return toPull(context, issue, { ...call, viewer: caller });
  },
});

/** Maximum tree entries per page. */
const treesPerPage = 1000;
/** Commits per page in the history of a path. */
const commitsPerPath = 50;

async function listRefsUnder(call: ReadTarget, name: string) {
  const refs = await listAllRefs(call.context.git.open(call.repository.id), `refs/${name}`);
  const { api } = addressOf(call);
  if (refs.length === 0) throw new ForgeProblem(404, 'not found');
  return refs.map((ref: TypedRef) => ({
    ref: ref.name,
    url: `${api}/git/${escapePath(ref.name)}`,
    object: { type: ref.type, sha: ref.id, url: `${api}/git/${ref.type}s/${ref.id}` },
  }));
}

/**
 * Returns a revision that git resolves to a tree; a commit takes precedence over a branch or a tag of the same name.
 */
async function treeName(git: GitRepository, word: string): Promise<string> {
  if (word.includes(':')) return word;
  const commit = await findRevision(git, word);
  return commit?.tree ?? `${word}^{tree}`;
}

async function toTreeEntry(git: GitRepository, api: string, entry: TreeEntry & { readonly path?: string }) {
  const type = entry.kind === 'dir' ? 'tree' : entry.kind === 'submodule' ? 'commit' : 'blob';
  const size = type === 'blob' ? ((await git.objects.info(entry.id))?.size ?? 0) : 0;
  return {
    path: entry.path ?? entry.name,
    mode: entry.mode.padStart(6, '0'),
    type,
    size,
    sha: entry.id,
    url: type === 'commit' ? '' : `${api}/git/${type}s/${entry.id}`,
  };
}

const notesRef = 'refs/notes/commits';

/**
 * Returns the note of a commit. Notes are stored under the commit id, split into two-digit folders if there are many.
 */
async function findNote(git: GitRepository, commitId: string) {
  const notes = await readCommit(git, notesRef);
  if (notes === undefined) return undefined;
  for (let depth = 0; depth <= 3; depth += 1) {
    const folders = commitId.slice(0, depth * 2).match(/../g) ?? [];
    const path = [...folders, commitId.slice(depth * 2)].join('/');
    const entry = await findEntry(git, notes.id, path);
    if (entry?.kind !== 'file') continue;
    const content = (await readBlob(git, entry.id))?.content;
    return { message: content?.toString('utf8') ?? '', path, notes: notes.id };
  }
  return undefined;
}

function splitPath(path: string): [string, string] {
  const at = path.lastIndexOf('/');
  return at < 0 ? ['', path] : [path.slice(0, at), path.slice(at + 1)];
}

/** Parses a time in Go's RFC 3339 format, which requires seconds and a zone. */
function secondsOfQuery(text: string | undefined, name: string): number | undefined {
  if (!text) return undefined;
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const at = isInstant ? Date.parse(text.replace(',', '.')) : Number.NaN;
  if (Number.isNaN(at)) {
    throw new ForgeProblem(422, `invalid '${name}' format, expected ISO 8601 (RFC3339)`);
  }
  return Math.floor(at / 1000);
}

/** Rejects a path that leads out of the tree; Gitea and Forgejo respond with 500. */
function readPath(text: string): string {
  const path = text.startsWith('/') ? undefined : cleanTreePath(text);
  if (!path) throw new ForgeProblem(422, `the path is outside the repository [path: ${text}]`);
  return path;
}

async function openFilter(
  { repository }: ReadTarget,
  git: GitRepository,
  { sha, not }: { readonly sha?: string | undefined; readonly not?: string | undefined },
): Promise<CommitFilter> {
  const idOf = async (word: string): Promise<string> => {
    const commit = await findRevision(git, word);
    return found(commit?.id, `object does not exist [id: ${word}, rel_path: ]`);
  };
  const to = await idOf(sha || repository.default_branch);
  return { to, ...(not ? { not: await idOf(not) } : {}) };
}

/**
 * Ends the request with 404 if the path has no commit at all. A path without commits in the requested period gives an
 * empty list.
 */
async function assertPathHasHistory(git: GitRepository, filter: CommitFilter): Promise<void> {
  const isLimited = filter.since !== undefined || filter.until !== undefined;
  const ever = isLimited
    ? await listFiltered(git, { ...filter, since: undefined, until: undefined }, { skip: 0, limit: 1 })
    : [];
  if (ever.length === 0) throw new ForgeProblem(404, 'not found');
}
