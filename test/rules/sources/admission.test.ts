import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { type Event, parseEvent } from '../../../src/contract/events/events.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { type Admissions, createAdmissions, createIdentities } from '../../../src/rules/sources/admission.ts';
import { createCoverage } from '../../../src/server/receiver/secrets.ts';

/** Repository that the forge has under a full name. `to` is the new name of a renamed repository. */
type Live = { readonly id: number; readonly archived?: boolean } | { readonly to: string };
const live: Record<string, Live> = {
  'acme/demo': { id: 1 },
  'acme/old': { to: 'acme/demo' },
  'acme/attic': { id: 5, archived: true },
  'eve/own': { id: 9 },
  'eve/left': { to: 'acme/demo' },
};

let forge: Server;
let asked: string[];
let refused: string[];
let nowMs: number;
let admissions: Admissions;

beforeAll(async () => {
  forge = createServer((request, response) => {
    const name = (request.url ?? '').replace('/api/v1/repos/', '');
    asked.push(name);
    const found = live[name];
    if (found === undefined) return response.writeHead(404).end('{}');
    if ('to' in found) return response.writeHead(301, { location: `/api/v1/repos/${found.to}` }).end();
    const [login, repo] = name.split('/');
    const repository = { ...found, name: repo, full_name: name, owner: { id: 3, login } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(repository));
  });
  await new Promise<void>((resolve) => forge.listen(0, '127.0.0.1', resolve));
});
afterAll(() => forge.close());

beforeEach(() => {
  [asked, refused, nowMs] = [[], [], 0];
  const client = createClient({ url: `http://127.0.0.1:${(forge.address() as AddressInfo).port}` });
  admissions = createAdmissions({
    identities: createIdentities({ client, clock: { ...systemClock, monotonicMs: () => nowMs } }),
    served: { has: async ({ owner }) => owner !== 'stranger' },
    coverageOf: createCoverage([
      { name: 'all', scope: ['*'] },
      { name: 'acme', scope: ['acme/*'] },
      { name: 'eve', scope: ['eve/*'] },
    ]),
    onRefused: (kind) => refused.push(kind),
  });
});

const named = (id: number, full_name: string) => ({ id, full_name, owner: { id: 3 } });
const pushOf = (id: number, name: string): Event =>
  parseEvent('push', { ref: 'refs/heads/main', before: '0', after: '1', repository: named(id, name) });
const by = (entry: string) => ({ entry });

describe('an event is admitted', () => {
  it('with the current id and names of its repository', async () => {
    const admission = await admissions.admit(by('acme'), pushOf(1, 'Acme/Demo'.toLowerCase()));

    expect(admission).toMatchObject({
      state: 'admitted',
      event: {
        repository: { id: 1, owner: 'acme', name: 'demo' },
        subject: { kind: 'branch', ref: 'main', repository: { id: 1, owner: 'acme', name: 'demo' } },
      },
    });
  });

  it('under its new name after a rename, if the entry covers that name', async () => {
    const admission = await admissions.admit(by('acme'), pushOf(1, 'acme/old'));

    expect(admission).toMatchObject({ event: { repository: { id: 1, name: 'demo' } } });
  });

  it('without a secret entry, if Reeve found the event by reading', async () => {
    expect(await admissions.admit({}, pushOf(1, 'acme/demo'))).toMatchObject({ state: 'admitted' });
  });

  it('with one request for each claim, until the claim is ten minutes old or forgotten', async () => {
    for (let count = 0; count < 3; count += 1) await admissions.admit(by('acme'), pushOf(1, 'acme/demo'));
    expect(asked).toEqual(['acme/demo']);

    nowMs = 10 * 60_000 + 1;
    await admissions.admit(by('acme'), pushOf(1, 'acme/demo'));
    admissions.forget(1);
    await admissions.admit(by('acme'), pushOf(1, 'acme/demo'));

    expect(asked).toHaveLength(3);
  });
});

