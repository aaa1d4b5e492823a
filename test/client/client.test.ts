import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { apiRoot } from '../../src/client/address.ts';
import { type ClientOptions, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { type BareServer, json, type ReceivedRequest, startBareServer } from '../support/bare-server.ts';

const params = { owner: 'acme', repo: 'demo' };
const token = 'a-token-that-no-one-else-may-see';
const open: BareServer[] = [];

async function serve(answer: Parameters<typeof startBareServer>[0], options: Partial<ClientOptions> = {}) {
  const server = await startBareServer(answer);
  open.push(server);
  const slept: number[] = [];
  const client = createClient({
    url: server.url,
    credentials: { token },
    sleep: async (ms) => slept.push(ms),
    ...options,
  });
  return { server, client, slept };
}

async function failureOf(promise: Promise<unknown>): Promise<ReeveError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ReeveError) return error;
  throw new Error(`expected a ReeveError, got ${inspect(error)}`);
}

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

describe('the list of requests', () => {
  it('contains every attempt with its response, but neither query values nor credentials', async () => {
    let answers = 0;
    const { client } = await serve((_seen, response) => {
      answers += 1;
      if (answers === 1) json(response, { message: `down for ${token}` }, 503);
      else if (answers === 2) json(response, [], 200);
      else response.destroy();
    });
    const own = client.counted({ tries: 2 });
    const query = { page: 2, limit: 50, labels: token };

    await own.call(operations.listIssues, { params: { ...params }, query } as never);
    await failureOf(client.counted({ tries: 1 }).call(operations.getSelf, {}));
    const cut = client.counted({ tries: 1 });
    await failureOf(cut.call(operations.getRepository, { params }));

    const path = '/repos/acme/demo/issues?page=2&limit=50';
    expect(own.requestList).toMatchObject({
      requests: [
        { method: 'GET', path, status: 503, attempt: 1, error: 'down for [secret]' },
        { method: 'GET', path, status: 200, attempt: 2 },
      ],
      leftOut: 0,
    });
    expect(cut.requestList.requests).toMatchObject([
      { path: '/repos/acme/demo', attempt: 1, error: expect.stringMatching(/^the forge cannot be reached/) },
    ]);
    expect(cut.requestList.requests[0]).not.toHaveProperty('status');
    expect(client.requestList.requests).toEqual([]);
    expect(JSON.stringify([own.requestList, cut.requestList])).not.toContain(token);
  });

  it('keeps the first requests, and counts the others', async () => {
    const { client } = await serve((_seen, response) => json(response, { id: 1, login: 'reeve' }));
    for (let n = 0; n < 53; n += 1) await client.call(operations.getSelf, {});

    expect(client.requestList.requests).toHaveLength(50);
    expect(client.requestList.leftOut).toBe(3);
  });
});

