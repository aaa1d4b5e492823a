import { createServer, request as openRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Account, basic, type ContractForge, startEmbedded } from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone, tryGit } from '../../support/git-client.ts';

/**
 * Starts a proxy server that holds back the last byte of a push until `meanwhile` has run. Other requests are forwarded
 * unchanged.
 */
async function startSlowDoor(forge: string, meanwhile: () => Promise<unknown>): Promise<Server> {
  const { hostname, port } = new URL(forge);
  const server = createServer(async (request, reply) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const headers = { ...request.headers, 'content-length': String(body.length) };
    delete headers['transfer-encoding'];
    const options = { hostname, port, path: request.url, method: request.method, headers };
    const passed = openRequest(options, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    passed.write(body.subarray(0, -1));
    if (request.method === 'POST' && request.url?.endsWith('git-receive-pack')) await meanwhile();
    passed.end(body.subarray(-1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe('a slow push', () => {
  let forge: ContractForge;
  const clones: GitClone[] = [];
  const doors: Server[] = [];
  beforeAll(async () => {
    forge = await startEmbedded();
  });
  afterAll(() => forge.close());
  afterEach(() => {
    for (const clone of clones.splice(0)) clone.remove();
    for (const door of doors.splice(0)) door.close();
  });

  async function must(method: string, path: string, as: Account | string, body?: object) {
    const answer = await forge.ask(method, path, { as, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  /** Pushes a commit to the branch `main` of a git repository. `meanwhile` runs while the push is in progress. */
  async function push(
    pusher: { readonly name: string; readonly secret: string },
    place: string,
    meanwhile: () => Promise<unknown>,
  ): Promise<number | null> {
    const door = await startSlowDoor(forge.url, meanwhile);
    doors.push(door);
    const url = new URL(`http://127.0.0.1:${(door.address() as AddressInfo).port}/${place}.git`);
    const clone = await cloneRepository(
      Object.assign(url, { username: pusher.name, password: pusher.secret }).href,
    );
    clones.push(clone);
    await clone.commit({ 'pushed.txt': `${clones.length}\n` });
    return (await tryGit(clone.folder, ['push', 'origin', 'HEAD:main'])).code;
  }

  type Scene = { readonly owner: Account; readonly pusher: Account; readonly repository: string };
  const remove = ({ owner, pusher, repository }: Scene) =>
    must('DELETE', `/repos/${repository}/collaborators/${pusher.name}`, owner);
  const losses: readonly (readonly [string, '' | '.wiki', (scene: Scene) => Promise<unknown>, boolean])[] = [
    ['nothing changes', '', async () => {}, true],
    ['nothing changes', '.wiki', async () => {}, true],
    ['the account loses access', '', remove, false],
    ['the account loses access', '.wiki', remove, false],
    [
      'the access of the account is reduced to reading',
      '',
      ({ owner, pusher, repository }) =>
        must('PUT', `/repos/${repository}/collaborators/${pusher.name}`, owner, { permission: 'read' }),
      false,
    ],
    [
      'the token is deleted',
      '',
      async ({ pusher }) => {
        const headers = basic(pusher.name, pusher.password);
        const { status } = await forge.ask('DELETE', `/users/${pusher.name}/tokens/pushing`, { headers });
        expect(status).toBe(204);
      },
      false,
    ],
    [
      'the account is no longer allowed to sign in',
      '',
      ({ pusher: { name } }) =>
        must('PATCH', `/admin/users/${name}`, forge.adminToken, {
          source_id: 0,
          login_name: name,
          prohibit_login: true,
        }),
      false,
    ],
    [
      'the repository is archived',
      '',
      ({ owner, repository }) => must('PATCH', `/repos/${repository}`, owner, { archived: true }),
      false,
    ],
  ];

  it.each(losses)('is checked again when it is complete: %s%s', async (_, part, happen, isTaken) => {
    const [owner, pusher] = [await forge.makeUser(), await forge.makeUser()];
    const repository = await forge.makeRepository(owner, { auto_init: true, private: true });
    const page = { title: 'Home', content_base64: 'eA==' };
    if (part === '.wiki') await must('POST', `/repos/${repository}/wiki/new`, owner, page);
    await forge.share(repository, owner, { with: pusher, permission: 'write' });
    const { sha1 } = (
      await forge.ask('POST', `/users/${pusher.name}/tokens`, {
        headers: basic(pusher.name, pusher.password),
        body: { name: 'pushing', scopes: ['write:repository'] },
      })
    ).json;
    const scene = { owner, pusher, repository };
    let times = 0;

    const code = await push({ name: pusher.name, secret: sha1 }, repository + part, async () => {
      times += 1;
      if (times === 1) await happen(scene);
    });

    const look = await cloneRepository(
      Object.assign(new URL(`${forge.url}/${repository}${part}.git`), {
        username: owner.name,
        password: owner.token,
      }).href,
    );
    clones.push(look);
    const files = await look.git('ls-tree', '--name-only', 'HEAD');
    expect(times).toBeGreaterThan(0);
    expect([code === 0, files.includes('pushed.txt')]).toEqual([isTaken, isTaken]);
  });

  it('is refused to a maintainer if the author can no longer write to the head', async () => {
    const [owner, author, helper] = [await forge.makeUser(), await forge.makeUser(), await forge.makeUser()];
    const repository = await forge.makeRepository(owner, { auto_init: true });
    await forge.share(repository, owner, { with: author, permission: 'write' });
    const fork = (await must('POST', `/repos/${repository}/forks`, helper, {})).full_name;
    const file = { content: 'eA==', message: 'x', branch: 'main' };
    await must('POST', `/repos/${repository}/contents/x.txt`, owner, file);
    const pull = { title: 'x', head: `${owner.name}:main`, base: 'main', allow_maintainer_edit: true };
    await must('POST', `/repos/${fork}/pulls`, author, pull);
    const who = { name: helper.name, secret: helper.token };

    const first = await push(who, repository, async () => {});
    const second = await push(who, repository, async () => {
      const path = `/repos/${repository}/collaborators/${author.name}`;
      await forge.ask('DELETE', path, { as: owner });
    });

    expect([first, second === 0]).toEqual([0, false]);
  });
});
