import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../../src/forge/forge.ts';
import { createPasswordGate, createPasswords } from '../../../../src/forge/platform/access/password-gate.ts';
import type { UserRow } from '../../../../src/forge/platform/rows.ts';
import { basic } from '../../../support/contract-forge.ts';
import { runGit } from '../../../support/git-client.ts';
import { passwordCost } from '../../../support/privilege-setup.ts';

describe('wrong passwords at the embedded forge', () => {
  let forge: ForgeInstance;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = Date.now();
    forge = await createForgeInstance({ passwordCost, clock: () => new Date(nowMs) });
    await forge.listen();
    for (const name of ['ada', 'ben']) await forge.createAdministrator({ name, password: 'right' });
  });
  afterEach(() => forge.close());

  const ask = (name: string, password: string) =>
    fetch(`${forge.url}/api/v1/user`, { headers: basic(name, password) });
  const statusesOf = (count: number, name: (at: number) => string): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, async (_, at) => (await ask(name(at), 'wrong')).status));

  it('A6: block an address for an account for a minute after ten failures', async () => {
    const { json: token } = await makeToken();
    const failures = await statusesOf(10, () => 'ada');

    const next = await ask('ada', 'wrong');
    const right = await ask('ada', 'right');
    const other = await ask('ben', 'right');
    const byToken = await fetch(`${forge.url}/api/v1/user`, {
      headers: { authorization: `token ${token.sha1}` },
    });
    nowMs += 61_000;
    const later = await ask('ada', 'right');

    expect(new Set(failures)).toEqual(new Set([401]));
    expect([next.status, next.headers.get('retry-after')]).toEqual([429, '60']);
    expect([right.status, other.status, byToken.status, later.status]).toEqual([429, 200, 200, 200]);
  });

  async function makeToken(): Promise<{ json: { sha1: string } }> {
    const response = await fetch(`${forge.url}/api/v1/users/ben/tokens`, {
      method: 'POST',
      headers: { ...basic('ben', 'right'), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 't', scopes: ['all'] }),
    });
    return { json: (await response.json()) as { sha1: string } };
  }

  it('A6: count against a name regardless of letter case', async () => {
    const names = ['ada', 'ADA', 'Ada'];
    await statusesOf(10, (at) => names[at % names.length] ?? '');

    expect((await ask('ada', 'wrong')).status).toBe(429);
  });

  it('A6: do not reveal through the throttle which account an email address belongs to', async () => {
    await statusesOf(10, () => 'ada');

    const [own, other] = [await ask('ada@localhost', 'wrong'), await ask('missing@localhost', 'wrong')];

    expect([own.status, other.status]).toEqual([401, 401]);
  });

  it('A6: block further attempts after fifty failures for many names, except from addresses that have signed in', async () => {
    await ask('ada', 'right');
    const failures = await statusesOf(50, (at) => `missing-${at}`);

    const next = await ask('missing-account', 'wrong');
    const signedIn = await ask('ada', 'right');
    const stranger = await ask('ben', 'right');

    expect(new Set(failures)).toEqual(new Set([401]));
    expect([next.status, signedIn.status, stranger.status]).toEqual([429, 200, 429]);
  });

  it('A6: are checked at most ten times when sent concurrently, plus those in progress', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => ask('ada', `wrong-${at}`)));

    const refused = answers.filter(({ status }) => status === 429).length;
    expect(refused).toBeGreaterThanOrEqual(60 - 10 - 4);
    expect(answers.every(({ status }) => status === 401 || status === 429)).toBe(true);
  });

  it('A6: do not include many concurrent requests with the correct password', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask('ada', 'right')));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('A6: are counted together for all entry points: API, git, pages, attachments', async () => {
    const wrong = { headers: basic('ada', 'wrong') };
    const doors = ['/api/v1/user', '/ada/x.git/info/refs?service=git-upload-pack', '/', '/attachments/x'];
    for (let at = 0; at < 10; at += 1) await fetch(`${forge.url}${doors[at % doors.length]}`, wrong);

    const statuses = await Promise.all(
      doors.map(async (path) => (await fetch(`${forge.url}${path}`, wrong)).status),
    );
    const url = new URL(`${forge.url}/ada/x.git`);
    Object.assign(url, { username: 'ada', password: 'wrong' });

    expect(statuses).toEqual([429, 429, 429, 429]);
    await expect(runGit('/', ['ls-remote', url.href])).rejects.toThrow('429');
  });

  it('A6: get the same response for existing and unknown names', async () => {
    const [known, unknown] = [await ask('ada', 'wrong'), await ask('missing', 'wrong')];

    expect([known.status, await known.json()]).toEqual([unknown.status, await unknown.json()]);
  });
});

describe('the password gate', () => {
  const passwords = createPasswords(passwordCost);

  const account = async (id: number): Promise<UserRow> =>
    // The gate reads only these two fields of an account.
    ({ id, password_hash: await passwords.hash('right') }) as UserRow;

  it('A6: refuses guesses for one account from many addresses, but not sign-ins from an address that the account uses', async () => {
    const gate = createPasswordGate(() => new Date(0), passwords);
    const user = await account(1);
    const tryFrom = (address: string, password: string) =>
      gate.check({ address, name: 'ada', user, password });
    await tryFrom('home', 'right');
    await Promise.all(Array.from({ length: 100 }, (_, at) => tryFrom(`address-${at}`, 'wrong')));

    await expect(tryFrom('elsewhere', 'right')).rejects.toThrow('too many wrong passwords');
    expect(await tryFrom('home', 'right')).toBe(true);
  });

  it('A6: refuses concurrent guesses after ten failures, except those in progress', async () => {
    const gate = createPasswordGate(() => new Date(0), passwords);
    const user = await account(1);
    const attempts = Array.from({ length: 30 }, (_, at) =>
      gate.check({ address: 'home', name: 'ada', user, password: `wrong-${at}` }),
    );

    const answers = await Promise.allSettled(attempts);

    const refused = answers.filter(({ status }) => status === 'rejected').length;
    expect(refused).toBeGreaterThanOrEqual(30 - 10 - 4);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(30 - refused);
  });

  it('A6: does the same work for an existing account, an account without a password, and an unknown account', async () => {
    // Uses the full password cost, because the work must exceed all overhead.
    const passwords = createPasswords();
    const microseconds = async (hash: string): Promise<number> => {
      const before = process.cpuUsage();
      for (let at = 0; at < 2; at += 1) expect(await passwords.verify('wrong', hash)).toBe(false);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };

    const stored = await passwords.hash('right');
    await microseconds(stored);
    // Takes the minimum of several rounds, because other load can only prolong a round.
    const hashes = [stored, '', 'scrypt$$'];
    const least = hashes.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < 5; round += 1)
      for (const [at, hash] of hashes.entries())
        least[at] = Math.min(least[at] ?? 0, await microseconds(hash));

    const [known = 0, ...others] = least;
    for (const other of others) expect(other / known).toBeGreaterThan(0.5);
  });
});
