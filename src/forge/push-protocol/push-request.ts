import { open } from 'node:fs/promises';
import { ForgeProblem } from '../core/errors.ts';
import { isObjectId, isZeroId } from '../git/names.ts';
import type { RefChange } from '../git/refs.ts';

/** A push as it came in: its commands, what its client can read, and where its pack starts. */
export type PushRequest = {
  readonly changes: readonly RefChange[];
  readonly capabilities: readonly string[];
  /** What stands before the commands: the boundaries of a shallow clone. */
  readonly shallow: readonly string[];
  /** Push options in the order given, each `key=value` or `key`. */
  readonly options: readonly string[];
  /** Undefined: nothing but removals, so no pack follows. */
  readonly packAt: number | undefined;
};

/** More commands than any person's push has; the rest of a body is never read into memory. */
const maxCommandBytes = 4 * 1024 * 1024;

/** Reads what a push asks for from the body of its request. Ends the request with 400 where that cannot be read. */
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
    // A signed push, which is never advertised, would hide its commands in another form.
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
 * Returns whether the client of a push can do something. Git reads a word and a word with a value alike: read in another way, the pack
 * would start at another place here than in git.
 */
export function hasCapability({ capabilities }: Pick<PushRequest, 'capabilities'>, name: string): boolean {
  return capabilities.some((word) => word === name || word.startsWith(`${name}=`));
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