describe('a call', () => {
  it('hides its own credential if a forge repeats it', async () => {
    const { client } = await serve((_seen, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: `access token does not exist [sha: ${token}]` }));
    });

    const error = await failureOf(client.call(operations.getSelf, {}));

    expect(error.message).toContain('access token does not exist [sha: [secret]]');
    expect(inspect(error)).not.toContain(token);
  });

  const password = 'p&ss<w>ord"/+ with=signs';
  const basic = Buffer.from(`reeve:${password}`).toString('base64');
  const ofGo = JSON.stringify(password).replace(
    /[&<>]/g,
    (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`,
  );
  const everySignEscaped = (text: string): string =>
    [...text].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const echoes: readonly (readonly [string, number, Record<string, string>, string])[] = [
    ['its header in a message', 401, {}, `{"message":"bad header: Basic ${basic}"}`],
    ['its password as Go escapes it', 422, {}, `{"message":${ofGo}}`],
    ['its password with every character escaped', 422, {}, `{"message":"${everySignEscaped(password)}"}`],
    ['its password as Go escapes it, in another field', 422, {}, `{"errors":[${ofGo}],"url":"x"}`],
    ['its password in plain text', 500, {}, `panic: ${password} ${basic} ${encodeURIComponent(password)}`],
    ['its header at the point where text is truncated', 400, {}, `${'x'.repeat(190)} Basic ${basic}`],
    ['its password in a response that is not JSON', 200, {}, `welcome ${password} (${basic})`],
    [
      'its password in the URL of a redirect',
      302,
      { location: `/api/v1/${encodeURIComponent(password)}` },
      '',
    ],
  ];
  it.each(echoes)('hides its password if a forge repeats %s', async (_title, status, headers, body) => {
    const { client } = await serve((_seen, response) => void response.writeHead(status, headers).end(body), {
      credentials: { user: 'reeve', password },
      tries: 1,
    });

    const write = { params, body: { name: 'x', color: 'ff0000' } };
    const error = await failureOf(client.call(operations.createLabel, write));

    const printed = inspect(error, { depth: 10, showHidden: true });
    const forms = [password, basic, encodeURIComponent(password), ofGo.slice(1, -1), basic.slice(0, 12)];
    for (const form of forms) expect(printed).not.toContain(form);
    expect(printed).toMatch(/\[secret\]|moved to|x{20}/);
  });

  it('fills in the path, sends the credential, and parses the response by its schema', async () => {
    const { server, client } = await serve((_seen, response) =>
      json(response, { id: 1, name: 'a/b', color: null, odd: 1 }),
    );

    const label = await client.call(operations.getLabel, { params: { ...params, id: 'a/b' } });

    expect(label).toEqual({ id: 1, name: 'a/b', color: null });
    expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/api/v1/repos/acme/demo/labels/a%2Fb' });
    expect(server.requests[0]?.headers.authorization).toBe(`token ${token}`);
  });

  it('keeps the slashes of a path parameter that takes the rest', async () => {
    const { server, client } = await serve((_seen, response) =>
      json(response, { name: 'x', path: 'a/b c', type: 'file' }),
    );

    await client.call(operations.getContents, {
      params: { ...params, filepath: 'a/b c' },
      query: { ref: 'x&y' },
    });

    expect(server.requests[0]?.path).toBe('/api/v1/repos/acme/demo/contents/a/b%20c?ref=x%26y');
  });

  it('never sends a path with traversal', async () => {
    const { server, client } = await serve((_seen, response) => json(response, {}));

    await expect(
      client.call(operations.getContents, { params: { ...params, filepath: 'a/../../b' } }),
    ).rejects.toThrow('must not contain');
    expect(server.requests).toEqual([]);
  });

  it('reads null lists and missing fields', async () => {
    const { client } = await serve((_seen, response) => json(response, null));

    expect(await client.call(operations.listBranches, { params })).toEqual([]);
  });

  it('refuses to send a body that the operation does not accept', async () => {
    const { server, client } = await serve((_seen, response) => json(response, {}));

    const error = await failureOf(
      client.send(operations.replaceIssueLabels, {
        params: { ...params, index: 1 },
        body: { labels: [1, 'two'] },
      }),
    );

    expect(error.code).toBe('internal');
    expect(server.requests).toEqual([]);
  });
});

describe('an unsuccessful response', () => {
  const bodies: readonly [number, string, string, string][] = [
    [401, '{"message":"token is required","url":"x"}', 'forge-unauthorized', 'token is required'],
    [403, '', 'forge-forbidden', 'this needs read access, and a token with read:repository'],
    [404, '{"message":"not found","url":"x","errors":null}', 'forge-not-found', 'not found'],
    [404, '{"message":"gone"}null', 'forge-not-found', 'gone'],
    [409, '{"message":"exists"}', 'forge-conflict', 'exists'],
    [422, '{"message":"[Name]: Required"}', 'forge-refused', '[Name]: Required'],
    [423, '{"message":"archived"}', 'forge-locked', 'archived'],
    [418, '<html>teapot</html>', 'forge-refused', 'a web page'],
    [500, '', 'forge-unavailable', '500'],
  ];

  it.each(bodies)('%i %s becomes %s', async (status, body, code, words) => {
    const { client } = await serve((_seen, response) => void response.writeHead(status).end(body), {
      tries: 1,
    });

    const error = await failureOf(client.call(operations.getRepository, { params }));

    expect(error).toMatchObject({ code, status });
    expect(error.message).toContain(words);
    expect(error.message).toContain('GET /api/v1/repos/acme/demo');
  });

  it('names what the permission of another account needs', async () => {
    const { client } = await serve((_seen, response) => void response.writeHead(403).end(''), { tries: 1 });

    const error = await failureOf(
      client.call(operations.getPermission, { params: { ...params, collaborator: 'bob' } }),
    );

    expect(error.message).toContain('this needs administrator access, and a token with read:repository');
  });

  it('never contains the credential, however it is printed', async () => {
    const { client } = await serve((_seen, response) => void response.destroy(), { tries: 1 });

    const error = await failureOf(client.call(operations.getRepository, { params }));

    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(token);
  });
});

describe('retries', () => {
  it('repeat a read after 503 and return its response', async () => {
    let asked = 0;
    const { client, slept } = await serve((_seen, response) => {
      asked += 1;
      if (asked < 3) response.writeHead(503, { 'retry-after': '1' }).end();
      else json(response, { version: '1.27.0' });
    });

    expect(await client.call(operations.getVersion, {})).toEqual({ version: '1.27.0' });
    expect(slept).toEqual([1_000, 1_000]);
    expect(client.requests).toBe(3);
  });

  it('never repeat a write, whatever the response', async () => {
    const { server, client } = await serve(
      (_seen, response) => void response.writeHead(502).end('bad gateway'),
    );

    const error = await failureOf(
      client.call(operations.createLabel, { params, body: { name: 'a', color: 'ff0000' } }),
    );

    expect(error).toMatchObject({ code: 'forge-unavailable', retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  it('leave a long wait to the caller', async () => {
    const { server, client } = await serve(
      (_seen, response) => void response.writeHead(429, { 'retry-after': '60' }).end(),
    );

    const error = await failureOf(client.call(operations.getVersion, {}));

    expect(error).toMatchObject({ code: 'forge-throttled', retryAfterMs: 60_000 });
    expect(server.requests).toHaveLength(1);
  });

  it('give up on a forge that does not answer in time', async () => {
    const { client } = await serve(() => {}, { timeoutMs: 50, tries: 2 });

    expect(await failureOf(client.call(operations.getVersion, {}))).toMatchObject({ code: 'forge-timeout' });
    expect(client.requests).toBe(2);
  });

  it('distinguish a forge that is unreachable from one that refuses', async () => {
    const { server, client } = await serve(() => {}, { tries: 1 });
    await server.close();

    expect(await failureOf(client.call(operations.getVersion, {}))).toMatchObject({
      code: 'forge-unreachable',
    });
  });

  it.each([
    ['not json', 'forge-junk'],
    ['<html>captive portal</html>', 'forge-junk'],
    ['{"version": 7}', 'forge-unexpected'],
    ['[]', 'forge-unexpected'],
  ])('treat %s as %s', async (body, code) => {
    const { client } = await serve((_seen, response) => void response.end(body), { tries: 1 });

    expect(await failureOf(client.call(operations.getVersion, {}))).toMatchObject({
      code,
      retryable: true,
    });
  });
});

describe('redirects', () => {
  it('are followed for a read within the forge', async () => {
    const { server, client } = await serve((seen, response) => {
      if (seen.path.endsWith('/old')) response.writeHead(301, { location: '/api/v1/repos/acme/new' }).end();
      else json(response, { id: 1, name: 'new', full_name: 'acme/new', owner: { id: 1, login: 'acme' } });
    });

    const found = await client.call(operations.getRepository, { params: { owner: 'acme', repo: 'old' } });

    expect(found.name).toBe('new');
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/v1/repos/acme/old',
      '/api/v1/repos/acme/new',
    ]);
  });

  it.each([301, 302, 303, 307, 308])('fail for a write with status %i', async (status) => {
    const { server, client } = await serve((_seen, response) => {
      response.writeHead(status, { location: '/api/v1/repos/acme/new/labels' }).end();
    });

    const error = await failureOf(
      client.call(operations.createLabel, { params, body: { name: 'a', color: 'ff0000' } }),
    );

    expect(error.code).toBe('forge-moved');
    expect(error.message).toContain('/api/v1/repos/acme/new/labels');
    expect(server.requests).toHaveLength(1);
  });

  it('never lead to another origin', async () => {
    const stranger = await startBareServer((_seen, response) => json(response, {}));
    open.push(stranger);
    const { client } = await serve((_seen, response) => {
      response.writeHead(302, { location: `${stranger.url}/api/v1/version` }).end();
    });

    expect((await failureOf(client.call(operations.getVersion, {}))).code).toBe('forge-moved');
    expect(stranger.requests).toEqual([]);
  });

  it('are aborted in a loop', async () => {
    const { server, client } = await serve((_seen, response) => {
      response.writeHead(302, { location: '/api/v1/version' }).end();
    });

    expect((await failureOf(client.call(operations.getVersion, {}))).code).toBe('forge-moved');
    expect(server.requests.length).toBeLessThan(10);
  });
});

describe('paging', () => {
  const label = (id: number) => ({ id, name: `l${id}` });
  const pageOf = (seen: ReceivedRequest): number =>
    Number(new URL(seen.path, 'http://x').searchParams.get('page'));
  async function collect(
    client: ReturnType<typeof createClient>,
    operation = operations.listLabels,
  ): Promise<number[]> {
    const ids: number[] = [];
    for await (const item of client.items(operation, { params })) ids.push(item.id);
    return ids;
  }

  it('continues while Link names a next page, but never follows its URL', async () => {
    const { server, client } = await serve((seen, response) => {
      const page = pageOf(seen);
      const link =
        page < 3
          ? { link: `<http://elsewhere.invalid/x?page=${page + 1}>; rel="next"` }
          : { link: '<x>; rel="prev"' };
      json(response, [label(page)], 200, link);
    });

    expect(await collect(client)).toEqual([1, 2, 3]);
    expect(server.requests.map(pageOf)).toEqual([1, 2, 3]);
  });

  it('stops at the total if there is no Link', async () => {
    const { server, client } = await serve((seen, response) => {
      json(response, [label(pageOf(seen) * 2), label(pageOf(seen) * 2 + 1)], 200, { 'x-total-count': '4' });
    });

    expect(await collect(client)).toEqual([2, 3, 4, 5]);
    expect(server.requests).toHaveLength(2);
  });

  it('continues after a page that is shorter than requested, until the first empty page', async () => {
    const { client } = await serve((seen, response) => {
      const page = pageOf(seen);
      json(response, page === 1 ? [label(1)] : page === 2 ? [label(2)] : []);
    });

    expect(await collect(client)).toEqual([1, 2]);
  });

  it('continues after one empty page if the total counts only the page', async () => {
    const entry = (id: number) => ({ id, type: 'comment' });
    const pages = [[entry(1), entry(2)], null, [entry(3), null], null, null];
    const { server, client } = await serve((seen, response) => {
      const page = pages[pageOf(seen) - 1] ?? null;
      json(response, page, 200, { 'x-total-count': String(page?.length ?? 0) });
    });
    const ids: number[] = [];
    for await (const { id } of client.items(operations.listTimeline, { params: { ...params, index: 1 } }))
      ids.push(id);

    expect(ids).toEqual([1, 2, 3]);
    expect(server.requests).toHaveLength(5);
  });

  it('fails on a repeated page instead of looping forever', async () => {
    const { client } = await serve((_seen, response) =>
      json(response, [label(1)], 200, { link: '<x>; rel="next"' }),
    );

    expect((await failureOf(collect(client))).code).toBe('forge-paging');
  });

  it('stops reading a list that never ends', async () => {
    const { client } = await serve((seen, response) => {
      json(response, [label(pageOf(seen))], 200, { link: '<x>; rel="next"' });
    });

    expect((await failureOf(collect(client))).message).toContain('more than 2000 pages');
  });
});

