import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';
import { ForgeProblem } from '../platform/errors.ts';
import type { Seconds } from '../platform/rows.ts';

/** A public key of an account or, if `user_id` is null, of deploy keys. `content` is the OpenSSH line. */
export type PublicKeyRow = {
  readonly id: number;
  readonly user_id: number | null;
  readonly name: string;
  readonly fingerprint: string;
  readonly content: string;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** A deploy key: a public key and its access to one repository. */
export type DeployKeyRow = {
  readonly id: number;
  readonly key_id: number;
  readonly repo_id: number;
  readonly name: string;
  readonly is_read_only: number;
  readonly created_at: Seconds;
  readonly fingerprint: string;
  readonly content: string;
};

/** An OpenSSH public key. `line` is stored and shown: type, base64 and comment on one line. */
export type SshPublicKey = KeyBlob & {
  readonly line: string;
  readonly comment: string;
  /** `SHA256:` and base64 without padding, as `ssh-keygen -l` prints it; equal keys have equal fingerprints. */
  readonly fingerprint: string;
};

const maxBase64Bytes = Math.floor((4096 * 4) / 3);
/** Maximum size of a key text: the base64, and 4 KiB for header, footer and comment. */
const maxContentBytes = maxBase64Bytes + 4 * 1024;

/**
 * Minimum key sizes in bits, by family; a family that is not listed is refused. The minimum for RSA is one bit below
 * 3072, because the modulus may start with a zero bit.
 */
const minimumBits = new Map<KeyFamily, number>([
  ['ed25519', 256],
  ['ed25519-sk', 256],
  ['ecdsa', 256],
  ['ecdsa-sk', 256],
  ['rsa', 3071],
]);

const ssh2Start = '---- BEGIN SSH2 PUBLIC KEY ----';

type KeyText = { readonly type: string; readonly base64: string; readonly comment: string };

/** Returns the bytes of strict base64: `Buffer` alone would skip invalid characters. */
function decodeBase64(base64: string): Buffer {
  if (base64.length > maxBase64Bytes) throw new PublicKeyError('SSH public key base64 is too long');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) {
    throw new PublicKeyError('invalid key format: illegal base64 data');
  }
  return Buffer.from(base64, 'base64');
}

/** Parses the SSH2 format (RFC 4716), skipping its headers: lines with a colon, and their continuation lines. */
function readSsh2(content: string): KeyText {
  let base64 = '';
  let continues = false;
  for (const line of content.split(/\r\n|\r|\n/)) {
    if (continues || /[:-]/.test(line)) continues = line.endsWith('\\');
    else base64 += line;
  }
  return { type: typeOfBlob(decodeBase64(base64)), base64, comment: '' };
}

const field = (bytes: Buffer | string) => {
  const value = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([length, value]);
};
const member = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64url');
/**
 * Encodes a positive number. Adds a zero byte if the first bit is 1, because the number would be negative otherwise.
 */
