import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';

/** Thrown for text or bytes that are not valid OpenPGP, or not of an accepted type. */
export class OpenPgpError extends Error {}

/** One packet: its type, and its bytes without the header. */
type Packet = { readonly tag: number; readonly body: Buffer };

/** Packet types; `signed` is a signature. */
export const packetTags = {
  signed: 2,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  userId: 13,
  subkey: 14,
};

/** Maximum size of armored text, far above that of a key with hundreds of signatures. */
const maxArmorBytes = 512 * 1024;

/**
 * Returns the bytes in the first armored block of a type (`PUBLIC KEY BLOCK`, `SIGNATURE`). The checksum is ignored, as
 * RFC 9580, section 6.1, requires. Throws `OpenPgpError` if there is no such block.
 */
export function readArmor(text: string, kind: string): Buffer {
  if (Buffer.byteLength(text) > maxArmorBytes) throw new OpenPgpError('openpgp: armored text is too long');
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  const start = lines.indexOf(`-----BEGIN PGP ${kind}-----`);
  const end = lines.indexOf(`-----END PGP ${kind}-----`, start);
  if (start < 0 || end < 0) throw new OpenPgpError(`openpgp: no armored ${kind.toLowerCase()} found`);
  const gap = lines.indexOf('', start);
  // Headers end with an empty line, which is present even without headers.
  const first = gap > start && gap < end ? gap + 1 : start + 1;
  const base64 = lines
    .slice(first, end)
    .filter((line) => !/^=[A-Za-z0-9+/]{4}$/.test(line))
    .join('');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 !== 0)
    throw new OpenPgpError('openpgp: illegal base64 data');
  return Buffer.from(base64, 'base64');
}

/** Creates a reader of consecutive fields. The reader throws `OpenPgpError` if bytes are missing. */
function createFieldReader(bytes: Buffer) {
  let at = 0;
  function take(length: number): Buffer {
    if (bytes.length - at < length) throw new OpenPgpError('openpgp: unexpected end of data');
    at += length;
    return bytes.subarray(at - length, at);
  }
  const number = (length: number) => take(length).readUIntBE(0, length);
  return {
    take,
    number,
    /** A multiprecision integer, preceded by its length in bits. */
    integer: () => take(Math.ceil(number(2) / 8)),
    rest: () => take(bytes.length - at),
    hasMore: () => at < bytes.length,
  };
}

type FieldReader = ReturnType<typeof createFieldReader>;

/** Reads a packet length in the legacy header format; packets of indeterminate length are not accepted. */
function oldLength(reader: FieldReader, kind: number): number {
  if (kind === 3) throw new OpenPgpError('openpgp: packets of indeterminate length are not accepted');
  return reader.number(2 ** kind);
}

function newLength(reader: FieldReader): number {
  const first = reader.number(1);
  if (first < 192) return first;
  if (first < 224) return ((first - 192) << 8) + reader.number(1) + 192;
  if (first < 255) throw new OpenPgpError('openpgp: packets in parts are not accepted');
  return reader.number(4);
}

/** Returns the packets in a sequence of bytes. Source: RFC 9580, section 4.2. */
export function readPackets(bytes: Buffer): Packet[] {
  const reader = createFieldReader(bytes);
  const packets: Packet[] = [];
  while (reader.hasMore()) {
    const head = reader.number(1);
    if ((head & 0x80) === 0) throw new OpenPgpError('openpgp: tag byte does not have MSB set');
    const isNew = (head & 0x40) !== 0;
    const tag = isNew ? head & 0x3f : (head >> 2) & 0x0f;
    packets.push({ tag, body: reader.take(isNew ? newLength(reader) : oldLength(reader, head & 3)) });
  }
  return packets;
}

/** Returns a packet with its header, in the new header format. */
export function writePacket({ tag, body }: Packet): Buffer {
  const { length } = body;
  const head = [0xc0 | tag];
  if (length < 192) head.push(length);
  else if (length < 8384) head.push(((length - 192) >> 8) + 192, (length - 192) & 0xff);
  else head.push(255, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff);
  return Buffer.concat([Buffer.from(head), body]);
}

