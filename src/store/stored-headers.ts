import { hash } from 'node:crypto';

/** Header of a delivery's request, by its lower-case name. `value` is absent if only the name is kept. */
export type StoredHeader = { readonly name: string; readonly value?: string };

/** Headers of a delivery's request. `leftOut` is the number of headers beyond the limit. */
export type StoredHeaders = { readonly headers: readonly StoredHeader[]; readonly leftOut: number };

/** Header to store. A value `{ same }` refers to the uuid or the bytes of its delivery, which are not stored twice. */
export type KeptHeader = readonly [name: string, value?: string | { readonly same: 'uuid' | 'bytes' }];

/**
 * Encodes headers as one text, one header per line. Values that differ between deliveries are omitted or refer to the
 * delivery, so that all deliveries of a hook have the same text, which is stored once.
 */
export function encodeHeaders(kept: readonly KeptHeader[], leftOut: number): string {
  let text = '';
  for (const [name, value] of kept) {
    if (value === undefined) text += `${name}\n`;
    else text += typeof value === 'string' ? `${name}:${value}\n` : `${name}=${value.same}\n`;
  }
  return leftOut === 0 ? text : `${text}:${leftOut}\n`;
}

/** Decodes the result of `encodeHeaders` for a delivery. */
export function decodeHeaders(
  text: string,
  delivery: { readonly uuid: string; readonly bytes: number },
): StoredHeaders {
  const headers: StoredHeader[] = [];
  let leftOut = 0;
  for (const line of text.split('\n')) {
    const [, name = '', sign, value = ''] = /^([^:=]+)(?:([:=])(.*))?$/.exec(line) ?? [];
    if (line.startsWith(':')) leftOut = Number(line.slice(1));
    else if (name === '') continue;
    else if (sign === undefined) headers.push({ name });
    else if (sign === ':') headers.push({ name, value });
    else headers.push({ name, value: value === 'uuid' ? delivery.uuid : String(delivery.bytes) });
  }
  return { headers, leftOut };
}

/** Returns the number under which a header text is stored: 48 bits of its digest. */
export function headerSetId(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16);
}

/** Maximum number of header texts that a process remembers as stored. */
const maxKnownSets = 1_000;
/** Interval at which the date of a used text is renewed. The retention deletes texts with older dates. */
const renewalMs = 86_400_000;

/**
 * Header text that a delivery refers to. `isNew`: the text has to be stored, or its date renewed, before the delivery.
 */
export type HeaderSet = { readonly id: number; readonly isNew: boolean };

/** Header texts that this process has stored, so that a delivery of a known hook needs no statement for them. */
export class KnownHeaderSets {
  readonly #known = new Map<string, { readonly id: number; storedMs: number }>();

  /** Returns the number of a text, and whether the text has to be stored. */
  find(text: string, now: Date): HeaderSet {
    const known = this.#known.get(text);
    const isNew = known === undefined || Math.abs(now.getTime() - known.storedMs) > renewalMs;
    return { id: known?.id ?? headerSetId(text), isNew };
  }

  /** Records that a text has been stored. */
  add(text: string, id: number, now: Date): void {
    if (this.#known.size >= maxKnownSets) this.#known.clear();
    this.#known.set(text, { id, storedMs: now.getTime() });
  }

  /** Forgets all texts, because a transaction was rolled back. */
  clear(): void {
    this.#known.clear();
  }
}

/** The part of the store that keeps the headers of deliveries. */
export interface HeaderRows {
  /** Reads the headers of a delivery; undefined if none are kept. */
  readHeaders(id: string): Promise<StoredHeaders | undefined>;
}