const number = (bytes: Buffer) =>
  field((bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes);

/** Returns the OpenSSH bytes of a DER key: SubjectPublicKeyInfo, or RSAPublicKey of PKCS #1. */
function blobOfDer(der: Buffer): Buffer {
  for (const type of ['spki', 'pkcs1'] as const) {
    let jwk: JsonWebKey;
    try {
      jwk = createPublicKey({ key: der, format: 'der', type }).export({ format: 'jwk' });
    } catch {
      continue;
    }
    if (jwk.kty === 'RSA')
      return Buffer.concat([field('ssh-rsa'), number(member(jwk.e)), number(member(jwk.n))]);
    if (jwk.crv === 'Ed25519') return Buffer.concat([field('ssh-ed25519'), field(member(jwk.x))]);
    const curve = /^P-(256|384|521)$/.exec(jwk.crv ?? '')?.[1];
    if (curve !== undefined) {
      const point = Buffer.concat([Buffer.from([4]), member(jwk.x), member(jwk.y)]);
      return Buffer.concat([field(`ecdsa-sha2-nistp${curve}`), field(`nistp${curve}`), field(point)]);
    }
    throw new PublicKeyError('unable to convert to ssh public key: ssh: unsupported key type');
  }
  throw new PublicKeyError('failed to parse DER encoded public key as either PKIX or PEM RSA Key');
}

function readPem(content: string): KeyText {
  const lines = content.split(/\r\n|\r|\n/);
  const start = lines.findIndex((line) => /^-----BEGIN [^-]+-----$/.test(line));
  const name = lines[start]?.slice('-----BEGIN '.length, -'-----'.length);
  const end = lines.indexOf(`-----END ${name}-----`, start);
  if (start < 0 || end < 0) throw new PublicKeyError('failed to parse PEM block containing the public key');
  if (name?.includes('PRIVATE')) throw new PublicKeyError('the provided key is a private key');
  const blob = blobOfDer(decodeBase64(lines.slice(start + 1, end).join('')));
  return { type: typeOfBlob(blob), base64: blob.toString('base64'), comment: '' };
}

/** Parses `type base64 comment`; the type may be absent. Removes line breaks, which terminals insert in long lines. */
function readLine(content: string): KeyText {
  const [first = '', second, ...comment] = content.replace(/\r?\n/g, '').split(' ');
  const base64 = second ?? first;
  const type = typeOfBlob(decodeBase64(base64));
  if (second !== undefined && first !== type) {
    throw new PublicKeyError(`key type and content does not match: ${first} - ${type}`);
  }
  return { type, base64, comment: comment.join(' ') };
}

function readKeyText(text: string): KeyText {
  if (Buffer.byteLength(text) > maxContentBytes)
    throw new PublicKeyError('SSH public key content is too long');
  const content = text.trim();
  if (content.startsWith(ssh2Start)) return readSsh2(content);
  return content.includes('-----BEGIN') ? readPem(content) : readLine(content);
}

function readPublicKey(text: string): SshPublicKey {
  const { type, base64, comment } = readKeyText(text);
  if (type.endsWith('-cert-v01@openssh.com')) {
    throw new PublicKeyError(`unsupported key length detection for type: ${type}`);
  }
  const bytes = decodeBase64(base64);
  const key = readKeyBlob(bytes);
  const least = minimumBits.get(key.family);
  if (least === undefined) throw new PublicKeyError(`key type is not allowed: ${key.family}`);
  if (key.bits < least) throw new PublicKeyError(`key length is not enough: got ${key.bits}, needs ${least}`);
  const line = `${type} ${base64} ${comment}`.trim();
  if (/[\r\n]/.test(line)) throw new PublicKeyError('only a single line with a single key please');
  const digest = createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '');
  return { ...key, line, comment: comment.trim(), fingerprint: `SHA256:${digest}` };
}

/**
 * Returns the public key in a text: an OpenSSH line, the SSH2 format, or PEM. Ends the request with 422 and the reason
 * if there is none, if it is a private key or a certificate, or if its type or size is not accepted (DSA; RSA below
 * 3071 bits). Source: models/asymkey/ssh_key_parse.go CheckPublicKeyString.
 */
export function parsePublicKey(text: string): SshPublicKey {
  try {
    return readPublicKey(text);
  } catch (error) {
    if (error instanceof PublicKeyError) throw new ForgeProblem(422, `Invalid key content: ${error.message}`);
    throw error;
  }
}

/** Properties of a key read from its bytes: type, size, and the family that determines the minimum size. */
type KeyBlob = { readonly type: string; readonly family: KeyFamily; readonly bits: number };

type KeyFamily = 'rsa' | 'dsa' | 'ecdsa' | 'ed25519' | 'ecdsa-sk' | 'ed25519-sk';

/** Thrown if a text or bytes are not a public key. */
class PublicKeyError extends Error {}

/** Maximum length of an RSA modulus: verification time grows with the square of the length. */
const maxRsaBits = 8192;

const curves = new Map([
  ['nistp256', { crv: 'P-256', bits: 256 }],
  ['nistp384', { crv: 'P-384', bits: 384 }],
  ['nistp521', { crv: 'P-521', bits: 521 }],
]);

/** Reads fields with a 32-bit length prefix (RFC 4251, section 5). */
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

/** Returns the key type, which is the first field. Throws `PublicKeyError` if there is none. */
function typeOfBlob(bytes: Buffer): string {
  return createReader(bytes).next().toString('latin1');
}

/** Reads a positive number. A first byte above 127 means a negative number, which is invalid in a key. */
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

/**
 * Reads the curve and the point. Refuses a point that is not on the curve, because such a point lets its sender learn
 * the other party's secret.
 */
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

/** Reads the fields after the type. The last field of a security key (FIDO) is its application. */
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
 * Returns the type and size of a key from its bytes (RFC 4253, section 6.6; RFC 5656; RFC 8709; PROTOCOL.u2f of
 * OpenSSH). Throws `PublicKeyError` if the bytes are not a key, if trailing bytes follow, or if the numbers cannot
 * belong to a key.
 */
function readKeyBlob(bytes: Buffer): KeyBlob {
  const reader = createReader(bytes);
  const type = reader.next().toString('latin1');
  const members = readMembers(reader, type);
  if (!reader.isAtEnd()) throw new PublicKeyError('ssh: trailing junk in public key');
  return { type, ...members };
}
