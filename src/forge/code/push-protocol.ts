import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { ReeveError } from '../../platform/errors.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { isObjectId, isZeroId } from '../platform/git/names.ts';
import type { RefChange } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';

/** A received push: its commands, the capabilities of its client, and the offset of its pack. */
export type PushRequest = {
  readonly changes: readonly RefChange[];
  readonly capabilities: readonly string[];
  /** Lines before the commands: the boundaries of a shallow clone. */
  readonly shallow: readonly string[];
  /** Push options in the order given, each `key=value` or `key`. */
  readonly options: readonly string[];
  /** Undefined if the push only deletes refs, so that no pack follows. */
  readonly packAt: number | undefined;
};

/** Maximum size of the commands, more than any real push has. The rest of a body is never read into memory. */
const maxCommandBytes = 4 * 1024 * 1024;

/** Parses the commands of a push from the body of its request. Ends the request with 400 if they are invalid. */
export async function readPush(file: string): Promise<PushRequest> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxCommandBytes), 0, maxCommandBytes, 0);
    return parsePush(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

function parsePush(bytes: Buffer): PushRequest {
  const { lines, end } = readLines(bytes, 0);
  const capabilities: string[] = [];
  const changes: RefChange[] = [];
  const shallow: string[] = [];
  for (const line of lines) {
    const [command = '', words] = line.replace(/\n$/, '').split('\0');
    if (words !== undefined) capabilities.push(...words.split(/[ \t\n\v\f\r]+/).filter(Boolean));
    if (command.startsWith('shallow ')) {
      shallow.push(command);
      continue;
    }
    const [before = '', after = '', ...ref] = command.split(' ');
    // Also rejects a signed push, whose commands have another form; signed pushes are never advertised.
    if (!isObjectId(before) || !isObjectId(after) || ref.length === 0) throw malformed();
    changes.push({ ref: ref.join(' '), before: idOrNone(before), after: idOrNone(after) });
  }
  const options = hasCapability({ capabilities }, 'push-options')
    ? readLines(bytes, end)
    : { lines: [], end };
  const hasPack = changes.some(({ after }) => after !== undefined);
  return {
    changes,
    capabilities,
    shallow,
    options: options.lines.map((line) => line.replace(/\n$/, '')),
    packAt: hasPack ? options.end : undefined,
  };
}

/**
 * Returns whether the client of a push has a capability. Like git, treats a capability with a value like one without: a
 * different interpretation would give a different offset of the pack.
 */
export function hasCapability({ capabilities }: Pick<PushRequest, 'capabilities'>, name: string): boolean {
  return capabilities.some((word) => word === name || word.startsWith(`${name}=`));
}

function idOrNone(id: string): string | undefined {
  return isZeroId(id) ? undefined : id;
}

/** Reads pkt-lines up to the flush packet. */
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
  return new ForgeProblem(400, 'the push has no readable commands');
}

/** Location of a push before git accepts it, and the limits of the program that unpacks it. */
export type Aside = {
  /** File with the body of the request. */
  readonly file: string;
  /** Folder for the unpacked objects. */
  readonly room: string;
  readonly environment: Readonly<Record<string, string>>;
};

/**
 * Unpacks a push into a quarantine folder, without changing the repository. Returns a git repository that has the
 * objects of the repository and of the push, or undefined if the pack is broken.
 */