describe('the URL of the forge', () => {
  it.each([
    ['http://h', 'http://h/api/v1'],
    ['http://h/', 'http://h/api/v1'],
    ['http://h:3000/api/v1', 'http://h:3000/api/v1'],
    ['https://h/sub/api/v1/', 'https://h/sub/api/v1'],
    ['https://h/sub', 'https://h/sub/api/v1'],
  ])('%s has the API root %s', (given, root) => {
    expect(apiRoot(given).href).toBe(root);
  });

  it.each(['nowhere', 'ftp://h', 'http://user:password@h', 'http://h?token=x'])('%s is refused', (given) => {
    expect(() => apiRoot(given)).toThrow(ReeveError);
  });
});

describe('a client that is stopped', () => {
  const stuck = (options: Partial<ClientOptions> = {}) => serve(() => {}, { tries: 1, ...options });

  it('ends the active and the queued calls, and sends no further request', async () => {
    const stop = new AbortController();
    const { client, server } = await stuck({ signal: stop.signal, concurrency: 1 });
    const calls = [1, 2, 3].map(() => failureOf(client.call(operations.getSelf, {})));
    await expect.poll(() => server.requests.length).toBe(1);

    stop.abort();

    for (const call of calls) expect((await call).code).toBe('stopped');
    expect((await failureOf(client.call(operations.getSelf, {}))).code).toBe('stopped');
    expect(server.requests).toHaveLength(1);
  });

  it('ends a response whose body does not arrive', async () => {
    const stop = new AbortController();
    const { client, server } = await serve(
      (_seen, response) => {
        response.writeHead(200, { 'content-length': 1_000 }).flushHeaders();
      },
      { signal: stop.signal },
    );
    const call = failureOf(client.call(operations.getSelf, {}));
    await expect.poll(() => server.requests.length).toBe(1);

    stop.abort();

    expect((await call).code).toBe('stopped');
  });

  it('does not wait for the next attempt', async () => {
    const stop = new AbortController();
    const { client, server } = await serve((_seen, response) => json(response, {}, 503), {
      signal: stop.signal,
      sleep: (_ms, signal) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    });
    const call = failureOf(client.call(operations.getSelf, {}));
    await expect.poll(() => server.requests.length).toBe(1);

    stop.abort();

    expect((await call).code).toBe('stopped');
    expect(server.requests).toHaveLength(1);
  });

  it('has parts that can be stopped separately', async () => {
    const stop = new AbortController();
    const { client, server } = await stuck();
    const own = failureOf(client.counted({ signal: stop.signal }).call(operations.getSelf, {}));
    const other = failureOf(client.call(operations.getSelf, {}));
    await expect.poll(() => server.requests.length).toBe(2);

    stop.abort();

    expect((await own).code).toBe('stopped');
    await server.close();
    expect((await other).code).toBe('forge-unreachable');
  });
});

