import { hash } from 'node:crypto';

/** A header of a delivery's request, by its name in lower case. `value` is absent where only the name is kept. */
export type StoredHeader = { readonly name: string; readonly value?: string };

/** The headers of a delivery's request. `leftOut` are those beyond the limit. */
export type StoredHeaders = { readonly headers: readonly StoredHeader[]; readonly leftOut: number };

/** A header that is to be stored. A value of `uuid` or `bytes` is that of its delivery, and is not stored twice. */
export type KeptHeader = readonly [name: string, value?: string | { readonly same: 'uuid' | 'bytes' }];

/**
 * Writes headers as one text, a header a line. What differs from delivery to delivery is left out or refers to the delivery: the
 * deliveries of a hook have the same text, which is stored once.
 */
export function encodeHeaders(kept: readonly KeptHeader[], leftOut: number): string {
  let text = '';
  for (const [name, value] of kept) {
    if (value === undefined) text += `${name}\n`;
    else text += typeof value === 'string' ? `${name}:${value}\n` : `${name}=${value.same}\n`;
  }
  return leftOut === 0 ? text : `${text}:${leftOut}\n`;
}

/** Reads what `encodeHeaders` wrote, for a delivery. */
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

/** Returns the number by which a text of headers is stored: 48 bits of its digest. */
export function headerSetId(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16);
}

/** Texts of headers that a process knows to be stored. */
const maxKnownSets = 1_000;
/** A text that is in use is dated anew this often: retention deletes the others. */
const renewalMs = 86_400_000;

/** A text of headers that a delivery refers to. `isNew`: it has to be stored, or dated anew, before that. */
export type HeaderSet = { readonly id: number; readonly isNew: boolean };

/** The texts of headers that this process has stored, so that a delivery of a known hook costs no statement. */
export class KnownHeaderSets {
  readonly #known = new Map<string, { readonly id: number; storedMs: number }>();

  /** Returns the number of a text, and whether it has to be stored. */
  find(text: string, now: Date): HeaderSet {
    const known = this.#known.get(text);
    const isNew = known === undefined || Math.abs(now.getTime() - known.storedMs) > renewalMs;
    return { id: known?.id ?? headerSetId(text), isNew };
  }

  /** Notes that a text was stored. */
  add(text: string, id: number, now: Date): void {
    if (this.#known.size >= maxKnownSets) this.#known.clear();
    this.#known.set(text, { id, storedMs: now.getTime() });
  }

  /** Forgets everything: a transaction was rolled back. */
  clear(): void {
    this.#known.clear();
  }
}

/** The part of the store that keeps headers of deliveries. */
export interface HeaderRows {
  /** Reads the headers that a delivery came with; undefined where none are kept. */
  readHeaders(id: string): Promise<StoredHeaders | undefined>;
}
