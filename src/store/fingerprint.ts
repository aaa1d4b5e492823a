import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Time during which the same body counts as a copy, because repository, organization and system hooks each send one.
 */
export const copyWindowMs = 60_000;

/**
 * Returns the dedupe mark of a delivery's content: body and Event-Type. It is a checksum, not a digest: a hit is
 * verified by comparing the bytes, which proves more than equal digests and costs nothing without a hit.
 */
export function contentFingerprint(eventType: string, body: Uint8Array): number {
  return (body.length % 2 ** 20) * 2 ** 32 + crc32(body, crc32(eventType));
}

/**
 * Returns the SHA-256 digest that identifies repeats. It covers only the body, because no signature covers the event
 * type; a body with a different event type is therefore also a repeat. Forges never send one body with two types.
 */
export function digestOfBody(body: Uint8Array): Buffer {
  return hash('sha256', body, 'buffer');
}