/** A public key, or a subkey, as its packet describes it. */
export type PgpPublicKey = {
  /** The packet without its header. */
  readonly body: Buffer;
  /** Creation time in seconds since the epoch. */
  readonly createdAt: number;
  readonly algorithm: number;
  /** 16 hexadecimal digits in upper case. */
  readonly keyId: string;
  /** Key that verifies signatures; undefined for encryption-only keys. */
  readonly verifier: KeyObject | undefined;
  /** Whether the algorithm of the key can sign. As in Gitea, nothing else counts. */
  readonly canSign: boolean;
  readonly canEncrypt: boolean;
};

/** Algorithm ids. Source: RFC 9580, section 9.1. */
const algorithms = { rsa: 1, rsaEncrypt: 2, rsaSign: 3, elgamal: 16, dsa: 17, ecdh: 18, ecdsa: 19 };
const legacyEdDsa = 22;
const ed25519 = 27;
const [x25519, x448] = [25, 26];

const signing: ReadonlySet<number> = new Set([
  algorithms.rsa,
  algorithms.rsaSign,
  algorithms.ecdsa,
  legacyEdDsa,
  ed25519,
]);
const encrypting: ReadonlySet<number> = new Set([
  algorithms.rsa,
  algorithms.rsaEncrypt,
  algorithms.elgamal,
  algorithms.ecdh,
  x25519,
  x448,
]);

/** Curves by object identifier: the JWK name and the size of a coordinate in bytes. */
const curves = new Map<string, { readonly crv: string; readonly size: number }>([
  ['2a8648ce3d030107', { crv: 'P-256', size: 32 }],
  ['2b81040022', { crv: 'P-384', size: 48 }],
  ['2b81040023', { crv: 'P-521', size: 66 }],
]);
const ed25519Identifier = '2b06010401da470f01';

/** Maximum size of an RSA modulus: verification time grows with the square of its length. */
const maxRsaBytes = 1024;
const minRsaBytes = 128;

/** Returns the size in bytes of a coordinate on a key's curve, which is also the size of half a signature. */
function coordinateSize({ asymmetricKeyDetails }: KeyObject): number {
  const name = asymmetricKeyDetails?.namedCurve;
  return name === 'secp521r1' ? 66 : name === 'secp384r1' ? 48 : 32;
}

function jwkOf(algorithm: number, reader: FieldReader): JsonWebKey | undefined {
  switch (algorithm) {
    case algorithms.rsa:
    case algorithms.rsaSign: {
      const [modulus, exponent] = [reader.integer(), reader.integer()];
      if (modulus.length < minRsaBytes || modulus.length > maxRsaBytes || exponent.length > 4)
        throw new OpenPgpError('openpgp: the size of the RSA key is not accepted');
      return { kty: 'RSA', n: modulus.toString('base64url'), e: exponent.toString('base64url') };
    }
    case algorithms.ecdsa: {
      const curve = curves.get(reader.take(reader.number(1)).toString('hex'));
      const point = reader.integer();
      if (!curve || point[0] !== 4 || point.length !== 1 + 2 * curve.size)
        throw new OpenPgpError('openpgp: unsupported elliptic curve');
      const x = point.toString('base64url', 1, 1 + curve.size);
      return { kty: 'EC', crv: curve.crv, x, y: point.toString('base64url', 1 + curve.size) };
    }
    case legacyEdDsa: {
      const identifier = reader.take(reader.number(1)).toString('hex');
      const point = reader.integer();
      if (identifier !== ed25519Identifier || point[0] !== 0x40 || point.length !== 33)
        throw new OpenPgpError('openpgp: unsupported elliptic curve');
      return { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url', 1) };
    }
    case ed25519:
      return { kty: 'OKP', crv: 'Ed25519', x: reader.take(32).toString('base64url') };
    default:
      return undefined;
  }
}

/** Returns the prefix and body of a key, as hashed for signatures and fingerprints. */
function hashedKey(body: Buffer): Buffer {
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([head, body]);
}

/**
 * Parses a version 4 public key packet. Throws `OpenPgpError` for other versions, for DSA, and for numbers that do not
 * form a valid key. Source: RFC 9580, sections 5.5.2 and 5.5.5.
 */
export function readPublicKeyPacket(body: Buffer): PgpPublicKey {
  const reader = createFieldReader(body);
  const version = reader.number(1);
  if (version !== 4) throw new OpenPgpError(`openpgp: unsupported feature: public key version ${version}`);
  if (body.length > 0xffff) throw new OpenPgpError('openpgp: public key is too long');
  const createdAt = reader.number(4);
  const algorithm = reader.number(1);
  const canSign = signing.has(algorithm);
  if (!canSign && !encrypting.has(algorithm))
    throw new OpenPgpError(`openpgp: unsupported feature: public key algorithm ${algorithm}`);
  const jwk = jwkOf(algorithm, reader);
  const fingerprint = createHash('sha1').update(hashedKey(body)).digest();
  const keyId = fingerprint.toString('hex', 12).toUpperCase();
  const canEncrypt = encrypting.has(algorithm);
  return { body, createdAt, algorithm, keyId, verifier: jwk && keyObject(jwk), canSign, canEncrypt };
}

function keyObject(jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new OpenPgpError('openpgp: invalid public key');
  }
}

