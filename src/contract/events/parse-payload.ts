import { isUtf8 } from 'node:buffer';
import secureJson from 'secure-json-parse';
import { messageOf, ReeveError } from '../../platform/errors.ts';

/**
 * Maximum nesting depth of a payload. Real payloads stay below ten; a million nested brackets can be parsed, but
 * overflow the stack in later code.
 */
const maxDepth = 64;

/**
 * Parses the bytes of a delivery as JSON. Throws `delivery-malformed` if the bytes are not UTF-8 or not JSON, are
 * nested deeper than 64, or contain keys that reach a prototype (`__proto__`, `constructor.prototype`).
 */
export function parsePayload(body: Uint8Array): unknown {
  if (!isUtf8(body)) throw new ReeveError('delivery-malformed', 'the body is not UTF-8');
  // Checked before parsing: the parser supports any depth, but later code does not.
  if (depthOf(body) > maxDepth) {
    throw new ReeveError('delivery-malformed', `the body is nested deeper than ${maxDepth}`);
  }
  try {
    return secureJson.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch (error) {
    throw new ReeveError('delivery-malformed', `the body is not acceptable JSON: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** Returns the nesting depth of brackets outside strings, without recursion. Also works for invalid JSON. */
function depthOf(body: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === quote) {
      at = endOfString(body, at + 1);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
  }
  return deepest;
}

/** Returns the position of the end of the string that begins before `from`. */
function endOfString(body: Uint8Array, from: number): number {
  let end = body.indexOf(quote, from);
  while (end !== -1) {
    let slashes = 0;
    while (end - slashes > from && body[end - slashes - 1] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = body.indexOf(quote, end + 1);
  }
  return body.length;
}
