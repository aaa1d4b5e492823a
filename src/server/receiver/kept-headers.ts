import { encodeHeaders, type KeptHeader } from '../../store/stored-headers.ts';

/** Headers whose values are kept; those of all others may be secrets, or name machines behind a proxy. */
const shown: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
  'user-agent',
  ...['forgejo', 'gitea', 'gogs', 'github'].flatMap((forge) =>
    [
      'delivery',
      'event',
      'event-type',
      'hook-id',
      'hook-installation-target-id',
      'hook-installation-target-type',
    ].map((suffix) => `x-${forge}-${suffix}`),
  ),
]);

const maxHeaders = 64;
const maxNameLength = 64;
/** Printable and of limited length. */
const plainValue = /^[\x20-\x7e]{0,200}$/;

/** What a value is compared with in a request of known headers; undefined: it is not stored, whatever it is. */
type Expected = string | { readonly same: 'uuid' | 'bytes' } | undefined;

/** Headers as they came before, name and value in turn, and the text that is kept of them. */
type KnownHeaders = {
  readonly names: readonly (string | undefined)[];
  readonly expected: readonly Expected[];
  readonly text: string;
};

type HeaderOwner = { readonly uuid: string; readonly eventType: string; readonly bytes: number };

/** Event types of which the headers of the latest delivery are remembered. */
const maxKnownTypes = 256;

/**
 * Creates the function that returns what is kept of a delivery's headers, as the store keeps it: values of headers that every
 * webhook has, and of all others the name alone. `authorization`, signatures and cookies are among these. It takes headers as
 * they came, name and value in turn. A forge sends the same ones with every delivery of a kind: these are compared, not read again.
 */
export function createKeptHeaders(): (rawHeaders: readonly string[], delivery: HeaderOwner) => string {
  const known = new Map<string, KnownHeaders>();
  return (rawHeaders, delivery) => {
    const before = known.get(delivery.eventType);
    if (before !== undefined && areKnown(rawHeaders, before, delivery)) return before.text;
    const read = readHeaders(rawHeaders, delivery);
    if (known.size >= maxKnownTypes) known.clear();
    known.set(delivery.eventType, read);
    return read.text;
  };
}

function areKnown(rawHeaders: readonly string[], known: KnownHeaders, { uuid, bytes }: HeaderOwner): boolean {
  if (rawHeaders.length !== known.names.length * 2) return false;
  for (let at = 0; at < known.names.length; at += 1) {
    if (rawHeaders[2 * at] !== known.names[at]) return false;
    const expected = known.expected[at];
    if (expected === undefined) continue;
    const value = rawHeaders[2 * at + 1];
    if (typeof expected === 'string') {
      if (value !== expected) return false;
    } else if (expected.same === 'uuid' ? value !== uuid : Number(value) !== bytes) return false;
  }
  return true;
}

function readHeaders(rawHeaders: readonly string[], delivery: HeaderOwner): KnownHeaders {
  const kept: KeptHeader[] = [];
  const names: (string | undefined)[] = [];
  const expected: Expected[] = [];
  let leftOut = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [given = '', value = ''] = rawHeaders.slice(at, at + 2);
    const name = given.toLowerCase();
    const isLeftOut = kept.length === maxHeaders || name.length > maxNameLength;
    const header = keptHeader(name, value, delivery);
    if (isLeftOut) leftOut += 1;
    else kept.push(header);
    // A value that is not stored for what it is may be another one the next time.
    const isOdd = isLeftOut || (shown.has(name) && header.length === 1);
    names.push(isOdd ? undefined : given);
    expected.push(header[1]);
  }
  return { names, expected, text: encodeHeaders(kept, leftOut) };
}

function keptHeader(name: string, value: string, { uuid, bytes }: HeaderOwner): KeptHeader {
  if (!shown.has(name)) return [name];
  if (name === 'content-length') return value === String(bytes) ? [name, { same: 'bytes' }] : [name];
  if (value === uuid) return [name, { same: 'uuid' }];
  return plainValue.test(value) ? [name, value] : [name];
}