describe('a credential in a file', () => {
  const others = 'another-token-that-no-one-else-may-see';
  const answerOf =
    (valid: () => string) =>
    (seen: ReceivedRequest, response: Parameters<Parameters<typeof startBareServer>[0]>[1]) => {
      if (seen.headers.authorization === `token ${valid()}`) return json(response, { id: 1, login: 'reeve' });
      return json(response, { message: `unknown: ${seen.headers.authorization}` }, 401);
    };

  it('is read again when the forge refuses the current one, and the request is repeated', async () => {
    let read = 0;
    const { server, client } = await serve(
      answerOf(() => others),
      {
        readCredentials: () => {
          read += 1;
          return { token: others };
        },
      },
    );

    await Promise.all([1, 2, 3].map(() => client.call(operations.getSelf, {})));
    await client.counted().call(operations.getSelf, {});

    expect(read).toBe(1);
    expect(server.requests.at(-1)?.headers.authorization).toBe(`token ${others}`);
  });

  it.each([
    // Forgejo and earlier releases of Gitea, and Gitea.
    ['token does not have at least one of required scope(s): [write:issue]', 2, undefined],
    [
      'token does not have at least one of required scope(s), required=[write:issue], token scope=read:issue',
      2,
      undefined,
    ],
    ['Must be a repository owner.', 1, 'forge-forbidden'],
  ])(
    'is read again after a 403 that names a scope, and not after another one: %s',
    async (message, requests, code) => {
      const { server, client } = await serve(
        (seen, response) =>
          seen.headers.authorization === `token ${others}`
            ? json(response, { id: 1, login: 'reeve' })
            : json(response, { message }, 403),
        { readCredentials: () => ({ token: others }) },
      );

      const failure = await client.call(operations.getSelf, {}).then(
        () => undefined,
        (error: ReeveError) => error.code,
      );

      expect([server.requests.length, failure]).toEqual([requests, code]);
    },
  );

  it.each([
    ['is the same', { token }],
    ['cannot be read', undefined],
    ['is refused as well', { token: 'a-third-token-that-is-refused' }],
  ])('that %s is refused without a loop, and never shown', async (_what, credentials) => {
    const { server, client } = await serve(
      answerOf(() => others),
      { readCredentials: () => credentials },
    );

    const error = await failureOf(client.call(operations.getSelf, {}));

    expect(error.code).toBe('forge-unauthorized');
    expect(server.requests.length).toBeLessThanOrEqual(2);
    for (const secret of [token, credentials?.token ?? token]) expect(inspect(error)).not.toContain(secret);
  });
});
