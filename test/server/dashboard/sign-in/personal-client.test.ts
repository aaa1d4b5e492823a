import { describe, expect, it } from 'vitest';
import type { Tokens } from '../../../../src/client/oauth2.ts';
import { ReeveError } from '../../../../src/platform/errors.ts';
import { createPersonalClient } from '../../../../src/server/dashboard/sign-in/forge-accounts.ts';
import { SignedOut } from '../../../../src/server/dashboard/visibility.ts';

const first: Tokens = { accessToken: 'a1', refreshToken: 'r1', expiresInMs: 100_000 };

function makeClient(answers: readonly (Tokens | Error)[], tokens: Tokens = first) {
  const asked: string[] = [];
  const clock = { nowMs: 0 };
  const left = [...answers];
  const refresh = async (token: string): Promise<Tokens> => {
    asked.push(token);
    const answer = left.shift();
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('asked too often');
    return answer;
  };
  const client = createPersonalClient({
    forge: { url: 'http://127.0.0.1:1' },
    oauth2: { refresh },
    tokens,
    clock: { monotonicMs: () => clock.nowMs },
  });
  return { client, asked, clock };
}

describe('the client of a signed-in person', () => {
  it('is reused while its token is valid, and replaced after a renewal', async () => {
    const { client, asked, clock } = makeClient([
      { accessToken: 'a2', refreshToken: 'r2', expiresInMs: 100_000 },
    ]);
    const before = await client();
    expect(await client()).toBe(before);

    clock.nowMs = 70_000;

    expect(await client()).not.toBe(before);
    expect(asked).toEqual(['r1']);
  });

  it('is renewed once for concurrent requests', async () => {
    const { client, asked, clock } = makeClient([
      { accessToken: 'a2', refreshToken: 'r2', expiresInMs: 100_000 },
    ]);
    clock.nowMs = 70_000;

    const clients = await Promise.all([client(), client(), client()]);

    expect(new Set(clients).size).toBe(1);
    expect(asked).toEqual(['r1']);
  });

  it('keeps its refresh token if a renewal returns no new one', async () => {
    const again = { accessToken: 'a2', expiresInMs: 100_000 };
    const { client, asked, clock } = makeClient([again, again]);
    clock.nowMs = 70_000;
    await client();
    clock.nowMs = 170_000;
    await client();

    expect(asked).toEqual(['r1', 'r1']);
  });

  it('is signed out if the forge refuses the renewal, or if there is no refresh token', async () => {
    const refused = makeClient([new ReeveError('forge-refused', 'invalid_grant')]);
    refused.clock.nowMs = 70_000;
    await expect(refused.client()).rejects.toBeInstanceOf(SignedOut);
    const { refreshToken: _none, ...without } = first;
    const bare = makeClient([], without);
    bare.clock.nowMs = 70_000;
    await expect(bare.client()).rejects.toBeInstanceOf(SignedOut);
  });

  it('stays signed in if the forge is unreachable or throttles, and retries', async () => {
    const { client, clock, asked } = makeClient([
      new ReeveError('forge-unreachable', 'away'),
      new ReeveError('forge-throttled', 'later'),
      { accessToken: 'a2', refreshToken: 'r2', expiresInMs: 100_000 },
    ]);
    clock.nowMs = 70_000;

    await expect(client()).rejects.toMatchObject({ code: 'forge-unreachable' });
    await expect(client()).rejects.toMatchObject({ code: 'forge-throttled' });
    await client();

    expect(asked).toEqual(['r1', 'r1', 'r1']);
  });
});
