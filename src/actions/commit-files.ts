import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Client } from '../client/client.ts';
import type { AnyInput } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { namedBranch } from '../facts/branches.ts';
import { branchRef, fileAt, gitBlobId } from '../facts/contents.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { fileOf, parseFileAddress } from '../facts/file-of.ts';
import { repository } from '../facts/repository.ts';
import { absentAsUndefined, repositoryParams } from '../facts/where.ts';
import { isDotGit } from '../patterns/dot-git.ts';
import { ReeveError } from '../platform/errors.ts';
import { type ArgumentProblem, condition, defineAction, forgeText, template } from './action.ts';
import type { Change, DraftChange } from './change.ts';
import { type Inverse, pathParams } from './inverses.ts';
import { waiting } from './merging.ts';
import type { PlanContext } from './plan-context.ts';

/**
 * Ids of the content that was committed (`wanted`) and of the content that the forge stored. They differ if the
 * repository keeps the file in LFS and the forge stores a pointer. The memory contains both ids, so that the file is
 * not committed again on every run.
 */
type StoredFile = { readonly wanted: string; readonly stored: string };

/** Prefix of the memory keys of stored files. Their values have an instant `at`. */
export const storedFilePrefix = 'stored ';

/** Time for which an entry is kept after its file was last planned. After that, the file is committed once more. */
export const storedFileKeptMs = 100 * 86_400_000;

/** `at` is rewritten only if it is older than this, so that repeated sweeps over thousands of files write nothing. */
const touchMs = 86_400_000;

/** Identity of a file: `owner/repo:file:branch:path`. */
type FilePlace = string;

/** Records the id of the content that the forge stored. */
async function rememberStored(
  place: FilePlace,
  stored: StoredFile,
  { memory, now }: PlanContext,
): Promise<void> {
  await memory.set(keyOf(place), { ...stored, at: now.toISOString() });
}

/** Returns whether the forge is known to have stored the content `stored` for the committed content `wanted`. */
async function isKnownStored(
  place: FilePlace,
  { wanted, stored }: StoredFile,
  context: PlanContext,
): Promise<boolean> {
  const { memory, now, dryRun } = context;
  // The cast is safe: only the function above writes this key. Earlier versions did not store `at`.
  const known = (await memory.get(keyOf(place))) as (StoredFile & { readonly at?: string }) | undefined;
  const isKnown = known?.wanted === wanted && known.stored === stored;
  const isYoung = now.getTime() - Date.parse(known?.at ?? '') < touchMs;
  if (isKnown && !isYoung && !dryRun) {
    const touched = { wanted, stored, at: now.toISOString() };
    // An entry that another run stored in the meantime is kept.
    await memory.revise(keyOf(place), (value) => (isDeepStrictEqual(value, known) ? touched : value));
  }
  return isKnown;
}

function keyOf(place: FilePlace): string {
  return `${storedFilePrefix}${place}`;
}

/**
 * Returns the id of the LFS pointer for a content. `like` is another object id of the repository, which determines the
 * hash algorithm.
 */
function pointerId(content: Uint8Array, like: string): string {
  const oid = createHash('sha256').update(content).digest('hex');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
  return gitBlobId(Buffer.from(pointer), like);
}

/** One file in the request that creates a commit. */
type FileOfCommit = {
  readonly operation: 'create' | 'update' | 'delete';
  readonly path: string;
  /** Base64; absent for a deletion and in the record of a run. */
  readonly content?: string;
  /** Id of the content that is replaced: the forge refuses the commit if the file's content has changed. */
  readonly sha?: string;
};

/** Body of the request that commits files. */
type CommitBody = {
  readonly branch: string;
  readonly message: string;
  readonly files: readonly FileOfCommit[];
};

/** State of a file in plans and records: the git id of its content. */
type FileState = { readonly sha: string; readonly size: number };

/** Joins several requests into one commit. */
function joinCommits(inputs: readonly AnyInput[]): AnyInput {
  const [first] = inputs;
  const bodies = inputs.map(({ body }) => body as CommitBody);
  const files = bodies.flatMap((body) => body.files);
  const [{ branch = '', message = '' } = {}] = bodies;
  return { ...first, body: { branch, message, files } };
}

