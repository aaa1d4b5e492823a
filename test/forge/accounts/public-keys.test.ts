import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parsePublicKey } from '../../../src/forge/accounts/public-keys.ts';

/** Keys as ssh-keygen wrote, listed (`-l`) and converted (`-e`) them. */
type RecordedKey = { name: string; line: string; listed: string; forms: Record<string, string> };
const { keys } = JSON.parse(readFileSync('test/fixtures/ssh-keys.json', 'utf8')) as { keys: RecordedKey[] };

const keyOf = (name: string) => keys.find((key) => key.name === name)?.line ?? '';
const base64Of = (name: string) => keyOf(name).split(' ')[1] ?? '';
const refused = ['rsa-2048', 'dsa-1024', 'ed25519-256-cert'];
const accepted = keys.filter(({ name }) => !refused.includes(name));

function refusal(text: string): string {
  try {
    return `accepted ${parsePublicKey(text).type}`;
  } catch (error) {
    return (error as Error).message;
  }
}

const field = (value: string | Buffer) => {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const lineOf = (type: string, ...members: (string | Buffer)[]) =>
  `${type} ${Buffer.concat([field(type), ...members.map(field)]).toString('base64')}`;
const modulus = (bits: number) => Buffer.concat([Buffer.alloc(1), Buffer.alloc(bits / 8, 0xff)]);

describe('public keys', () => {
  it.each(accepted)('have the size, fingerprint and comment that ssh-keygen lists: $name', (key) => {
    const { bits, fingerprint, comment, family, line } = parsePublicKey(`\n${key.line}\r\n`);

    expect(`${bits} ${fingerprint} ${comment} (${family.toUpperCase()})`).toBe(key.listed);
    expect(line).toBe(key.line);
  });

  const forms = accepted.flatMap(({ name, line, forms }) =>
    Object.entries(forms).map(([form, text]) => ({ name, line, form, text })),
  );

  it.each(forms)('are read from the format $form: $name', ({ line, text }) => {
    const expected = line.split(' ').slice(0, 2).join(' ');

    expect(parsePublicKey(text).line).toBe(expected);
    expect(parsePublicKey(text.replaceAll('\n', '\r\n')).line).toBe(expected);
  });

  it('are recorded in every format that ssh-keygen writes', () => {
    expect([accepted.length, new Set(forms.map(({ form }) => form)).size]).toEqual([8, 3]);
  });

  it('may be without type, and broken into lines', () => {
    const broken = keyOf('rsa-3072').replace(/(.{64})/g, '$1\r\n');

    expect(parsePublicKey(base64Of('ed25519-256')).type).toBe('ssh-ed25519');
    expect(parsePublicKey(broken).line).toBe(keyOf('rsa-3072'));
  });

  it.each([
    ['', 'invalid key format'],
    ['no key at all', 'invalid key format'],
    [keyOf('rsa-2048'), 'key length is not enough: got 2048, needs 3071'],
    [keyOf('dsa-1024'), 'key type is not allowed: dsa'],
    [keyOf('ed25519-256-cert'), 'unsupported key length detection for type'],
    [`ssh-rsa ${base64Of('ed25519-256')}`, 'key type and content does not match: ssh-rsa - ssh-ed25519'],
    [`restrict ${keyOf('ed25519-256')}`, 'invalid key format'],
    [`${keyOf('ed25519-256')}\rssh-rsa`, 'only a single line with a single key please'],
    [`ssh-ed25519 ${base64Of('ed25519-256').slice(0, -1)}`, 'illegal base64 data'],
    [`ssh-ed25519 ${base64Of('ed25519-256').slice(0, -4)}`, 'short read'],
    [`ssh-ed25519 ${base64Of('ed25519-256')}AAAA`, 'trailing junk'],
    [`ssh-ed25519 _${base64Of('ed25519-256').slice(1)}`, 'illegal base64 data'],
    [lineOf('ssh-ed25519', Buffer.alloc(31)), 'invalid size 31'],
    [lineOf('ssh-rsa', 'A', modulus(3072)), 'accepted ssh-rsa'],
    [lineOf('ssh-rsa', Buffer.from([1, 0, 0, 1]), modulus(3072)), 'exponent too large'],
    [lineOf('ssh-rsa', Buffer.from([4]), modulus(3072)), 'incorrect exponent'],
    [lineOf('ssh-rsa', Buffer.from([3]), Buffer.alloc(384, 0xff)), 'negative number'],
    [lineOf('ssh-rsa', Buffer.from([3]), modulus(8192)), 'accepted ssh-rsa'],
    [lineOf('ssh-rsa', Buffer.from([3]), modulus(8200)), 'rsa modulus too large'],
    [lineOf('ecdsa-sha2-nistp256', 'nistp384', Buffer.alloc(97, 4)), 'unsupported curve'],
    [lineOf('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(65, 4)), 'invalid curve point'],
    [lineOf('ecdsa-sha2-nistp999', 'nistp999', Buffer.alloc(65, 4)), 'unsupported curve'],
    [lineOf('rsa-sha2-512', Buffer.from([3]), modulus(3072)), 'unknown key algorithm: rsa-sha2-512'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----', 'is a private key'],
    ['-----BEGIN PUBLIC KEY-----\nAAAA', 'failed to parse PEM block'],
    ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'failed to parse DER'],
    ['A'.repeat(5464), 'base64 is too long'],
    [`${keyOf('ed25519-256')}${' '.repeat(9600)}`, 'content is too long'],
  ])('are refused with the reason: case %#', (text, reason) => {
    expect(refusal(text)).toContain(reason);
  });
});
