import { generateKeyPairSync } from 'node:crypto';

/** Returns the line of OpenSSH of a new Ed25519 key. */
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
