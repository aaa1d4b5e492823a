import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codePermission } from '../access/code.ts';
import { withPush } from '../code/pushes.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import { listRefs, type RefChange } from '../git/refs.ts';
import { pushRefusal, reviewPrefix } from '../protections/push-enforcement.ts';
import { unpackAside } from '../push-protocol/aside.ts';
import { type PushRequest, readPush } from '../push-protocol/push-request.ts';
import { appendMessage, encodeReport, refusalMessage } from '../push-protocol/report.ts';
import { type ArrivedPush, compareRefs, type PushTarget } from './arrived.ts';
import { applyPushOptions } from './push-options.ts';
import { takeReviews } from './reviews.ts';
import { pullInvitations } from './trailers.ts';

/**
 * Takes a push and returns what git reports to its client. The body is taken whole before the repository is held: a client
 * that trickles its push must not stop the others. What moved is found by comparing the refs, so that it is right whatever
 * git accepted and refused. Permissions and protections are asked before git is.
 */
export async function receivePush(
  context: ForgeContext,
  { comeIn, ...target }: PushTarget,
  { body, environment: protocol }: { readonly body: Readable; readonly environment: Record<string, string> },
): Promise<Buffer> {
  // An object that git would have to hold in more memory than this ends the push.
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

/** A push to a wiki sends no event, as on the baseline. */
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

/** Returns why all of a push is refused; undefined where git may take it. To be called where the refs stand still. */
async function refusalOf(context: ForgeContext, arrived: ArrivedPush): Promise<string | undefined> {
  const { repository, owner, caller: user, push, aside } = arrived;
  const git = context.git.open(arrived.gitId);
  // Others may have pushed for a while since the push came.
  const permission = codePermission(context.db, user, repository.id);
  const pusher = { db: context.db, repository, owner, user, git, permission };
  return await pushRefusal(pusher, push.changes, () => unpackAside(git, push, aside));
}

/** Refuses all commands, as where a hook of the baseline declines. */
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
  // Git may have collected garbage after the push.
  git.cache.forgetObjects();
  return { result: stdout, changes: compareRefs(before, await listRefs(git)) };
}