describe('an event is refused', () => {
  const packageOf = (id: number, name: string) =>
    parseEvent('package', {
      action: 'created',
      package: { id: 1, repository: named(id, name) },
      repository: null,
    });
  const runOf = (id: number, name: string) =>
    parseEvent('action_run_failure', { action: 'failure', run: { id: 1, repository: named(id, name) } });
  const ofOrganization = parseEvent('package', {
    action: 'created',
    package: { id: 1, owner: { id: 3 } },
    organization: { id: 3, username: 'eve' },
  });

  it.each([
    [
      'that names the id of another repository',
      'eve',
      pushOf(1, 'eve/own'),
      'identity',
      /eve\/own is repository 9/,
    ],
    ['that does so inside a package', 'eve', packageOf(1, 'eve/own'), 'identity', /eve\/own is repository 9/],
    [
      'that does so inside a run of actions',
      'eve',
      runOf(1, 'eve/own'),
      'identity',
      /eve\/own is repository 9/,
    ],
    [
      'that does so with a secret for the whole forge',
      'all',
      pushOf(1, 'eve/own'),
      'identity',
      /names repository 1/,
    ],
    ['whose repository has left the scope', 'eve', pushOf(1, 'eve/left'), 'scope', /is acme\/demo: outside/],
    [
      'of an archived repository under another id',
      'acme',
      pushOf(1, 'acme/attic'),
      'identity',
      /is repository 5/,
    ],
    ['of an archived repository outside the scope', 'eve', pushOf(5, 'acme/attic'), 'scope', /outside/],
    [
      'whose secret entry is gone',
      'former',
      pushOf(1, 'acme/demo'),
      'entry',
      /"former".*no longer configured/,
    ],
    ['without a repository, by an entry for some', 'eve', ofOrganization, 'scope', /needs the scope "\*"/],
  ] as const)('%s', async (_title, entry, event, kind, reason) => {
    await expect(admissions.admit(by(entry), event)).rejects.toMatchObject({
      code: 'delivery-refused',
      message: expect.stringMatching(reason),
    });
    expect(refused).toEqual([kind]);
  });

  it('with its secret entry in the message, whatever the reason is', async () => {
    for (const [entry, event] of [
      ['eve', pushOf(1, 'eve/own')],
      ['eve', pushOf(1, 'eve/left')],
      ['former', pushOf(1, 'acme/demo')],
    ] as const) {
      await expect(admissions.admit(by(entry), event)).rejects.toThrow(`"${entry}"`);
    }
  });

  it('without caching anything: each refused claim is checked again, and the genuine claim stays unchanged', async () => {
    await admissions.admit(by('acme'), pushOf(1, 'acme/demo'));
    for (let count = 0; count < 3; count += 1) {
      await expect(admissions.admit(by('eve'), pushOf(1, 'eve/own'))).rejects.toThrow();
    }
    await admissions.admit(by('acme'), pushOf(1, 'acme/demo'));

    expect(asked).toEqual(['acme/demo', 'eve/own', 'eve/own', 'eve/own']);
  });

  it('without affecting a genuine claim for the same id that is checked at the same time', async () => {
    const [forged, genuine] = await Promise.allSettled([
      admissions.admit(by('eve'), pushOf(1, 'eve/own')),
      admissions.admit(by('acme'), pushOf(1, 'acme/demo')),
    ]);

    expect([forged.status, genuine.status]).toEqual(['rejected', 'fulfilled']);
  });
});

describe('an event is ignored', () => {
  it.each([
    ['whose repository is not served', pushOf(7, 'stranger/x'), 'stranger/x is not served', 0],
    ['whose repository is archived', pushOf(5, 'acme/attic'), 'acme/attic is archived', 1],
    [
      'that tells of a repository that was deleted',
      parseEvent('repository', { action: 'deleted', repository: named(8, 'acme/gone') }),
      'acme/gone is deleted',
      1,
    ],
  ] as const)('%s', async (_title, event, reason, requests) => {
    expect(await admissions.admit(by('all'), event)).toEqual({ state: 'ignored', reason });
    expect(asked).toHaveLength(requests);
    expect(refused).toEqual([]);
  });

  it('that tells of a deleted repository, although an earlier event has cached it', async () => {
    live['acme/short-lived'] = { id: 9 };
    await admissions.admit(by('all'), pushOf(9, 'acme/short-lived'));
    delete live['acme/short-lived'];
    const deleted = parseEvent('repository', { action: 'deleted', repository: named(9, 'acme/short-lived') });

    expect(await admissions.admit(by('all'), deleted)).toEqual({
      state: 'ignored',
      reason: 'acme/short-lived is deleted',
    });
  });
});
