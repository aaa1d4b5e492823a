import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RepositoryTarget } from '../access/targets.ts';
import { withPush } from '../code/pushes.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { listRefs, type Ref, type RefChange } from '../git/refs.ts';
import { refusePush } from '../protections/push-enforcement.ts';

/** Where a push goes: the repository's own git repository, or its wiki's. */
type PushTarget = RepositoryTarget & {
  readonly caller: UserRow | undefined;
  readonly gitId: number;
  readonly isWiki: boolean;
};

/**
 * Takes a push and returns what git reports to its client. The body is taken whole before the repository is held: a client
 * that trickles its push must not stop the others. What moved is found by comparing the refs, so that it is right whatever
 * git accepted and refused. Protections are asked before git is.
 */
export async function receivePush(
  context: ForgeContext,
  { repository, owner, caller, gitId, isWiki }: PushTarget,
  { body, environment }: { readonly body: Readable; readonly environment: Record<string, string> },
): Promise<Buffer> {
  if (caller === undefined) throw new ForgeProblem(401, 'credentials are needed');
  // An object that git would have to hold in more memory than this ends the push.
  const bounds = { GIT_ALLOC_LIMIT: String(context.limits.objectBytes) };
  const room = await mkdtemp(join(tmpdir(), 'forge-push-'));
  try {
    const file = join(room, 'body');
    await pipeline(body, createWriteStream(file));
    const take = async () => {
      const mover = { db: context.db, repository, owner, user: caller, git: context.git.open(gitId) };
      const refusal = isWiki ? undefined : await refusePush(mover, { file, room, environment: bounds });
      if (refusal) return { result: refusal, changes: [] };
      return await takePack(context, gitId, file, { ...environment, ...bounds });
    };
    // A push to a wiki sends no event, as on the baseline.
    return isWiki
      ? (await context.git.exclusively(gitId, 'refs', take)).result
      : await withPush(context, { repository, owner, pusher: caller }, take);
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

async function takePack(
  context: ForgeContext,
  gitId: number,
  file: string,
  environment: Record<string, string>,
): Promise<{ result: Buffer; changes: RefChange[] }> {
  const git = context.git.open(gitId);
  const before = await listRefs(git);
  const { stdout } = await git.git.run(['receive-pack', '--stateless-rpc', git.folder], {
    folder: git.folder,
    input: createReadStream(file),
    environment,
    timeoutMs: 600_000,
    expect: [0, 1, 128],
  });
  // Git may have collected garbage after the push.
  git.cache.forgetObjects();
  return { result: stdout, changes: compareRefs(before, await listRefs(git)) };
}

function compareRefs(before: readonly Ref[], after: readonly Ref[]): RefChange[] {
  const old = new Map(before.map(({ name, id }) => [name, id]));
  const now = new Map(after.map(({ name, id }) => [name, id]));
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names
    .map((ref) => ({ ref, before: old.get(ref), after: now.get(ref) }))
    .filter((change) => change.before !== change.after);
}
