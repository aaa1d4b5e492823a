import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { backportBranch, backportMarker, backports, isBackportBranch } from '../../src/facts/backports.ts';
import { type FactRequest, requestOf } from '../../src/facts/fact.ts';
import { mergedPatch } from '../../src/facts/files.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';
import { addFile, type PrivilegeSetup, startPrivilegeForge } from '../support/privilege-setup.ts';

describe('merged_patch, backports and commit_diff on a forge', () => {
  let privilegeForge: Awaited<ReturnType<typeof startPrivilegeForge>>;
  let setup: PrivilegeSetup;
  beforeAll(async () => {
    privilegeForge = await startPrivilegeForge();
    setup = await privilegeForge.make({ access: 'reader', scopes: ['repository'] });
  });
  afterAll(() => privilegeForge.close());

  const ask = <Value>(request: FactRequest<Value>): Promise<Value> =>
    createFacts({
      client: setup.holder.client,
      subject: setup.subjects.pull_request,
      memory: createFactMemory(systemClock),
      clock: systemClock,
    }).ask(request);

  it('a pull request that is not merged has no patch and no backports', async () => {
    expect(await ask(requestOf(mergedPatch))).toBeNull();
    expect(await ask(requestOf(backports))).toEqual([]);
  });

  it('the patch of a merged pull request has all its commits and the content of binary files', async () => {
    const { ada, at, pull } = setup;
    const bytes = { content: 'AP8BAgM=', branch: 'work', message: 'bytes' };
    await ada.client.call(operations.createFile, { params: { ...at, filepath: 'b.bin' }, body: bytes });
    const body = { do: 'squash', delete_branch_after_merge: true } as const;
    await ada.client.call(operations.mergePull, { params: { ...at, index: pull.number }, body });

    const patch = await ask(requestOf(mergedPatch));

    expect(patch?.text).toMatch(/^diff --git a\/b\.bin .*^GIT binary patch$.*^diff --git a\/src\/a\.ts /ms);
    expect(patch?.size).toBe(Buffer.byteLength(patch?.text ?? ''));
  });

  it('backports are found by marker or branch, in every state, and only for the number of the pull request', async () => {
    const { ada, at, pull } = setup;
    const open = async (head: string, base: string, text: string): Promise<number> => {
      await addFile(ada.client, at, head, `${head}.txt`);
      const body = { title: head, head, base, body: text };
      return (await ada.client.call(operations.createPull, { params: at, body })).number;
    };
    const body = { new_branch_name: 'release', old_ref_name: 'main' };
    await ada.client.call(operations.createBranch, { params: at, body });
    const marked = await open('moved', 'release', `${backportMarker(pull.number, 'release')}\nBackport.`);
    const byHand = await open(backportBranch(pull.number, 'release'), 'release', 'By hand.');
    await open('other', 'release', backportMarker(pull.number * 10 + 1, 'release'));
    await open('quoted', 'release', `> ${backportMarker(pull.number, 'release')}`);
    const params = { ...at, index: byHand };
    await ada.client.call(operations.editPull, { params, body: { state: 'closed' } });
    const branch = backportBranch(pull.number, 'release');
    await ada.client.call(operations.deleteBranch, { params: { ...at, branch } });

    const found = await ask(requestOf(backports));

    expect(found.map(({ number, state }) => [number, state])).toEqual([
      [byHand, 'closed'],
      [marked, 'open'],
    ]);
  });

  it('a commit is compared with its first parent', async () => {
    expect(await ask({ name: 'commit_diff', argument: 'moved' })).toMatch(
      /^diff --git a\/moved\.txt b\/moved\.txt\nnew file/,
    );
    await expect(ask({ name: 'commit_diff', argument: 'nothing' })).rejects.toThrow('404');
  });
});

describe('merged_patch and backports with large inputs', () => {
  const servers: BareServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  const day = (date: number): string => new Date(Date.UTC(2026, 0, 400 - date)).toISOString();

  /**
   * Creates a pull request #7 that was merged on the day before that of #`since`. The list contains #400 to #1, one a
   * day.
   */
  async function setUp({ additions = 1, patch = '' }: { additions?: number; patch?: string }) {
    const paths: string[] = [];
    const server = await startBareServer((seen, response) => {
      const [path = '', query = ''] = seen.path.replace('/api/v1/repos/acme/demo', '').split('?');
      paths.push(path);
      const merged = { id: 1, number: 7, title: 't', state: 'closed', merged: true, merged_at: day(120) };
      if (path === '/pulls/7') return json(response, { ...merged, additions, deletions: 0 });
      if (path === '/pulls/7.diff') return void response.end(patch);
      const page = Number(new URLSearchParams(query).get('page') ?? 1);
      const items = Array.from({ length: 50 }, (_, at) => 50 * (page - 1) + at).map((at) => ({
        id: at,
        number: 400 - at,
        title: 't',
        state: 'open',
        created_at: day(at),
        body: at % 100 === 0 ? backportMarker(7, 'release') : null,
      }));
      response.setHeader('x-total-count', '400');
      json(response, page > 8 ? [] : items);
    });
    servers.push(server);
    const client = createClient({ url: server.url, tries: 1 });
    const repository = { id: 1, owner: 'acme', name: 'demo' };
    const memory = createFactMemory(systemClock);
    const subject = { kind: 'pull_request', index: 7, repository } as const;
    return { paths, facts: createFacts({ client, subject, memory, clock: systemClock }) };
  }

  it('pull requests older than the merge are not read', async () => {
    const { paths, facts } = await setUp({});

    const found = await facts.ask(requestOf(backports));

    expect(found.map(({ number }) => number)).toEqual([400, 300]);
    // The pull requests of 121 days are three pages.
    expect(paths).toEqual(['/pulls/7', '/pulls', '/pulls', '/pulls']);
  });

  it('a patch over 1 MiB has no text, and is not read if it has too many lines', async () => {
    const large = await setUp({ patch: 'x'.repeat(1_048_577) });
    expect(await large.facts.ask(requestOf(mergedPatch))).toEqual({ text: null, size: 1_048_577 });

    const fits = await setUp({ patch: 'x'.repeat(1_048_576) });
    expect(await fits.facts.ask(requestOf(mergedPatch))).toMatchObject({ size: 1_048_576 });

    const long = await setUp({ additions: 600_000 });
    expect(await long.facts.ask(requestOf(mergedPatch))).toEqual({ text: null, size: 1_200_000 });
    expect(long.paths).toEqual(['/pulls/7']);
  });
});

describe('names of backport branches and markers', () => {
  it('contain one number and one branch, and are never too long', () => {
    expect(backportBranch(12, 'release/1')).toBe('backport-12-to-release/1');
    const [one, other] = [`${'x'.repeat(200)}1`, `${'x'.repeat(200)}2`];
    expect(backportBranch(12, one)).not.toBe(backportBranch(12, other));
    expect(backportBranch(12, one).length).toBeLessThanOrEqual(100);
    expect(
      [backportBranch(1, one), 'backport-1-to-a', 'backport', 'my-backport-1-to-a'].map(isBackportBranch),
    ).toEqual([true, true, false, false]);
  });

  it('cannot end a marker, whatever the branch is named', () => {
    expect(backportMarker(12, 'a-->b')).toBe('<!-- reeve:backport of #12 to a--%3Eb -->');
    expect(backportMarker(12, 'a\ud800')).toContain('%EF%BF%BD');
  });
});
