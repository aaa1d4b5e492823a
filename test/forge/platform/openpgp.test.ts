import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isDocumentSignedBy,
  OpenPgpError,
  readArmor,
  readKeyRing,
  readSignature,
} from '../../../src/forge/platform/openpgp.ts';

/** Made by GnuPG 2.2.40 over the text `a document`; the secret keys were not kept. */
const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/openpgp/${name}`, import.meta.url), 'utf8');
const document = 'a document';

function makersOf(keys: string, signature: string, text: string): boolean[] {
  const [entity] = readKeyRing(fixture(keys));
  const made = readSignature(fixture(signature));
  const all = entity ? [entity.primary, ...entity.subkeys.map(({ key }) => key)] : [];
  return all.map((key) => isDocumentSignedBy(key, made, text));
}

describe('keys of GnuPG', () => {
  it('have the names that are not revoked, and their subkeys', () => {
    const [entity, ...more] = readKeyRing(fixture('rsa-with-subkeys.asc'));

    expect(more).toEqual([]);
    expect(entity).toMatchObject({
      primary: { keyId: '761F664E804042FB', canSign: true, canEncrypt: true },
      expiresAt: 0,
      emails: ['ada@example.org'],
      subkeys: [
        {
          key: { keyId: '207A2B69B4D495CC', canSign: true, canEncrypt: false },
          isSigner: true,
          expiresAt: 1_858_511_902,
        },
        {
          key: { keyId: '1A6648EC6D0F937E', canSign: false, canEncrypt: true },
          isSigner: false,
          expiresAt: 0,
        },
      ],
    });
  });

  it.each([
    ['rsa-with-subkeys', 'rsa-with-subkeys', [false, true, false]],
    ['nistp256', 'nistp256', [true]],
    ['rsa-plain', 'rsa-plain', [true]],
    ['rsa-plain', 'rsa-text', [true]],
  ])('sign: %s made %s', (keys, signature, makers) => {
    expect(makersOf(`${keys}.asc`, `${signature}.sig`, document)).toEqual(makers);
    expect(makersOf(`${keys}.asc`, `${signature}.sig`, `${document}.`)).toEqual(makers.map(() => false));
  });

  it('do not make signatures of other keys', () => {
    expect(makersOf('nistp256.asc', 'rsa-plain.sig', document)).toEqual([false]);
    expect(makersOf('rsa-plain.asc', 'rsa-with-subkeys.sig', document)).toEqual([false]);
  });

  it('are refused once they are revoked', () => {
    expect(() => readKeyRing(fixture('revoked.asc'))).toThrow('the key is revoked');
  });
});

describe('changed keys', () => {
  const bytes = readArmor(fixture('rsa-with-subkeys.asc'), 'PUBLIC KEY BLOCK');
  const armor = (data: Buffer): string =>
    `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${data.toString('base64')}\n-----END PGP PUBLIC KEY BLOCK-----`;

  it('are refused, or lose what is not certified any more', () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        try {
          const [entity] = readKeyRing(armor(changed));
          expect(
            entity?.emails.every((email) => email === 'ada@example.org' || email === 'old@example.org'),
          ).toBe(true);
          expect(entity?.primary.keyId).toBe('761F664E804042FB');
        } catch (error) {
          expect(error).toBeInstanceOf(OpenPgpError);
        }
      }),
      { numRuns: process.env.LONG ? 20_000 : 300 },
    );
  });

  it('are refused where they are random', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (random) => {
        expect(() => readKeyRing(armor(Buffer.from(random)))).toThrow(OpenPgpError);
      }),
      { numRuns: process.env.LONG ? 20_000 : 300 },
    );
  });
});
