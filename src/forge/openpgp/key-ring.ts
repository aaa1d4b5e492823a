import { OpenPgpError, type Packet, packetTags, readArmor, readPackets } from './packets.ts';
import { hashedKey, type PgpPublicKey, readPublicKeyPacket } from './public-keys.ts';
import {
  isSignedBy,
  type PgpSignature,
  readSignaturePacket,
  signatureTypes,
  signsData,
} from './signatures.ts';

/** A subkey that the primary key vouches for. */
export type PgpSubkey = {
  readonly key: PgpPublicKey;
  /** Seconds since the epoch; 0 for never. */
  readonly expiresAt: number;
  /** Signs data, and says itself that it belongs to the primary key. */
  readonly isSigner: boolean;
};

/** A key with the names that it certified itself. */
export type PgpEntity = {
  readonly primary: PgpPublicKey;
  readonly expiresAt: number;
  /** E-mail addresses of names that are not revoked, in lower case. */
  readonly emails: readonly string[];
  readonly subkeys: readonly PgpSubkey[];
};

/** Keys of one text, and signatures that are verified to read them: each takes time. */
const maxEntities = 20;
const maxVerifications = 2_000;

type Group = { readonly packet: Packet; readonly signatures: readonly PgpSignature[] };

/** Returns packets with the signatures after each; signatures of kinds that are not known are no signatures. */
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

/** Creates what verifies signatures of one text, no more than the bound. */
function createVerifier() {
  let left = maxVerifications;
  return (key: PgpPublicKey, signature: PgpSignature | undefined, bytes: Buffer): boolean => {
    if (!signature) return false;
    // Signatures of others name them: nothing is to be verified.
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

/** A name is `Name (comment) <address>`, or the address alone. */
function emailOf(name: string): string {
  const address = /<([^<>]*)>\s*$/.exec(name)?.[1] ?? (/^\S+@\S+$/.test(name.trim()) ? name : '');
  return address.trim().toLowerCase();
}

function readSubkey(primary: PgpPublicKey, expiresAt: number, group: Group, isBy: Verifier): PgpSubkey[] {
  let key: PgpPublicKey;
  try {
    key = readPublicKeyPacket(group.packet.body);
  } catch (error) {
    // A subkey of a kind that is not known does not spoil the others.
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
 * Returns the keys in an armored text: every name and every subkey with a valid signature of its primary key. Throws `OpenPgpError`
 * if there is none, for secret keys, and for a key that is revoked.
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
