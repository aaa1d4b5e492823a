import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codePermission } from '../platform/access/code.ts';
import { permissionOf, reaches } from '../platform/access/permissions.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { zeroIdLike } from '../platform/git/names.ts';
import { listRefs, moveRefs, type Ref, type RefChange } from '../platform/git/refs.ts';
import { beginWork, endWork } from '../platform/journal.ts';
import type { Bit, UserRow } from '../platform/rows.ts';
import {
  blockedFromReview,
  findReviewBase,
  isSwitchedOn,
  type ReviewOptions,
  readReviewOptions,
  reviewRefusal,
  takeReview,
} from '../pulls/agit.ts';
import { pushRefusal, reviewPrefix } from '../pulls/enforcement.ts';
import { findByBranches, findPullBase } from '../pulls/list.ts';
import {
  type Aside,
  appendMessage,
  type CommandStatus,
  encodeCommands,
  encodeReport,
  hasCapability,
  type PushRequest,
  readPush,
  readReport,
  refusalMessage,
  unpackAside,
} from './push-protocol.ts';
import { withPush } from './pushes.ts';

/**
 * Receives a push and returns git's report for the client. Stores the complete body before locking the repository, so
 * that a slow client does not block others. Finds moved refs by comparison, so that the result is right regardless of
 * what git accepts and refuses. Checks permissions and protections before git runs.
 */
