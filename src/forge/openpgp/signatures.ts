import { createHash, verify } from 'node:crypto';
import { createFieldReader, OpenPgpError, packetTags, readArmor, readPackets } from './packets.ts';
import { algorithms, coordinateSize, ed25519, legacyEdDsa, type PgpPublicKey } from './public-keys.ts';

/** A signature of version 4. */
export type PgpSignature = {
  readonly type: number;
  readonly algorithm: number;
  readonly hash: number;
  /** The part of the packet that the signature covers. */
  readonly covered: Buffer;
  /** The first two bytes of the digest. */
  readonly check: Buffer;
  /** The numbers of the signature, as the algorithm has them. */
  readonly numbers: readonly Buffer[];
  readonly createdAt: number;
  /** Seconds after creation at which the signature ends; 0 for never. */
  readonly lifetime: number;
  /** Seconds after the creation of the key at which the key ends; 0 for never. */
  readonly keyLifetime: number;
  readonly isPrimaryId: boolean;
  /** Bits of what the key is for; undefined where nothing is said. */
  readonly keyFlags: number | undefined;
  /** Key id of the signer, in upper case; empty where nothing is said. */
  readonly issuer: string;
  /** A signature within this one: that of a subkey on the primary key. */
  readonly embedded: PgpSignature | undefined;
};

export const signatureTypes = {
  binary: 0x00,
  text: 0x01,
  subkey: 0x18,
  primaryKey: 0x19,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
  certificationRevocation: 0x30,
};

/** The bit of `keyFlags` for signatures of data. */
export const signsData = 0x02;

/** MD5 and RIPEMD are left out. SHA-1 is accepted for what a key says of itself, not for data. */
const hashes = new Map([
  [2, 'sha1'],
  [8, 'sha256'],
  [9, 'sha384'],
  [10, 'sha512'],
  [11, 'sha224'],
]);
const sha1 = 2;

type Subpacket = { readonly type: number; readonly isCritical: boolean; readonly body: Buffer };

function readSubpackets(bytes: Buffer): Subpacket[] {
  const reader = createFieldReader(bytes);
  const found: Subpacket[] = [];
  while (reader.hasMore()) {
    const first = reader.number(1);
    const length =
      first < 192 ? first : first < 255 ? ((first - 192) << 8) + reader.number(1) + 192 : reader.number(4);
    const [head = 0, ...rest] = [reader.number(1), reader.take(Math.max(0, length - 1))] as const;
    found.push({ type: head & 0x7f, isCritical: (head & 0x80) !== 0, body: rest[0] });
  }
  return found;
}

/** Subpackets that are read or may be passed over. Source: RFC 9580, section 5.2.3.7. */
const known = new Set([
  ...[2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 16, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 39],
]);

function numberIn(subpackets: readonly Subpacket[], type: number): number {
  const body = subpackets.find((one) => one.type === type)?.body;
  return body?.length === 4 ? body.readUInt32BE(0) : 0;
}

function issuerIn(subpackets: readonly Subpacket[]): string {
  const id = subpackets.find(({ type, body }) => type === 16 && body.length === 8)?.body;
  // The version of the key, and its fingerprint, whose end is the key id.
  const fingerprint = subpackets.find(({ type, body }) => type === 33 && body.length === 21)?.body;
  return (id ?? fingerprint?.subarray(13))?.toString('hex').toUpperCase() ?? '';
}

/** Reads the packet of a signature. Throws `OpenPgpError` for other versions than 4, and for critical parts that are unknown. */
export function readSignaturePacket(body: Buffer, depth = 0): PgpSignature {
  const reader = createFieldReader(body);
  const version = reader.number(1);
  if (version !== 4) throw new OpenPgpError(`openpgp: unsupported feature: signature version ${version}`);
  const [type, algorithm, hash] = [reader.number(1), reader.number(1), reader.number(1)];
  const hashedBytes = reader.take(reader.number(2));
  const covered = body.subarray(0, 6 + hashedBytes.length);
  const hashed = readSubpackets(hashedBytes);
  const unhashed = readSubpackets(reader.take(reader.number(2)));
  if (hashed.some((one) => one.isCritical && !known.has(one.type)))
    throw new OpenPgpError('openpgp: unsupported feature: unknown critical signature subpacket');
  const check = reader.take(2);
  const numbers: Buffer[] = [];
  if (algorithm === ed25519) numbers.push(reader.take(64));
  else while (reader.hasMore()) numbers.push(reader.integer());
  const inner = [...hashed, ...unhashed].find((one) => one.type === 32)?.body;
  return {
    type,
    algorithm,
    hash,
    covered,
    check,
    numbers,
    createdAt: numberIn(hashed, 2),
    lifetime: numberIn(hashed, 3),
    keyLifetime: numberIn(hashed, 9),
    isPrimaryId: hashed.some((one) => one.type === 25 && one.body[0] === 1),
    keyFlags: hashed.find((one) => one.type === 27)?.body[0],
    issuer: issuerIn([...hashed, ...unhashed]),
    embedded: inner && depth === 0 ? readSignaturePacket(inner, depth + 1) : undefined,
  };
}

/** Returns the signature in an armored text. Throws `OpenPgpError` if there is none. */
export function readSignature(text: string): PgpSignature {
  const [packet] = readPackets(readArmor(text, 'SIGNATURE'));
  if (packet?.tag !== packetTags.signed) throw new OpenPgpError('openpgp: packet is not a signature');
  return readSignaturePacket(packet.body);
}

function padded(number: Buffer, length: number): Buffer {
  return number.length >= length ? number : Buffer.concat([Buffer.alloc(length - number.length), number]);
}

const isRsa = (algorithm: number) => algorithm === algorithms.rsa || algorithm === algorithms.rsaSign;

/** Returns whether a key made a signature over bytes. */
export function isSignedBy(key: PgpPublicKey, signature: PgpSignature, bytes: Buffer): boolean {
  const { algorithm, numbers, covered } = signature;
  const name = hashes.get(signature.hash);
  const isSameKind = algorithm === key.algorithm || (isRsa(algorithm) && isRsa(key.algorithm));
  if (!key.verifier || name === undefined || !isSameKind) return false;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(covered.length);
  const whole = Buffer.concat([bytes, covered, Buffer.from([4, 0xff]), length]);
  const digest = createHash(name).update(whole).digest();
  if (!digest.subarray(0, 2).equals(signature.check)) return false;
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = numbers;
  if (isRsa(algorithm)) {
    const size = (key.verifier.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
    return verify(name, whole, key.verifier, padded(first, Math.ceil(size)));
  }
  if (algorithm === ed25519) return verify(null, digest, key.verifier, first);
  const size = coordinateSize(key.verifier);
  const halves = Buffer.concat([padded(first, size), padded(second, size)]);
  if (algorithm === legacyEdDsa) return verify(null, digest, key.verifier, halves);
  return verify(name, whole, { key: key.verifier, dsaEncoding: 'ieee-p1363' }, halves);
}

/** Returns whether a key made a signature over a document, as its bytes or as a text whose line ends do not count. */
export function isDocumentSignedBy(key: PgpPublicKey, signature: PgpSignature, text: string): boolean {
  if (signature.hash === sha1) return false;
  if (signature.type === signatureTypes.binary) return isSignedBy(key, signature, Buffer.from(text));
  if (signature.type !== signatureTypes.text) return false;
  return isSignedBy(key, signature, Buffer.from(text.replace(/\r?\n/g, '\r\n')));
}
