import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { ReeveError } from '../../errors.ts';
import { ForgeProblem } from '../core/errors.ts';
import { isObjectId, isZeroId } from '../git/names.ts';
import type { RefChange } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { hasRules, type Mover, moveRefusal } from './enforcement.ts';

/** A push as it came in: its commands, what its client can read, and where its pack starts. */
type Push = {
  readonly changes: readonly RefChange[];
  readonly capabilities: readonly string[];
  /** Undefined: nothing but removals, so no pack follows. */
  readonly packAt: number | undefined;
};

/** Where a push lies before git takes it, and how the program that unpacks it is bounded. */
type Aside = {
  /** The body of the request. */
  readonly file: string;
  /** An empty folder. */
  readonly room: string;
  readonly environment: Readonly<Record<string, string>>;
};

/** More commands than any person's push has; the rest of a body is never read into memory. */
const maxCommandBytes = 4 * 1024 * 1024;

/**
 * Holds a push against the protections before git takes it. Returns undefined where it may go on; else the answer that refuses all of it, as a hook of the baseline would: one
 * refused ref takes the others along. The client shows the reason of each.
 */
export async function refusePush(
  mover: Mover,
  { file, room, environment }: Aside,
): Promise<Buffer | undefined> {
  if (!hasRules(mover.db, mover.repository.id)) return undefined;
  const push = await readPush(file);
  const git = await takeAside(mover.git, push, { file, room, environment });
  if (!git) return report(push, 'index-pack failed', new Map());
  const refusals = new Map<string, string>();
  for (const change of push.changes) {
    const refusal = await moveRefusal({ ...mover, git }, change);
    if (refusal !== undefined) refusals.set(change.ref, refusal);
  }
  return refusals.size === 0 ? undefined : report(push, 'ok', refusals);
}

async function readPush(file: string): Promise<Push> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxCommandBytes), 0, maxCommandBytes, 0);
    return parsePush(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

function parsePush(bytes: Buffer): Push {
  const { lines, end } = readLines(bytes, 0);
  const capabilities: string[] = [];
  const changes: RefChange[] = [];
  for (const line of lines) {
    const [command = '', words] = line.replace(/\n$/, '').split('\0');
    if (words !== undefined) capabilities.push(...words.trim().split(' '));
    if (command.startsWith('shallow ')) continue;
    const [before = '', after = '', ...ref] = command.split(' ');
    // A signed push, which is never advertised, would hide its commands in another form.
    if (!isObjectId(before) || !isObjectId(after) || ref.length === 0) throw malformed();
    changes.push({ ref: ref.join(' '), before: idOrNone(before), after: idOrNone(after) });
  }
  const options = capabilities.includes('push-options') ? readLines(bytes, end).end : end;
  const hasPack = changes.some(({ after }) => after !== undefined);
  return { changes, capabilities, packAt: hasPack ? options : undefined };
}

function idOrNone(id: string): string | undefined {
  return isZeroId(id) ? undefined : id;
}

/** Reads pkt-lines up to the flush that ends them. */
function readLines(bytes: Buffer, start: number): { lines: string[]; end: number } {
  const lines: string[] = [];
  let at = start;
  while (at + 4 <= bytes.length) {
    const size = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
    if (size === 0) return { lines, end: at + 4 };
    if (!(size >= 4) || at + size > bytes.length) break;
    lines.push(bytes.toString('utf8', at + 4, at + size));
    at += size;
  }
  throw malformed();
}

function malformed(): ForgeProblem {
  return new ForgeProblem(400, 'the push has no commands that can be read');
}

/** Unpacks beside the repository, which is not touched; undefined where the pack is broken. */
async function takeAside(
  git: GitRepository,
  { packAt }: Push,
  { file, room, environment: bounds }: Aside,
): Promise<GitRepository | undefined> {
  if (packAt === undefined) return git;
  const objects = join(room, 'objects');
  await mkdir(join(objects, 'pack'), { recursive: true });
  const environment = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(git.folder, 'objects'),
  };
  const run: GitRepository['git']['run'] = (args, options = {}) =>
    git.git.run(args, { ...options, environment: { ...options.environment, ...environment } });
  try {
    await run(['index-pack', '--stdin', '--fix-thin'], {
      folder: git.folder,
      input: createReadStream(file, { start: packAt }),
      environment: bounds,
      timeoutMs: 600_000,
    });
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'git-failed') return undefined;
    throw error;
  }
  return { ...git, git: { ...git.git, run } };
}

/** Returns what git itself answers where a hook declines: a line for each ref, and the reasons for people to read. */
function report(push: Push, unpacked: string, refusals: ReadonlyMap<string, string>): Buffer {
  const other = unpacked === 'ok' ? 'another ref of this push is refused' : 'unpacker error';
  const lines = push.changes.map(({ ref }) => line(`ng ${ref} ${refusals.get(ref) ?? other}\n`));
  const status = Buffer.concat([line(`unpack ${unpacked}\n`), ...lines, flush]);
  const isAsked = push.capabilities.some((word) => /^report-status(-v2)?$/.test(word));
  const answer = isAsked ? status : Buffer.alloc(0);
  if (!push.capabilities.includes('side-band-64k')) return answer;
  const words = [...refusals.values()].map((text) => line(`\x02${text}\n`));
  const pieces: Buffer[] = [];
  for (let at = 0; at < answer.length; at += maxBandBytes) {
    pieces.push(line(Buffer.concat([Buffer.from([1]), answer.subarray(at, at + maxBandBytes)])));
  }
  return Buffer.concat([...words, ...pieces, flush]);
}

const flush = Buffer.from('0000');
const maxBandBytes = 65_000;

function line(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}
