import { createPublicKey, type JsonWebKey } from 'node:crypto';

/** A key as its bytes describe it: the family that minimum sizes are given for, and its size. */
export type KeyBlob = { readonly type: string; readonly family: KeyFamily; readonly bits: number };

export type KeyFamily = 'rsa' | 'dsa' | 'ecdsa' | 'ed25519' | 'ecdsa-sk' | 'ed25519-sk';

/** Thrown where text or bytes are not a public key. */
export class PublicKeyError extends Error {}

/** The largest RSA modulus: verification takes time with the square of its length. */
const maxRsaBits = 8192;

const curves = new Map([
  ['nistp256', { crv: 'P-256', bits: 256 }],
  ['nistp384', { crv: 'P-384', bits: 384 }],
  ['nistp521', { crv: 'P-521', bits: 521 }],
]);

/** Reads fields with a length of 32 bits before them (RFC 4251, section 5). */
function createReader(bytes: Buffer) {
  let at = 0;
  function next(): Buffer {
    if (bytes.length - at < 4) throw new PublicKeyError('ssh: short read');
    const length = bytes.readUInt32BE(at);
    if (bytes.length - at - 4 < length) throw new PublicKeyError('ssh: short read');
    at += 4 + length;
    return bytes.subarray(at - length, at);
  }
  return { next, isAtEnd: () => at === bytes.length };
}

type Reader = ReturnType<typeof createReader>;

/** Returns the type that the first field of a key names. Throws `PublicKeyError` if there is none. */
export function typeOfBlob(bytes: Buffer): string {
  return createReader(bytes).next().toString('latin1');
}

/** Reads a positive number. A first byte above 127 makes the number negative, which no member of a key is. */
function readNumber(reader: Reader): bigint {
  const bytes = reader.next();
  if ((bytes[0] ?? 0) > 127) throw new PublicKeyError('ssh: negative number');
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`);
}

const bitsOf = (number: bigint) => (number === 0n ? 0 : number.toString(2).length);

function readRsa(reader: Reader): number {
  const exponent = readNumber(reader);
  const bits = bitsOf(readNumber(reader));
  if (bits > maxRsaBits) throw new PublicKeyError('ssh: rsa modulus too large');
  if (bitsOf(exponent) > 24) throw new PublicKeyError('ssh: exponent too large');
  if (exponent < 3n || exponent % 2n === 0n) throw new PublicKeyError('ssh: incorrect exponent');
  return bits;
}

/** Reads curve and point. A point that is not on the curve would let its sender learn the secret of the other side. */
function readPoint(reader: Reader, expected: string): number {
  const name = reader.next().toString('latin1');
  const curve = curves.get(name);
  const point = reader.next();
  if (curve === undefined || name !== expected) throw new PublicKeyError('ssh: unsupported curve');
  const size = Math.ceil(curve.bits / 8);
  if (point[0] !== 4 || point.length !== 1 + 2 * size) throw new PublicKeyError('ssh: invalid curve point');
  const x = point.toString('base64url', 1, 1 + size);
  const y = point.toString('base64url', 1 + size);
  const key: JsonWebKey = { kty: 'EC', crv: curve.crv, x, y };
  try {
    createPublicKey({ key, format: 'jwk' });
  } catch {
    throw new PublicKeyError('ssh: invalid curve point');
  }
  return curve.bits;
}

function readEd25519(reader: Reader): number {
  const { length } = reader.next();
  if (length !== 32) throw new PublicKeyError(`invalid size ${length} for Ed25519 public key`);
  return 256;
}

/** Reads the members after the type. A key of a security key ends with the application that it is for. */
function readMembers(reader: Reader, type: string): Omit<KeyBlob, 'type'> {
  const curve = /^ecdsa-sha2-(nistp\d+)$/.exec(type)?.[1];
  if (curve !== undefined) return { family: 'ecdsa', bits: readPoint(reader, curve) };
  switch (type) {
    case 'ssh-rsa':
      return { family: 'rsa', bits: readRsa(reader) };
    case 'ssh-dss': {
      const [p] = [readNumber(reader), readNumber(reader), readNumber(reader), readNumber(reader)];
      return { family: 'dsa', bits: bitsOf(p ?? 0n) };
    }
    case 'ssh-ed25519':
      return { family: 'ed25519', bits: readEd25519(reader) };
    case 'sk-ssh-ed25519@openssh.com': {
      const bits = readEd25519(reader);
      reader.next();
      return { family: 'ed25519-sk', bits };
    }
    case 'sk-ecdsa-sha2-nistp256@openssh.com': {
      const bits = readPoint(reader, 'nistp256');
      reader.next();
      return { family: 'ecdsa-sk', bits };
    }
  }
  throw new PublicKeyError(`ssh: unknown key algorithm: ${type}`);
}

/**
 * Returns type and size of a key by its bytes (RFC 4253, section 6.6; RFC 5656; RFC 8709; PROTOCOL.u2f of OpenSSH).
 * Throws `PublicKeyError` if they are no key, if bytes follow it, or if its numbers cannot be those of a key.
 */
export function readKeyBlob(bytes: Buffer): KeyBlob {
  const reader = createReader(bytes);
  const type = reader.next().toString('latin1');
  const members = readMembers(reader, type);
  if (!reader.isAtEnd()) throw new PublicKeyError('ssh: trailing junk in public key');
  return { type, ...members };
}
