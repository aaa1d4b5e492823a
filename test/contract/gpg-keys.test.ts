import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type Account, type Answer, describeContract, freshName } from '../support/contract-forge.ts';
import { cloneRepository } from '../support/git-client.ts';
import { makePgpKey } from '../support/pgp-keys.ts';

describeContract('OpenPGP keys', (forge) => {
  let ada: Account;
  let ben: Account;
  beforeAll(async () => {
    [ada, ben] = [await forge.makeUser(), await forge.makeUser()];
  });
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    as: Account | undefined = ada,
  ): Promise<Answer> => forge.ask(method, path, { as, body });
  const addressOf = ({ name }: Account) => `${name}@example.org`;
  const nameOf = (account: Account) => `Ada <${addressOf(account)}>`;
  const token = async (as: Account = ada) => (await ask('GET', '/user/gpg_key_token', undefined, as)).text;
  const add = (armored_public_key: string, as: Account = ada, armored_signature?: string) =>
    ask('POST', '/user/gpg_keys', { armored_public_key, armored_signature }, as);

  it('are added with an address of the account, shown, listed and deleted', async () => {
    const key = makePgpKey({ name: nameOf(ada), at: 1_700_000_000, lifetime: 86_400 * 36_500 });
    const created = await add(key.armored);
    const { id } = created.json;
    const shown = await ask('GET', `/user/gpg_keys/${id}`);
    const list = await ask('GET', '/user/gpg_keys');
    const seen = await ask('GET', `/users/${ada.name}/gpg_keys`, undefined, ben);

    expect([created.status, created.json]).toMatchObject([
      201,
      {
        primary_key_id: '',
        key_id: key.keyId,
        public_key: expect.stringMatching(/^xj[\w+/]+=*$/),
        emails: [{ email: addressOf(ada), verified: true }],
        subkeys: [],
        can_sign: true,
        can_encrypt_comms: false,
        can_encrypt_storage: false,
        can_certify: true,
        verified: false,
      },
    ]);
    expect(Date.parse(created.json.created_at)).toBeGreaterThan(1_700_000_000_000);
    expect(Date.parse(created.json.expires_at)).toBe((1_700_000_000 + 86_400 * 36_500) * 1000);
    expect([shown.status, shown.json]).toEqual([200, created.json]);
    expect([list.headers.get('x-total-count'), list.json]).toEqual(['1', [created.json]]);
    expect(seen.json).toEqual([created.json]);
    expect((await ask('GET', `/user/gpg_keys/${id}`, undefined, ben)).status).toBe(404);
    expect((await ask('DELETE', `/user/gpg_keys/${id}`, undefined, ben)).status).toBe(204);
    expect((await ask('GET', `/user/gpg_keys/${id}`)).status).toBe(200);
    for (const _time of [1, 2]) expect((await ask('DELETE', `/user/gpg_keys/${id}`)).status).toBe(204);
    expect((await ask('GET', `/user/gpg_keys/${id}`)).status).toBe(404);
  });

  it('are added once, with an email address of the account or a signed verification token', async () => {
    const key = makePgpKey({ name: nameOf(ada) });
    const foreign = makePgpKey({ name: `Stranger <${freshName('absent')}@example.org>` });
    await add(key.armored);

    const again = await add(key.armored);
    // The verification token changes every minute.
    const before = await token(ben);
    const refused = await add(foreign.armored, ben);
    const tokens = [before, await token(ben)];
    const wrong = await add(foreign.armored, ben, foreign.sign('another text'));
    const signed = await add(foreign.armored, ben, foreign.sign(await token(ben)));

    expect([again, refused, wrong, signed].map(({ status }) => status)).toEqual([422, 404, 422, 201]);
    expect(again.json.message).toBe('A key with the same id already exists');
    expect(tokens.some((text) => refused.json.message.includes(text))).toBe(true);
    expect(signed.json).toMatchObject({ verified: true, emails: [], key_id: foreign.keyId });
    const listed = await ask('GET', `/users/${ben.name}/gpg_keys`);
    expect(Date.parse(listed.json[0].expires_at)).toBeLessThan(0);
  });

  it('are verified by signing the verification token', async () => {
    const key = makePgpKey({ name: nameOf(ada) });
    await add(key.armored);
    const verify = (signature: string, keyId = key.keyId) =>
      ask('POST', '/user/gpg_key_verify', { key_id: keyId, armored_signature: signature });

    const wrong = await verify(key.sign('another text'));
    const others = await verify(makePgpKey({ name: nameOf(ada) }).sign(await token()));
    const right = await verify(key.sign(`${await token()}\n`));

    expect([wrong, others, right].map(({ status }) => status)).toEqual([422, 422, 200]);
    expect(right.json).toMatchObject({ key_id: key.keyId, verified: true });
    expect((await verify('')).status).toBe(422);
  });

  it('are refused if they are invalid', async () => {
    const key = makePgpKey({ name: nameOf(ada) });
    const bytes = Buffer.from(key.armored.replace(/-----.*-----|\s/g, ''), 'base64');
    // The name in the key differs from the certified one.
    const forged = Buffer.from(bytes.toString('latin1').replace('Ada', 'Eva'), 'latin1').toString('base64');
    const armor = (base64: string, kind = 'PUBLIC KEY BLOCK') =>
      `-----BEGIN PGP ${kind}-----\n\n${base64}\n-----END PGP ${kind}-----\n`;
    for (const text of ['hello', armor('AAAA'), armor(forged), armor(key.armored.slice(0, 90))])
      expect([text, (await add(text)).status]).toEqual([text, 422]);
    expect((await ask('POST', '/user/gpg_keys', {})).status).toBe(422);
    // Gitea returns 500.
    expect([422, 500]).toContain((await add(armor(''))).status);
    for (const path of ['gpg_keys', 'gpg_key_token'])
      expect((await forge.ask('GET', `/user/${path}`)).status).toBe(401);
  });

  it('are deleted with their account', async () => {
    const guest = await forge.makeUser();
    const key = makePgpKey({ name: nameOf(guest) });
    await add(key.armored, guest);
    await forge.ask('DELETE', `/admin/users/${guest.name}`, { as: forge.adminToken });

    expect((await add(key.armored, ben, key.sign(await token(ben)))).status).toBe(201);
  });

  it('identify the signer of a commit', async () => {
    const key = makePgpKey({ name: nameOf(ada) });
    const other = makePgpKey({ name: nameOf(ada) });
    await add(key.armored);
    const repository = await forge.makeRepository(ada, { auto_init: true });
    const commits = await pushSigned(repository, ada, [key.sign, (text) => key.sign(`${text} `), other.sign]);
    const read = async (sha: string) =>
      (await ask('GET', `/repos/${repository}/git/commits/${sha}`, undefined, ben)).json.commit.verification;

    const [right, wrong, unknown] = await Promise.all(commits.map(read));

    expect(right).toMatchObject({
      verified: true,
      reason: `${ada.name} / ${key.keyId}`,
      signer: { username: ada.name, email: addressOf(ada) },
    });
    expect(right.payload).toContain('a signed commit');
    expect(right.signature).toContain('BEGIN PGP SIGNATURE');
    expect(wrong).toMatchObject({
      verified: false,
      reason: 'gpg.error.probable_bad_signature',
      signer: null,
    });
    expect(unknown).toMatchObject({ verified: false, reason: 'gpg.error.no_gpg_keys_found', signer: null });
  });

  /** Pushes a branch for each signature, and returns the ids of the commits. */
  async function pushSigned(
    repository: string,
    as: Account,
    signers: readonly ((text: string) => string)[],
  ): Promise<string[]> {
    const address = new URL(`${forge.url}/${repository}.git`);
    [address.username, address.password] = [as.name, as.password];
    const { git, folder, remove } = await cloneRepository(address.href);
    try {
      const tree = (await git('rev-parse', 'HEAD^{tree}')).trim();
      const ids: string[] = [];
      for (const [at, sign] of signers.entries()) {
        const who = `Ada <${addressOf(as)}> 1700000000 +0000`;
        const head = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n`;
        const body = `\na signed commit ${at}\n`;
        const signature = sign(head + body)
          .trimEnd()
          .replaceAll('\n', '\n ');
        writeFileSync(join(folder, 'object'), `${head}gpgsig ${signature}\n${body}`);
        ids.push((await git('hash-object', '-t', 'commit', '-w', 'object')).trim());
      }
      await git('push', '-q', 'origin', ...ids.map((id, at) => `${id}:refs/heads/signed-${at}`));
      return ids;
    } finally {
      remove();
    }
  }
});