export async function unpackAside(
  git: GitRepository,
  { packAt }: PushRequest,
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

/** Result of one command of a push. */
export type CommandStatus = {
  readonly ref: string;
  /** Reason for the refusal; absent if accepted. */
  readonly error?: string | undefined;
  /** The ref that was moved instead of the named one. */
  readonly instead?:
    | {
        readonly ref: string;
        readonly before: string | undefined;
        readonly after: string;
        readonly isForced: boolean;
      }
    | undefined;
};

type PushReport = {
  /** `ok`, or the error. */
  readonly unpacked: string;
  readonly statuses: readonly CommandStatus[];
  /** Text for the user, which git shows after `remote:`. */
  readonly message: string;
};

/** Returns the response to a push, in the format that the client's capabilities select. */
export function encodeReport(push: PushRequest, { unpacked, statuses, message }: PushReport): Buffer {
  const isSecond = push.capabilities.includes('report-status-v2');
  const isAsked = isSecond || push.capabilities.includes('report-status');
  const lines = statuses.flatMap((status) => encodeStatus(status, isSecond));
  const answer = isAsked
    ? Buffer.concat([encodeLine(`unpack ${unpacked}\n`), ...lines, flush])
    : Buffer.alloc(0);
  if (!push.capabilities.includes('side-band-64k')) return answer;
  return Buffer.concat([...inBand(2, Buffer.from(message)), ...inBand(1, answer), flush]);
}

function encodeStatus({ ref, error, instead }: CommandStatus, isSecond: boolean): Buffer[] {
  if (error !== undefined) return [encodeLine(`ng ${ref} ${error}\n`)];
  const options =
    isSecond && instead
      ? [
          `refname ${instead.ref}`,
          ...(instead.before === undefined ? [] : [`old-oid ${instead.before}`]),
          `new-oid ${instead.after}`,
          ...(instead.isForced ? ['forced-update'] : []),
        ]
      : [];
  return [`ok ${ref}\n`, ...options.map((option) => `option ${option}\n`)].map(encodeLine);
}

/** Returns git's response with a message for the user added; without side bands, returns it unchanged. */
export function appendMessage(push: PushRequest, answer: Buffer, message: string): Buffer {
  const isBanded = push.capabilities.includes('side-band-64k') && answer.subarray(-4).equals(flush);
  if (message === '' || !isBanded) return answer;
  return Buffer.concat([answer.subarray(0, -4), ...inBand(2, Buffer.from(message)), flush]);
}

/** Parses the response of `git receive-pack` when only `report-status` was requested. */
export function readReport(answer: Buffer): { unpacked: string; errors: ReadonlyMap<string, string> } {
  const errors = new Map<string, string>();
  let unpacked = 'failed';
  for (let at = 0; at + 4 <= answer.length; ) {
    const size = Number.parseInt(answer.toString('latin1', at, at + 4), 16);
    if (!(size > 4)) break;
    const line = answer.toString('utf8', at + 4, at + size).replace(/\n$/, '');
    at += size;
    if (line.startsWith('unpack ')) unpacked = line.slice('unpack '.length);
    const refused = /^ng (\S+) (.*)$/s.exec(line);
    if (refused) errors.set(refused[1] ?? '', refused[2] ?? '');
  }
  return { unpacked, errors };
}

/** Encodes the commands of a push for `git receive-pack`; the pack follows them. */
export function encodeCommands(
  push: PushRequest,
  commands: readonly { readonly ref: string; readonly before: string; readonly after: string }[],
): Buffer {
  const kept = push.capabilities.filter((word) => /^(object-format=.*|atomic|quiet)$/.test(word));
  const words = ['report-status', ...kept].join(' ');
  const lines = commands.map(({ ref, before, after }, at) =>
    encodeLine(`${before} ${after} ${ref}${at === 0 ? `\0 ${words}` : ''}`),
  );
  return Buffer.concat([...push.shallow.map(encodeLine), ...lines, flush]);
}

/** Formats the reason for refusing a push as the user reads it. */
export function refusalMessage(reason: string): string {
  return `\nerror:\nerror: ${reason}\nerror:\n`;
}

const flush = Buffer.from('0000');
const maxBandBytes = 65_000;

function inBand(band: 1 | 2, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += maxBandBytes) {
    pieces.push(encodeLine(Buffer.concat([Buffer.from([band]), bytes.subarray(at, at + maxBandBytes)])));
  }
  return pieces;
}

function encodeLine(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}