/** Returns a request as recorded by runs: without the contents of files. */
function withoutContents(input: AnyInput): AnyInput {
  const { files, ...body } = input.body as CommitBody;
  return { ...input, body: { ...body, files: files.map(({ content: _content, ...file }) => file) } };
}

function fileTarget(branch: string, path: string): string {
  return `file:${branch}:${path}`;
}

/**
 * Restores the former state of a file, unless the file has changed since. All files of one commit are restored by one
 * commit. The former content is read by its git id, independently of the branch.
 */
const undoCommitFile: Inverse = async (change, client) => {
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
  client: Client,
  params: { readonly owner: string; readonly repo: string; readonly sha: string },
): Promise<string> {
  const { encoding, content } = await client.call(operations.getBlob, { params });
  if (encoding === 'base64' && typeof content === 'string') return content;
  throw new ReeveError('forge-unexpected', 'the forge does not return its former content');
}

/** Maximum number of bytes of one file, and of all files of a step together, which are sent in one request. */
const maxFileBytes = 1_048_576;
const maxBytes = 4 * maxFileBytes;
const maxFiles = 25;

const CommittedFile = z
  .strictObject({
    path: z.string().min(1).meta({ description: 'Path from the top of the repository.' }),
    content: template({ commit: true }).optional().meta({ description: 'The whole text of the file.' }),
    from: z.string().max(1_500).optional().meta({
      description:
        'A file whose bytes are copied, as `owner/repo:path@ref`; default of `ref`: the default branch. At most 1 MiB.',
    }),
  })
  .refine((file) => (file.content === undefined) !== (file.from === undefined), {
    message: 'specify either content or from',
  });
type CommittedFile = z.output<typeof CommittedFile>;

