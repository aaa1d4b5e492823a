import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** New Ed25519 key of OpenPGP that can sign. */
export type PgpKey = {
  /** Key id, as 16 upper-case hexadecimal digits. */
  readonly keyId: string;
  /** Armored public key that includes the name. */
  readonly armored: string;
  /** Returns the armored signature of a document. */
  sign(document: string | Buffer): string;
};

const byte = (...values: number[]) => Buffer.from(values);

function number(value: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
}

/** Encodes an integer of any size, preceded by its length in bits. */
function integer(bytes: Buffer): Buffer {
  let from = 0;
  while (from < bytes.length && bytes[from] === 0) from += 1;
  const trimmed = bytes.subarray(from);
  const bits = trimmed.length === 0 ? 0 : trimmed.length * 8 - Math.clz32(trimmed[0] ?? 0) + 24;
  return Buffer.concat([number(bits, 2), trimmed]);
}

function packet(tag: number, body: Buffer): Buffer {
  return Buffer.concat([byte(0xc0 | tag, 255), number(body.length, 4), body]);
}

function subpacket(type: number, body: Buffer): Buffer {
  return Buffer.concat([byte(body.length + 1, type), body]);
}

function armor(kind: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN PGP ${kind}-----\n\n${lines.join('\n')}\n-----END PGP ${kind}-----\n`;
}

type Signing = {
  readonly key: KeyObject;
  readonly keyId: Buffer;
  readonly type: number;
  readonly data: Buffer;
  readonly at: number;
  readonly subpackets?: readonly Buffer[];
};

/** Encodes a signature packet of version 4 with SHA-256 (RFC 9580, section 5.2.3). */
function signaturePacket({ key, keyId, type, data, at, subpackets = [] }: Signing): Buffer {
  const hashed = Buffer.concat([subpacket(2, number(at, 4)), ...subpackets]);
  const covered = Buffer.concat([byte(4, type, 22, 8), number(hashed.length, 2), hashed]);
  const whole = Buffer.concat([data, covered, byte(4, 0xff), number(covered.length, 4)]);
  const digest = createHash('sha256').update(whole).digest();
  const halves = sign(null, digest, key);
  const unhashed = subpacket(16, keyId);
  return packet(
    2,
    Buffer.concat([
      covered,
      number(unhashed.length, 2),
      unhashed,
      digest.subarray(0, 2),
      integer(halves.subarray(0, 32)),
      integer(halves.subarray(32)),
    ]),
  );
}

type PgpKeyOptions = {
  /** User id, as `Name <address>`. */
  readonly name: string;
  /** Time of creation, in seconds since the epoch. */
  readonly at?: number;
  /** Seconds until the key expires. */
  readonly lifetime?: number;
};

/** Creates a key without subkeys that certifies its own name. */
export function makePgpKey({
  name,
  at = Math.floor(Date.now() / 1000) - 60,
  lifetime,
}: PgpKeyOptions): PgpKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const curve = Buffer.from('092b06010401da470f01', 'hex');
  const body = Buffer.concat([
    byte(4),
    number(at, 4),
    byte(22),
    curve,
    integer(Buffer.concat([byte(0x40), point])),
  ]);
  const hashedKey = Buffer.concat([byte(0x99), number(body.length, 2), body]);
  const keyId = createHash('sha1').update(hashedKey).digest().subarray(12);
  const id = Buffer.from(name);
  const data = Buffer.concat([hashedKey, byte(0xb4), number(id.length, 4), id]);
  const flags = [subpacket(27, byte(3)), ...(lifetime ? [subpacket(9, number(lifetime, 4))] : [])];
  const self = signaturePacket({ key: privateKey, keyId, type: 0x13, data, at, subpackets: flags });
  const ring = Buffer.concat([packet(6, body), packet(13, id), self]);
  return {
    keyId: keyId.toString('hex').toUpperCase(),
    armored: armor('PUBLIC KEY BLOCK', ring),
    sign(document) {
      const now = Math.floor(Date.now() / 1000);
      const signing = { key: privateKey, keyId, type: 0, data: Buffer.from(document), at: now };
      return armor('SIGNATURE', signaturePacket(signing));
    },
  };
}

/** Returns a new Ed25519 public key as an OpenSSH line. */
export function makePublicKey(comment = 'ada@example.com'): string {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const fields = [Buffer.from('ssh-ed25519'), Buffer.from(x ?? '', 'base64url')];
  const blob = fields.flatMap((field) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(field.length);
    return [length, field];
  });
  return `ssh-ed25519 ${Buffer.concat(blob).toString('base64')} ${comment}`;
}
