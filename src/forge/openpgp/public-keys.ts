import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { createFieldReader, type FieldReader, OpenPgpError } from './packets.ts';

/** A public key, or a subkey, as its packet describes it. */
export type PgpPublicKey = {
  /** The packet without its header. */
  readonly body: Buffer;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly algorithm: number;
  /** 16 hexadecimal digits in upper case. */
  readonly keyId: string;
  /** What a signature is verified with; undefined for keys that only encrypt. */
  readonly verifier: KeyObject | undefined;
  /** By its algorithm, as Gitea says it. */
  readonly canSign: boolean;
  readonly canEncrypt: boolean;
};

/** Numbers of algorithms. Source: RFC 9580, section 9.1. */
export const algorithms = { rsa: 1, rsaEncrypt: 2, rsaSign: 3, elgamal: 16, dsa: 17, ecdh: 18, ecdsa: 19 };
export const legacyEdDsa = 22;
export const ed25519 = 27;
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

/** Curves by their object identifiers: the name in JWK, and the bytes of a coordinate. */
const curves = new Map<string, { readonly crv: string; readonly size: number }>([
  ['2a8648ce3d030107', { crv: 'P-256', size: 32 }],
  ['2b81040022', { crv: 'P-384', size: 48 }],
  ['2b81040023', { crv: 'P-521', size: 66 }],
]);
const ed25519Identifier = '2b06010401da470f01';

/** Verification takes time with the square of the length. */
const maxRsaBytes = 1024;
const minRsaBytes = 128;

/** Returns the bytes of a coordinate or half of a signature on the curve of a key. */
export function coordinateSize({ asymmetricKeyDetails }: KeyObject): number {
  const name = asymmetricKeyDetails?.namedCurve;
  return name === 'secp521r1' ? 66 : name === 'secp384r1' ? 48 : 32;
}

function jwkOf(algorithm: number, reader: FieldReader): JsonWebKey | undefined {
  switch (algorithm) {
    case algorithms.rsa:
    case algorithms.rsaSign: {
      const [modulus, exponent] = [reader.integer(), reader.integer()];
      if (modulus.length < minRsaBytes || modulus.length > maxRsaBytes || exponent.length > 4)
        throw new OpenPgpError('openpgp: RSA key of a size that is not accepted');
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

/** Returns the prefix and body of a key as signatures and fingerprints cover them. */
export function hashedKey(body: Buffer): Buffer {
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([head, body]);
}

/**
 * Reads the packet of a public key of version 4. Throws `OpenPgpError` for other versions, for DSA, and for numbers that cannot be
 * a key. Source: RFC 9580, sections 5.5.2 and 5.5.5.
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