const CommitFiles = z.strictObject({
  branch: z
    .string()
    .min(1)
    .max(255)
    .regex(/^(?!refs\/|.*\.\.)[^\s~^:?*[\\]+$/, 'name a branch')
    .optional()
    .meta({ description: 'The branch, which must exist; default: the default branch.' }),
  files: z
    .array(CommittedFile)
    .min(1)
    .max(maxFiles)
    .meta({ description: `At most ${maxFiles} files with together 4 MiB.` }),
  message: forgeText({ lines: true, commit: true })
    .min(1)
    .max(2_000)
    .optional()
    .meta({ description: 'Message of the commit; default: a line that names the rule.' }),
  when: condition().optional().meta({ description: 'The files are kept only while this condition holds.' }),
});
type CommitFiles = z.output<typeof CommitFiles>;

/** Folders that contain code executed by the forge or its runners. */
const executed = /^\.(gitea|forgejo|github)\/(workflows|actions)\//i;

/** Keeps files of a branch equal to the given contents. */
export const commitFiles = defineAction<CommitFiles>({
  name: 'commit-files',
  meaning:
    'Keeps files of a branch equal to a text, or to a file of another repository. What differs is committed in one commit; files that are equal, and all others, are left unchanged. A commit that changes one of the files meanwhile is never overwritten unseen: the forge refuses, and the change is planned again. The branch must exist; if it is protected, the account must be allowed to push to it.',
  example: `uses: commit-files
with:
  message: Keep the editor settings in step
  files:
    - path: .editorconfig
      content: |
        root = true
    - path: LICENSE
      from: acme/templates:LICENSE@main
`,
  arguments: CommitFiles,
  of: ['repository', 'branch', 'pull_request', 'issue'],
  ways: { writes: [] },
  needs: { access: 'writer', scopes: ['repository'] },
  describesState: true,
  granted: false,
  onlyFor: 'operator',
  visibleTo: 'code',
  inverses: { [operations.changeFiles.id]: undoCommitFile },
  adoption: undefined,
  examine: fileProblems,
  facts: (given) =>
    given.when === false
      ? []
      : [
          ...(given.branch === undefined ? [repositoryFact] : [requestOf(namedBranch, given.branch)]),
          ...given.files.flatMap(({ from }) => (from === undefined ? [] : [requestOf(fileOf, from)])),
        ],
  async plan(given, facts, context) {
    if (given.when === false) return [];
    // Rules of repositories and organizations must never be able to read files of other repositories through this
    // account.
    if (context.level !== 'operator') throw new Error('only rules of the operator commit files');
    const branch = given.branch ?? (await facts.ask(repositoryFact)).default_branch;
    if (!branch) throw new Error('the repository has no default branch');
    const contents = await Promise.all(given.files.map((file) => contentOf(file, facts)));
    const total = contents.reduce((sum, { length }) => sum + length, 0);
    if (total > maxBytes)
      throw new Error(`the files have ${total} bytes; the maximum per commit is ${maxBytes}`);
    const tip = await facts.ask(requestOf(namedBranch, branch));
    const message = given.message ?? `Keep files as the rule ${context.rule} declares them`;
    return Promise.all(
      given.files.map(({ path }, place) =>
        planFile(
          { path, content: contents[place] ?? Buffer.alloc(0) },
          { branch, tip, message },
          facts,
          context,
        ),
      ),
    );
  },
  join: async (changes) => joinCommits(changes.map(({ input }) => input)),
  recorded: withoutContents,
  confirm(change, answer) {
    const stored = storedIn(answer, change);
    if (stored === undefined || stored === change.value || stored === pointerOf(change)) return undefined;
    return `the forge stored content (${stored}) that differs from what was sent; the commit is not repeated`;
  },
  async learn(change, answer, context) {
    await rememberDifference(change, answer, context);
    return true;
  },
  remember: rememberDifference,
});

const repositoryFact = requestOf(repository);

function fileProblems({ files }: CommitFiles): readonly ArgumentProblem[] {
  const ofFiles = files.flatMap(({ path, content, from }, place) => {
    const problem = pathProblem(path);
    const isAddress = from === undefined || parseFileAddress(from) !== undefined;
    const isInserted = executed.test(path) && /(?<!\$)\$\{\{/.test(content ?? '');
    return [
      ...(problem === undefined ? [] : [{ path: ['files', place, 'path'], message: problem }]),
      ...(isAddress
        ? []
        : [{ path: ['files', place, 'from'], message: 'name the file as owner/repo:path@ref' }]),
      ...(isInserted ? [{ path: ['files', place, 'content'], message: insertedText }] : []),
    ];
  });
  const clashes = clashingPaths(files.map(({ path }) => path)).map((place) => ({
    path: ['files', place, 'path'],
    message: 'another file of this step has the same path, or is inside it',
  }));
  return [...ofFiles, ...clashes];
}

const insertedText =
  'text from an event must not become part of a workflow: write $${{ for an expression of the workflow itself, or use from';

async function contentOf({ content, from }: CommittedFile, facts: Facts): Promise<Buffer> {
  if (from === undefined) return limited(Buffer.from(content ?? ''), 'the text');
  const found = await facts.ask(requestOf(fileOf, from));
  if (found === null) throw new Error(`there is no file ${from} that this account can read`);
  if (found.type !== 'file') throw new Error(`${from} is not a file but a ${found.type}`);
  if (found.base64 === null)
    throw new Error(`the forge does not return ${from}, which has ${found.size} bytes`);
  const bytes = limited(Buffer.from(found.base64, 'base64'), from);
  if (bytes.subarray(0, 100).toString('latin1').startsWith('version https://git-lfs.github.com/spec/'))
    throw new Error(`${from} is stored in LFS: the repository contains only a pointer`);
  return bytes;
}

function limited(bytes: Buffer, what: string): Buffer {
  if (bytes.length <= maxFileBytes) return bytes;
  throw new Error(`${what} has ${bytes.length} bytes; the maximum per file is ${maxFileBytes}`);
}

type Tip = {
  readonly commit: string;
  readonly protected: boolean | null | undefined;
  readonly can_push: boolean | null | undefined;
};

async function planFile(
  { path, content }: { readonly path: string; readonly content: Buffer },
  { branch, tip, message }: { readonly branch: string; readonly tip: Tip | null; readonly message: string },
  facts: Facts,
  context: PlanContext,
): Promise<Change> {
  const live = tip === null ? null : await facts.ask(requestOf(fileAt, `${tip.commit}:${path}`));
  const sha = gitBlobId(content, tip?.commit);
  const before: FileState | null = live && { sha: live.sha, size: live.size };
  const file = {
    operation: live === null ? 'create' : 'update',
    path,
    content: content.toString('base64'),
    ...(live === null ? {} : { sha: live.sha }),
  } as const;
  const change: DraftChange = {
    action: 'commit-files',
    operation: operations.changeFiles.id,
    input: {
      params: repositoryParams(facts.subject),
      body: { branch, message, files: [file] } satisfies CommitBody,
    },
    target: fileTarget(branch, path),
    value: sha,
    before,
    after: { sha, size: content.length } satisfies FileState,
    joins: `${branch} ${message}`,
    // A branch that this account may push to is written early, because a rule of the same run may protect it; a locked
    // branch is written later, because such a rule may grant push access to this account.
    ...(isLocked(tip) ? {} : { stage: 0 as const }),
    branch,
    causes: { event: 'committed', branch, head: tip?.commit ?? '', message },
    reads: [requestOf(namedBranch, branch)],
    pinned: true,
    ...(tip?.protected ? { forbidden: protectedWords(branch) } : {}),
  };
  if (tip === null) return waiting(change, `there is no branch ${branch}`);
  if (live !== null && live.type !== 'file') return waiting(change, `${path} is a ${live.type} there`);
  if (
    live?.sha === sha ||
    (live && (await isKnownStored(placeOf(change), { wanted: sha, stored: live.sha }, context)))
  )
    return { ...change, already: true, reason: 'the file has this content' };
  const what = live === null ? 'the file does not exist' : 'the file has different content';
  return {
    ...change,
    reason: isLocked(tip) ? `${what}; ${branch} is protected against pushes of this account` : what,
  };
}

/** Returns whether branch protection prevents this account from pushing to the branch. */
function isLocked(tip: Tip | null): boolean {
  return tip?.protected === true && tip.can_push === false;
}

function protectedWords(branch: string): string {
  return `${branch} is protected: its protection must let this account push, and leave these files open`;
}

/** Returns the identity of the file that a change writes. */
function placeOf({ input, target }: DraftChange): string {
  const { owner, repo } = (input.params ?? {}) as { readonly owner: string; readonly repo: string };
  return `${owner}/${repo}:${target}`;
}

function pointerOf({ input, value }: Change): string {
  const [file] = (input.body as CommitBody).files;
  return pointerId(Buffer.from(file?.content ?? '', 'base64'), String(value));
}

/** Returns the id of the content that the forge stored, as shown in the response. */
function storedIn(answer: unknown, change: Change): string | undefined {
  const shown = z.object({ files: z.array(z.object({ path: z.string(), sha: z.string() }).nullable()) });
  const read = shown.safeParse(answer);
  const [sent] = (change.input.body as CommitBody).files;
  return read.success ? read.data.files.find((file) => file?.path === sent?.path)?.sha : undefined;
}

async function rememberDifference(change: Change, answer: unknown, context: PlanContext): Promise<void> {
  const stored = storedIn(answer, change);
  if (stored === undefined || stored === change.value) return;
  await rememberStored(placeOf(change), { wanted: String(change.value), stored }, context);
}

const maxPathBytes = 1_000;
const maxSegmentBytes = 255;

/**
 * Returns the problem with a path to commit, or undefined. Names that a file system treats as `.git` are refused,
 * because in a clone such a file would configure the user's git.
 */
export function pathProblem(path: string): string | undefined {
  if (Buffer.byteLength(path) > maxPathBytes) return `a path must have at most ${maxPathBytes} bytes`;
  if (!path.isWellFormed() || /[\p{Cc}\\]/u.test(path))
    return 'a path must not contain backslashes or control characters';
  const segments = path.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'write the path relative to the root of the repository, without a leading /, // or ..';
  }
  if (segments.some((segment) => Buffer.byteLength(segment) > maxSegmentBytes))
    return `a name must have at most ${maxSegmentBytes} bytes`;
  return segments.some(isDotGit) ? 'files of git itself must not be written' : undefined;
}

/** Returns the positions of paths that repeat an earlier path, or that are a directory of another path. */
export function clashingPaths(paths: readonly string[]): readonly number[] {
  return paths.flatMap((path, place) => {
    const clashes = paths.some((other, at) => (at < place && other === path) || other.startsWith(`${path}/`));
    return clashes ? [place] : [];
  });
}
