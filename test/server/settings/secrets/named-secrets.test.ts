import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, secretValues } from '../../../../src/server/settings/config.ts';
import { readNamedSecrets } from '../../../../src/server/settings/secrets/named-secrets.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-secrets-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('named secrets', () => {
  it('come from the operator file, from files and from the environment', async () => {
    await writeFile(join(folder, 'b'), 'value-of-b\n');
    await writeFile(join(folder, 'd'), 'value-of-d');
    const problems: string[] = [];
    const found = readNamedSecrets(
      { A: { value: 'value-of-a' }, B: { file: join(folder, 'b') }, C: { environment: 'OTHER' } },
      { OTHER: 'value-of-c', REEVE_SECRET_D_FILE: join(folder, 'd'), REEVE_SECRET_E: 'value-of-e' },
      { folder, problems },
    );

    expect(problems).toEqual([]);
    expect([...found]).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((one) => [one.toUpperCase(), `value-of-${one}`]),
    );
  });

  it('are in files whose relative paths start at the folder of the operator file', async () => {
    await writeFile(join(folder, 'chat-hook'), 'value-of-the-hook\n');
    await writeFile(join(folder, 'signature'), 'a-secret-of-the-signature-with-40-characters\n');
    const path = join(folder, 'reeve.yml');
    const secrets = '[{ name: a, scope: "*", hmac-file: signature }]';
    await writeFile(
      path,
      `version: 1\nsecrets: ${secrets}\nnamed-secrets: { CHAT_HOOK: { file: ./chat-hook } }\n`,
    );
    const settings = await loadSettings({ REEVE_CONFIG: path });
    await rm(join(folder, 'chat-hook'));
    const missing = await loadSettings({ REEVE_CONFIG: relative(process.cwd(), path) }).catch(String);

    expect([...settings.namedSecrets]).toEqual([['CHAT_HOOK', 'value-of-the-hook']]);
    expect(settings.secrets).toMatchObject([{ hmac: ['a-secret-of-the-signature-with-40-characters'] }]);
    expect(missing).toContain('1 setting cannot be used');
    expect(missing).toContain(
      `named-secrets.CHAT_HOOK: ENOENT: no such file or directory, open '${join(folder, 'chat-hook')}'`,
    );
    expect(missing).not.toContain('fewer than 8 characters');
  });

  it('that cannot be used are reported without their values', () => {
    const problems: string[] = [];
    readNamedSecrets(
      { A: { value: 'short' }, B: { file: join(folder, 'none') }, C: { value: 'two\nlines-of-it' } },
      { REEVE_SECRET_A: 'another-value', REEVE_SECRET_D: 'first-value', REEVE_SECRET_D_FILE: '/dev/null' },
      { folder, problems },
    );

    expect(problems).toEqual([
      'named-secrets.A: the secret "A" has fewer than 8 characters',
      expect.stringContaining('named-secrets.B: ENOENT'),
      'named-secrets.C: the secret "C" has more than one line',
      'REEVE_SECRET_D_FILE: the secret "D" is set twice',
    ]);
    expect(problems.join()).not.toMatch(/short|lines-of-it|another-value|first-value/);
  });

  it('are settings, and are among the values that no log may contain', async () => {
    const path = join(folder, 'reeve.yml');
    await writeFile(path, 'version: 1\nnamed-secrets: { CI: { value: value-of-ci } }\n');
    const settings = await loadSettings({ REEVE_CONFIG: path, REEVE_SECRET_OTHER: 'value-of-other' });

    expect([...settings.namedSecrets.keys()]).toEqual(['CI', 'OTHER']);
    expect(secretValues(settings)).toEqual(['value-of-ci', 'value-of-other']);
  });
});
