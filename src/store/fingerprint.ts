import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Time during which the same body counts as a copy (repository, organization and system hooks send one each). */
export const copyWindowMs = 60_000;

/**
 * Returns the dedupe mark of a delivery's uuid: the first 52 bits of a hexadecimal uuid, or for any other text its
 * checksum and length.
 */
export function uuidFingerprint(uuid: string): number {
  const digits = uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 15);
  if (/^[0-9a-f]{13}$/i.test(digits)) return Number.parseInt(digits, 16);
  return combine(crc32(uuid), uuid.length);
}

/**
 * Returns the dedupe mark of a delivery's content: body and Event-Type. It is a checksum, not a digest: a hit is
 * verified by comparing the bytes, which proves more than equal digests and costs nothing without a hit.
 */
export function contentFingerprint(eventType: string, body: Uint8Array): number {
  return combine(crc32(body, crc32(eventType)), body.length);
}

/**
 * Returns the SHA-256 digest that identifies repeats. It covers only the body: no signature covers the event type, so a
 * body with another event type is a repeat as well. Forges never send one body with two types.
 */
export function digestOfBody(body: Uint8Array): Buffer {
  return hash('sha256', body, 'buffer');
}

function combine(checksum: number, length: number): number {
  return (length % 2 ** 20) * 2 ** 32 + checksum;
}