export async function receivePush(
  context: ForgeContext,
  { comeIn, ...target }: PushTarget,
  { body, environment: protocol }: { readonly body: Readable; readonly environment: Record<string, string> },
): Promise<Buffer> {
  // An object that needs more memory than this aborts the push.
  const environment = { GIT_ALLOC_LIMIT: String(context.limits.objectBytes) };
  const room = await mkdtemp(join(tmpdir(), 'forge-push-'));
  try {
    const file = join(room, 'body');
    await pipeline(body, createWriteStream(file));
    const push = await readPush(file);
    const now = await comeIn();
    const { caller } = now;
    if (caller === undefined) throw new ForgeProblem(401, 'credentials are needed');
    if (now.repository.id !== target.repository.id) throw new ForgeProblem(404, 'Repository not found');
    const arrived = { ...target, ...now, caller, push, aside: { file, room, environment }, protocol };
    return await (target.isWiki ? receiveWiki(context, arrived) : receiveCode(context, arrived));
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

/** Receives a push to a wiki. Sends no event, as in Gitea. */
async function receiveWiki(context: ForgeContext, arrived: ArrivedPush): Promise<Buffer> {
  if (arrived.push.changes.some(({ ref }) => ref.startsWith(reviewPrefix))) {
    return refuse(arrived.push, 'Pull requests are not supported on the wiki.');
  }
  const work = () => takePack(context, arrived);
  return (await context.git.exclusively(arrived.gitId, 'refs', work)).result;
}

async function receiveCode(context: ForgeContext, arrived: ArrivedPush): Promise<Buffer> {
  const { push, repository, caller } = arrived;
  if (push.changes.some(({ ref }) => ref.startsWith(reviewPrefix))) {
    return await takeReviews(context, arrived, {
      guard: () => refusalOf(context, arrived),
      refuse: (reason) => refuse(push, reason),
    });
  }
  const wasEmpty = repository.is_empty === 1;
  const pushed = { ...arrived, pusher: caller };
  const { answer, changes } = await withPush(context, pushed, async () => {
    const refusal = await refusalOf(context, arrived);
    if (refusal !== undefined) {
      return { result: { answer: refuse(push, refusal), changes: [] }, changes: [] };
    }
    const { result, changes } = await takePack(context, arrived);
    return { result: { answer: result, changes }, changes };
  });
  if (changes.length === 0) return answer;
  const refusal = applyPushOptions(context, arrived, wasEmpty);
  if (refusal !== undefined) return appendMessage(push, answer, refusalMessage(refusal));
  return appendMessage(push, answer, pullInvitations(context, arrived, changes));
}

/** Returns the reason to refuse the whole push; undefined if git may process it. Call it with the refs locked. */
async function refusalOf(context: ForgeContext, arrived: ArrivedPush): Promise<string | undefined> {
  const { repository, owner, caller: user, push, aside } = arrived;
  const git = context.git.open(arrived.gitId);
  // Other pushes may have completed since this one arrived.
  const permission = codePermission(context.db, user, repository.id);
  const pusher = { db: context.db, repository, owner, user, git, permission };
  return await pushRefusal(pusher, push.changes, () => unpackAside(git, push, aside));
}

/** Refuses all commands, like a Gitea hook that declines the push. */
function refuse(push: PushRequest, reason: string): Buffer {
  const statuses = push.changes.map(({ ref }) => ({ ref, error: 'pre-receive hook declined' }));
  return encodeReport(push, { unpacked: 'ok', statuses, message: refusalMessage(reason) });
}

async function takePack(
  context: ForgeContext,
  { gitId, aside, protocol }: ArrivedPush,
): Promise<{ result: Buffer; changes: RefChange[] }> {
  const git = context.git.open(gitId);
  const before = await listRefs(git);
  const { stdout } = await git.git.run(['receive-pack', '--stateless-rpc', git.folder], {
    folder: git.folder,
    input: createReadStream(aside.file),
    environment: { ...protocol, ...aside.environment },
    timeoutMs: 600_000,
    expect: [0, 1, 128],
  });
  // Git may have removed cached objects in a garbage collection after the push.
  git.cache.forgetObjects();
  return { result: stdout, changes: compareRefs(before, await listRefs(git)) };
}

/**
 * A command of the push, and the ref under which git stores its commit (undefined if git does not process the command).
 */
type PushCommand = { readonly change: RefChange; readonly kept: string | undefined; readonly error?: string };

type Received = {
  readonly unpacked: string;
  readonly errors: ReadonlyMap<string, string>;
  readonly complaint: string;
  readonly changes: readonly RefChange[];
};

const notRun = 'fail to run proc-receive hook';

/**
 * Handles a push that opens pull requests, along with its other commands, and returns the response. Git checks the
 * commits and stores them under hidden refs; then the pull requests are created and the hidden refs removed. `guard`
 * returns the reason to refuse the whole push.
 */
async function takeReviews(
  context: ForgeContext,
  arrived: ArrivedPush,
  { guard, refuse }: { guard: () => Promise<string | undefined>; refuse: (reason: string) => Buffer },
): Promise<Buffer> {
  const { push, repository, caller } = arrived;
  const options = readReviewOptions(push.options);
  const begun = beginWork(context.db, repository.id, 'pushing');
  const folder = `refs/reeve/agit/${randomBytes(8).toString('hex')}`;
  try {
    const commands = push.changes.map((change, at) => toCommand(change, `${folder}/${at}`));
    const pushed = { ...arrived, pusher: caller };
    const received = await withPush<Buffer | Received>(context, pushed, async () => {
      const refusal = (await guard()) ?? (await refusalOfBases(context, arrived));
      if (refusal !== undefined) return { result: refuse(refusal), changes: [] };
      const early = await refuseAtomic(context, arrived, commands, options);
      if (early) return { result: early, changes: [] };
      const result = await receive(context, arrived, commands);
      return { result, changes: result.changes };
    });
    return Buffer.isBuffer(received)
      ? received
      : await openAll(context, arrived, { commands, received, options });
  } finally {
    const git = context.git.open(arrived.gitId);
    const left = await listRefs(git, [folder]);
    if (left.length > 0) {
      await moveRefs(
        git,
        left.map(({ name, id }) => ({ name, before: id, after: undefined })),
      );
    }
    endWork(context.db, begun);
  }
}

function toCommand(change: RefChange, kept: string): PushCommand {
  // The git configuration allows writes to these refs, so a client that names one is refused here.
  if (change.ref.startsWith('refs/reeve/')) {
    return { change, kept: undefined, error: 'deny updating a hidden ref' };
  }
  if (!change.ref.startsWith(reviewPrefix)) return { change, kept: change.ref };
  if (change.after === undefined) return { change, kept: undefined, error: "Can't delete not exist branch" };
  return { change, kept };
}

const isReview = ({ change }: PushCommand): boolean => change.ref.startsWith(reviewPrefix);

async function refusalOfBases(
  context: ForgeContext,
  { gitId, push }: ArrivedPush,
): Promise<string | undefined> {
  const git = context.git.open(gitId);
  for (const { ref } of push.changes) {
    if (ref.startsWith(reviewPrefix) && !(await findReviewBase(git, ref)))
      return 'base-branch does not exist';
  }
  return undefined;
}

/**
 * Returns the response that refuses an atomic push; undefined if the push may continue. In an atomic push, the reason
 * to refuse a pull request must be known before git moves a ref.
 */
async function refuseAtomic(
  context: ForgeContext,
  arrived: ArrivedPush,
  commands: readonly PushCommand[],
  options: ReviewOptions,
): Promise<Buffer | undefined> {
  const { push, aside, gitId } = arrived;
  if (!hasCapability(push, 'atomic')) return undefined;
  const git = await unpackAside(context.git.open(gitId), push, aside);
  const statuses: CommandStatus[] = [];
  for (const { change, error } of commands) {
    const { ref, after } = change;
    const isAsked = git && after !== undefined && ref.startsWith(reviewPrefix);
    const refusal = isAsked
      ? await reviewRefusal({ ...arrived, context }, git, { ref, after }, options)
      : error;
    statuses.push({ ref, error: refusal });
  }
  if (statuses.every(({ error }) => error === undefined)) return undefined;
  const all = statuses.map(({ ref, error }) => ({ ref, error: error ?? notRun }));
  return encodeReport(push, { unpacked: 'ok', statuses: all, message: '' });
}

async function receive(
  context: ForgeContext,
  { gitId, push, aside }: ArrivedPush,
  commands: readonly PushCommand[],
): Promise<Received> {
  const git = context.git.open(gitId);
  const asked = commands.flatMap(({ change: { before, after }, kept }) => {
    const zero = zeroIdLike(after ?? before ?? '');
    return kept === undefined
      ? []
      : [{ ref: kept, before: before ?? zero, after: after ?? zero, isGone: !after }];
  });
  if (asked.length === 0) return { unpacked: 'ok', errors: new Map(), complaint: '', changes: [] };
  const head = encodeCommands(push, asked);
  const hasPack = push.packAt !== undefined && asked.some(({ isGone }) => !isGone);
  const start = push.packAt;
  const input = hasPack ? Readable.from(joined(head, createReadStream(aside.file, { start }))) : head;
  const before = await listRefs(git);
  const { stdout, stderr } = await git.git.run(
    ['-c', 'transfer.hideRefs=!refs/reeve/agit', 'receive-pack', '--stateless-rpc', git.folder],
    {
      folder: git.folder,
      input,
      environment: aside.environment,
      timeoutMs: 600_000,
      expect: [0, 1, 128],
    },
  );
  const { unpacked, errors } = readReport(stdout);
  const complaint = unpacked === 'ok' ? '' : stderr;
  return { unpacked, errors, complaint, changes: compareRefs(before, await listRefs(git)) };
}

async function* joined(head: Buffer, rest: Readable): AsyncGenerator<Buffer> {
  yield head;
  yield* rest;
}

async function openAll(
  context: ForgeContext,
  arrived: ArrivedPush,
  {
    commands,
    received,
    options,
  }: { commands: readonly PushCommand[]; received: Received; options: ReviewOptions },
): Promise<Buffer> {
  const { push, repository, owner } = arrived;
  const statuses: CommandStatus[] = [];
  const messages = [received.complaint];
  for (const command of commands) {
    const { ref, after } = command.change;
    const error = command.error ?? received.errors.get(command.kept ?? '');
    if (error !== undefined || after === undefined || !isReview(command)) {
      statuses.push({ ref, error });
      continue;
    }
    const taken = await takeReview({ ...arrived, context }, { ref, after }, options);
    if (typeof taken === 'string') {
      const isBlocked = taken === blockedFromReview;
      if (isBlocked) messages.push(refusalMessage(taken));
      statuses.push({ ref, error: isBlocked ? notRun : taken });
      continue;
    }
    const { number, before, isForced } = taken;
    messages.push(existingPull(`${context.rootUrl()}/${owner.name}/${repository.name}/pulls/${number}`));
    statuses.push({ ref, instead: { ref: `refs/pull/${number}/head`, before, after, isForced } });
  }
  const refusal = received.changes.length === 0 ? undefined : applyPushOptions(context, arrived, false);
  const ending =
    refusal === undefined ? pullInvitations(context, arrived, received.changes) : refusalMessage(refusal);
  return encodeReport(push, { unpacked: received.unpacked, statuses, message: messages.join('') + ending });
}

/** Target of a push: the repository's own git repository, or its wiki's. */
type PushTarget = RepositoryTarget & {
  readonly caller: UserRow | undefined;
  readonly gitId: number;
  readonly isWiki: boolean;
  /** Returns the current target, or ends the request if the push is no longer allowed. */
  readonly comeIn: () => Promise<Pick<PushTarget, 'repository' | 'owner' | 'permission' | 'caller'>>;
};

/** A push that is completely stored on disk, with the account that sends it. */
type ArrivedPush = Omit<PushTarget, 'caller' | 'comeIn'> & {
  readonly caller: UserRow;
  readonly push: PushRequest;
  readonly aside: Aside;
  /** Environment variables for git besides those in `aside`. */
  readonly protocol: Readonly<Record<string, string>>;
};

/** Returns the refs that differ between two listings, sorted by name. */
function compareRefs(before: readonly Ref[], after: readonly Ref[]): RefChange[] {
  const old = new Map(before.map(({ name, id }) => [name, id]));
  const now = new Map(after.map(({ name, id }) => [name, id]));
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names
    .map((ref) => ({ ref, before: old.get(ref), after: now.get(ref) }))
    .filter((change) => change.before !== change.after);
}

type OptionPush = Omit<RepositoryTarget, 'permission'> & {
  readonly caller: UserRow;
  readonly push: PushRequest;
};

/**
 * Applies `repo.private` and `repo.template`, which are valid only for the first push to an empty repository. Returns
 * an error message if the pusher may not set them.
 */
function applyPushOptions(
  { db }: ForgeContext,
  { repository, owner, caller, push }: OptionPush,
  wasEmpty: boolean,
): string | undefined {
  const isPrivate = readFlag(push.options, 'repo.private');
  const isTemplate = readFlag(push.options, 'repo.template');
  if (isPrivate === undefined && isTemplate === undefined) return undefined;
  if (!reaches(permissionOf(db, caller, repository, owner), 'admin')) return 'permission denied';
  if (!wasEmpty) return undefined;
  db.run(
    'UPDATE repositories SET is_private = coalesce(?, is_private), is_template = coalesce(?, is_template) WHERE id = ?',
    isPrivate,
    isTemplate,
    repository.id,
  );
  return undefined;
}

/**
 * Parses a boolean push option. Unlike the push options of a pull request, this option needs a value: `repo.private`
 * alone has no effect, as in Gitea.
 */
function readFlag(options: readonly string[], key: string): Bit | undefined {
  const values = options.filter((option) => option.startsWith(`${key}=`));
  const value = values.at(-1)?.slice(key.length + 1);
  if (value === undefined) return undefined;
  if (isSwitchedOn(value)) return 1;
  return /^(0|f|F|FALSE|false|False)$/.test(value) ? 0 : undefined;
}

/**
 * Returns the message after a push of branches: for each branch, the URL of its pull request or the URL to create one.
 */
function pullInvitations(
  context: ForgeContext,
  { repository, owner }: Pick<RepositoryTarget, 'repository' | 'owner'>,
  changes: readonly RefChange[],
): string {
  const base = findPullBase(context, { repository, owner });
  if (!base) return '';
  const invitations = changes.map(({ ref, after }) => {
    const name = ref.slice('refs/heads/'.length);
    const isOwnDefault = repository.fork_id === null && name === base.repository.default_branch;
    if (after === undefined || !ref.startsWith('refs/heads/') || isOwnDefault) return '';
    const number = findByBranches(
      context,
      {
        baseId: base.repository.id,
        base: base.repository.default_branch,
        headId: repository.id,
        head: name,
      },
      { openOnly: true },
    );
    const head = `${context.rootUrl()}/${owner.name}/${repository.name}`;
    return number === undefined
      ? `\nCreate a new pull request for '${name}':\n  ${head}/pulls/new/${name.split('/').map(encodeURIComponent).join('/')}\n\n`
      : existingPull(`${context.rootUrl()}/${base.owner.name}/${base.repository.name}/pulls/${number}`);
  });
  return invitations.join('');
}

/** Returns the message after a push to a pull request. */
function existingPull(address: string): string {
  return `\nVisit the existing pull request:\n  ${address}\n\n`;
}
