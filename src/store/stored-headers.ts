import { hash } from 'node:crypto';

/** A header of a delivery's request, by its lower-case name. `value` is absent if only the name is kept. */
export type StoredHeader = { readonly name: string; readonly value?: string };

/** The headers of a delivery's request. `leftOut` is the number beyond the limit. */
export type StoredHeaders = { readonly headers: readonly StoredHeader[]; readonly leftOut: number };

/** A header to store. A value of `uuid` or `bytes` refers to that of its delivery and is not stored twice. */
export type KeptHeader = readonly [name: string, value?: string | { readonly same: 'uuid' | 'bytes' }];

/**
 * Encodes headers as one text, one header per line. Values that differ between deliveries are omitted or refer to the
 * delivery: the deliveries of a hook have the same text, which is stored once.
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

/** Returns the number under which a text of headers is stored: 48 bits of its digest. */
export function headerSetId(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16);
}

/** Maximum number of header texts that a process knows to be stored. */
const maxKnownSets = 1_000;
/** Interval at which the date of a used text is renewed: retention deletes the others. */
const renewalMs = 86_400_000;

/** A text of headers that a delivery refers to. `isNew`: it has to be stored, or its date renewed, before that. */
export type HeaderSet = { readonly id: number; readonly isNew: boolean };

/** The header texts that this process has stored, so that a delivery of a known hook needs no statement. */
export class KnownHeaderSets {
  readonly #known = new Map<string, { readonly id: number; storedMs: number }>();

  /** Returns the number of a text, and whether it has to be stored. */
  find(text: string, now: Date): HeaderSet {
    const known = this.#known.get(text);
    const isNew = known === undefined || Math.abs(now.getTime() - known.storedMs) > renewalMs;
    return { id: known?.id ?? headerSetId(text), isNew };
  }

  /** Records that a text was stored. */
  add(text: string, id: number, now: Date): void {
    if (this.#known.size >= maxKnownSets) this.#known.clear();
    this.#known.set(text, { id, storedMs: now.getTime() });
  }

  /** Clears the known texts: a transaction was rolled back. */
  clear(): void {
    this.#known.clear();
  }
}

/** The part of the store that keeps headers of deliveries. */
export interface HeaderRows {
  /** Reads the headers of a delivery; undefined if none are kept. */
  readHeaders(id: string): Promise<StoredHeaders | undefined>;
}