/** A version 4 signature. */
export type PgpSignature = {
  readonly type: number;
  readonly algorithm: number;
  readonly hash: number;
  /** The part of the packet that the signature covers. */
  readonly covered: Buffer;
  /** The first two bytes of the digest. */
  readonly check: Buffer;
  /** The integers of the signature, as its algorithm defines them. */
  readonly numbers: readonly Buffer[];
  readonly createdAt: number;
  /** Seconds after creation at which the signature expires; 0 for never. */
  readonly lifetime: number;
  /** Seconds after the creation of the key at which the key expires; 0 for never. */
  readonly keyLifetime: number;
  readonly isPrimaryId: boolean;
  /** Key usage flags; undefined if absent. */
  readonly keyFlags: number | undefined;
  /** Key id of the signer, in upper case; empty if absent. */
  readonly issuer: string;
  /** The signature embedded in this one: the one that a subkey makes over the primary key. */
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

/** The bit of `keyFlags` that permits signing data. */
const signsData = 0x02;

/** MD5 and RIPEMD are excluded. SHA-1 is accepted for self-signatures of a key, not for data. */
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

/** Subpackets that are read or may be ignored. Source: RFC 9580, section 5.2.3.7. */
const known = new Set([
  ...[2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 16, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 39],
]);

function numberIn(subpackets: readonly Subpacket[], type: number): number {
  const body = subpackets.find((one) => one.type === type)?.body;
  return body?.length === 4 ? body.readUInt32BE(0) : 0;
}

function issuerIn(subpackets: readonly Subpacket[]): string {
  const id = subpackets.find(({ type, body }) => type === 16 && body.length === 8)?.body;
  // The body is the key's version and its fingerprint, which ends with the key id.
  const fingerprint = subpackets.find(({ type, body }) => type === 33 && body.length === 21)?.body;
  return (id ?? fingerprint?.subarray(13))?.toString('hex').toUpperCase() ?? '';
}

/** Parses a signature packet. Throws `OpenPgpError` for versions other than 4, and for unknown critical subpackets. */
function readSignaturePacket(body: Buffer, depth = 0): PgpSignature {
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

/** Returns the signature in armored text. Throws `OpenPgpError` if there is none. */
export function readSignature(text: string): PgpSignature {
  const [packet] = readPackets(readArmor(text, 'SIGNATURE'));
  if (packet?.tag !== packetTags.signed) throw new OpenPgpError('openpgp: packet is not a signature');
  return readSignaturePacket(packet.body);
}

function padded(number: Buffer, length: number): Buffer {
  return number.length >= length ? number : Buffer.concat([Buffer.alloc(length - number.length), number]);
}

const isRsa = (algorithm: number) => algorithm === algorithms.rsa || algorithm === algorithms.rsaSign;

/** Returns whether a signature over bytes was made with a key. */
function isSignedBy(key: PgpPublicKey, signature: PgpSignature, bytes: Buffer): boolean {
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

/** Returns whether a document was signed with a key, either as bytes or as text with normalized line endings. */
export function isDocumentSignedBy(key: PgpPublicKey, signature: PgpSignature, text: string): boolean {
  if (signature.hash === sha1) return false;
  if (signature.type === signatureTypes.binary) return isSignedBy(key, signature, Buffer.from(text));
  if (signature.type !== signatureTypes.text) return false;
  return isSignedBy(key, signature, Buffer.from(text.replace(/\r?\n/g, '\r\n')));
}

/** A subkey that the primary key has certified. */
export type PgpSubkey = {
  readonly key: PgpPublicKey;
  /** Expiration time in seconds since the epoch; 0 for never. */
  readonly expiresAt: number;
  /** Whether the subkey may sign data and has a back signature that binds it to the primary key. */
  readonly isSigner: boolean;
};

/** A key with its self-certified user ids. */
export type PgpEntity = {
  readonly primary: PgpPublicKey;
  readonly expiresAt: number;
  /** E-mail addresses of user ids that are not revoked, in lower case. */
  readonly emails: readonly string[];
  readonly subkeys: readonly PgpSubkey[];
};

/** Maximum keys in one text. The number of signature verifications is limited as well: each takes time. */
const maxEntities = 20;
const maxVerifications = 2_000;

type Group = { readonly packet: Packet; readonly signatures: readonly PgpSignature[] };

/** Returns packets, each with the signatures that follow it; signatures that cannot be read are ignored. */
function groupPackets(packets: readonly Packet[]): Group[] {
  const groups: { packet: Packet; signatures: PgpSignature[] }[] = [];
  for (const packet of packets) {
    if (packet.tag !== packetTags.signed) groups.push({ packet, signatures: [] });
    else {
      const signature = tryRead(packet);
      if (signature) groups.at(-1)?.signatures.push(signature);
    }
  }
  return groups;
}

function tryRead({ body }: Packet): PgpSignature | undefined {
  try {
    return readSignaturePacket(body);
  } catch (error) {
    if (error instanceof OpenPgpError) return undefined;
    throw error;
  }
}

/** Creates a verifier for the signatures of one text. The verifier throws once it has verified too many signatures. */
function createVerifier() {
  let left = maxVerifications;
  return (key: PgpPublicKey, signature: PgpSignature | undefined, bytes: Buffer): boolean => {
    if (!signature) return false;
    // Signatures that name another key as their issuer are not verified.
    if (signature.issuer !== '' && signature.issuer !== key.keyId) return false;
    left -= 1;
    if (left < 0) throw new OpenPgpError('openpgp: too many signatures');
    return isSignedBy(key, signature, bytes);
  };
}

type Verifier = ReturnType<typeof createVerifier>;

const newest = (signatures: readonly PgpSignature[]) =>
  signatures.toSorted((one, other) => other.createdAt - one.createdAt)[0];

type CertifiedName = {
  readonly email: string;
  readonly certification: PgpSignature;
  readonly isRevoked: boolean;
};

function readIdentity(primary: PgpPublicKey, { packet, signatures }: Group, isBy: Verifier) {
  const length = Buffer.alloc(5);
  length[0] = 0xb4;
  length.writeUInt32BE(packet.body.length, 1);
  const bytes = Buffer.concat([hashedKey(primary.body), length, packet.body]);
  const own = (first: number, last: number) =>
    signatures.filter(({ type }) => type >= first && type <= last).filter((one) => isBy(primary, one, bytes));
  const certification = newest(own(0x10, 0x13));
  if (!certification) return [];
  const { certificationRevocation } = signatureTypes;
  const revoked = newest(own(certificationRevocation, certificationRevocation));
  const isRevoked = revoked !== undefined && revoked.createdAt >= certification.createdAt;
  return [{ email: emailOf(packet.body.toString('utf8')), certification, isRevoked }];
}

/** Returns the e-mail address of a user id, which has the form `Name (comment) <address>` or is the address alone. */
function emailOf(name: string): string {
  const address = /<([^<>]*)>\s*$/.exec(name)?.[1] ?? (/^\S+@\S+$/.test(name.trim()) ? name : '');
  return address.trim().toLowerCase();
}

function readSubkey(primary: PgpPublicKey, expiresAt: number, group: Group, isBy: Verifier): PgpSubkey[] {
  let key: PgpPublicKey;
  try {
    key = readPublicKeyPacket(group.packet.body);
  } catch (error) {
    // A subkey of an unsupported type does not invalidate the others.
    if (error instanceof OpenPgpError) return [];
    throw error;
  }
  const bytes = Buffer.concat([hashedKey(primary.body), hashedKey(key.body)]);
  const own = group.signatures.filter((one) => isBy(primary, one, bytes));
  const binding = newest(own.filter(({ type }) => type === signatureTypes.subkey));
  if (!binding || own.some(({ type }) => type === signatureTypes.subkeyRevocation)) return [];
  const { embedded } = binding;
  const isSigner =
    ((binding.keyFlags ?? 0) & signsData) !== 0 &&
    embedded?.type === signatureTypes.primaryKey &&
    isBy(key, embedded, bytes);
  const ownEnd = binding.keyLifetime === 0 ? 0 : key.createdAt + binding.keyLifetime;
  return [{ key, expiresAt: ownEnd || expiresAt, isSigner }];
}

function readEntity(groups: readonly Group[], isBy: Verifier): PgpEntity {
  const [head, ...rest] = groups;
  if (!head) throw new OpenPgpError('openpgp: no public key found');
  const primary = readPublicKeyPacket(head.packet.body);
  const { keyRevocation } = signatureTypes;
  const isRevoked = head.signatures.some(
    (one) => one.type === keyRevocation && isBy(primary, one, hashedKey(primary.body)),
  );
  if (isRevoked) throw new OpenPgpError('openpgp: the key is revoked');
  const identities: CertifiedName[] = rest
    .filter(({ packet }) => packet.tag === packetTags.userId)
    .flatMap((group) => readIdentity(primary, group, isBy));
  const chosen = identities.find(({ certification }) => certification.isPrimaryId) ?? identities[0];
  if (!chosen) throw new OpenPgpError('openpgp: invalid data: entity without any identities');
  const { keyLifetime } = chosen.certification;
  const expiresAt = keyLifetime === 0 ? 0 : primary.createdAt + keyLifetime;
  const subkeys = rest
    .filter(({ packet }) => packet.tag === packetTags.subkey)
    .flatMap((group) => readSubkey(primary, expiresAt, group, isBy));
  const emails = identities.filter(({ isRevoked }) => !isRevoked).map(({ email }) => email);
  return { primary, expiresAt, emails: [...new Set(emails.filter(Boolean))], subkeys };
}

/**
 * Returns the keys in armored text, each with the user ids and subkeys that have a valid signature of its primary key.
 * Throws `OpenPgpError` if there is no key, for secret keys, and for a revoked key.
 */
export function readKeyRing(text: string): readonly PgpEntity[] {
  const packets = readPackets(readArmor(text, 'PUBLIC KEY BLOCK'));
  if (packets.some(({ tag }) => tag === packetTags.secretKey || tag === packetTags.secretSubkey))
    throw new OpenPgpError('openpgp: the provided key is a private key');
  const groups = groupPackets(packets);
  const starts = groups.flatMap(({ packet }, at) => (packet.tag === packetTags.publicKey ? [at] : []));
  if (starts.length === 0) throw new OpenPgpError('openpgp: no public key found');
  if (starts.length > maxEntities) throw new OpenPgpError('openpgp: too many keys');
  const isBy = createVerifier();
  const entities = starts.map((start, at) => readEntity(groups.slice(start, starts[at + 1]), isBy));
  const byId = new Map<string, PgpEntity>();
  for (const entity of entities) {
    const { keyId } = entity.primary;
    const known = byId.get(keyId);
    byId.set(keyId, known ? mergeEntities(known, entity) : entity);
  }
  return [...byId.values()];
}

function mergeEntities(one: PgpEntity, other: PgpEntity): PgpEntity {
  const ids = new Set(one.subkeys.map(({ key }) => key.keyId));
  const subkeys = [...one.subkeys, ...other.subkeys.filter(({ key }) => !ids.has(key.keyId))];
  return { ...one, emails: [...new Set([...one.emails, ...other.emails])], subkeys };
}
