import type { PushRequest } from './push-request.ts';

/** Outcome of one command of a push. */
export type CommandStatus = {
  readonly ref: string;
  /** Why it was refused; absent: it was taken. */
  readonly error?: string | undefined;
  /** The ref that was moved in place of the named one. */
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
  /** `ok`, or what failed. */
  readonly unpacked: string;
  readonly statuses: readonly CommandStatus[];
  /** Text for the person, which git shows behind `remote:`. */
  readonly message: string;
};

/** Returns the answer to a push, in the form that its client reads. */
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

/** Returns an answer of git with a message for the person at its end; without side bands there is no place for one. */
export function appendMessage(push: PushRequest, answer: Buffer, message: string): Buffer {
  const isBanded = push.capabilities.includes('side-band-64k') && answer.subarray(-4).equals(flush);
  if (message === '' || !isBanded) return answer;
  return Buffer.concat([answer.subarray(0, -4), ...inBand(2, Buffer.from(message)), flush]);
}

/** Reads the answer of `git receive-pack` that was asked for `report-status` alone. */
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

/** Returns the commands of a push as `git receive-pack` reads them, up to where the pack follows. */
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

/** Returns the reason of a refused push as the person at the other end reads it. */
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
