import { request } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { type Account, startEmbedded } from '../support/contract-forge.ts';
import { propertyRuns } from '../support/figure.ts';

const rows: readonly Operation[] = Object.values(operations);
const runs = process.env.LONG ? 50_000 : propertyRuns(600);

describe('the embedded forge under random requests', () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let ada: Account;
  let repository: string;
  beforeAll(async () => {
    forge = await startEmbedded();
    ada = await forge.makeUser();
    repository = await forge.makeRepository(ada, { auto_init: true });
    const write = (path: string, body: object) =>
      forge.ask('POST', `/repos/${repository}${path}`, { as: ada, body });
    await write('/labels', { name: 'bug', color: 'fff' });
    await write('/issues', { title: 'first' });
    await write('/issues/1/comments', { body: 'hm' });
    await write('/milestones', { title: 'v1' });
    const config = { url: 'http://127.0.0.1:9/', content_type: 'json' };
    await write('/hooks', { type: 'gitea', config, events: ['issues', 'push'], active: true });
  });
  afterAll(() => forge.close());

  /** Valid and invalid values of fields. */
  const member = fc.oneof(
    fc.constantFrom<unknown>(
      'bug',
      'main',
      'open',
      'closed',
      1,
      0,
      -1,
      1.5,
      2 ** 60,
      true,
      null,
      '',
      'README.md',
    ),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '2030-01-01T00:00:00Z',
      '\0',
      '\ud800',
      '../..',
      '%00',
      "'; DROP TABLE users; --",
      'x'.repeat(5000),
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const names = [
    ...[
      'name',
      'title',
      'body',
      'labels',
      'color',
      'state',
      'assignees',
      'milestone',
      'due_date',
      'events',
      'config',
    ],
    ...[
      'branch_filter',
      'head',
      'base',
      'content',
      'sha',
      'branch',
      'new_branch',
      'new_branch_name',
      'old_ref_name',
    ],
    ...[
      'username',
      'email',
      'scopes',
      'type',
      'permission',
      'archived',
      'default_branch',
      'url',
      'content_version',
    ],
    ...[
      'message',
      'author',
      'dates',
      'do',
      'event',
      'visibility',
      'private',
      'active',
      'description',
      '__proto__',
    ],
  ];
  const body = fc.oneof(
    fc
      .dictionary(fc.constantFrom(...names), member, { maxKeys: 8 })
      .map((members) => JSON.stringify(members)),
    fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
    fc.string(),
    fc.constant(undefined),
  );
  const segment = fc.oneof(
    fc.constantFrom(
      '1',
      '0',
      '-1',
      '99999999999999999999',
      'main',
      'bug',
      'README.md',
      '.git',
      '..',
      '%2e%2e',
      '%00',
      '%',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const query = fc.oneof(
    fc.constant(''),
    fc
      .tuple(
        fc.constantFrom(
          'page',
          'limit',
          'state',
          'labels',
          'since',
          'ref',
          'sort',
          'q',
          'includes',
          'milestones',
        ),
        fc.oneof(fc.constantFrom('-1', '0', '1e9', '9'.repeat(30), '%00', '[', 'main'), segment),
      )
      .map(([name, value]) => `?${name}=${value}`),
  );

  it('never returns 500, never hangs and never shows a stack trace', { timeout: 3_600_000 }, async () => {
    const call = fc.record({
      row: fc.constantFrom(...rows),
      own: fc.boolean(),
      segments: fc.array(segment, { minLength: 6, maxLength: 6 }),
      query,
      body,
      who: fc.constantFrom('ada', 'admin', 'anonymous'),
    });

    await fc.assert(
      fc.asyncProperty(call, async ({ row, own, segments, query: text, body: given, who }) => {
        const [owner = '', name = ''] = own ? repository.split('/') : segments;
        const rest = [...segments];
        const path = row.path.replace(/\{(\w+)\*?\}/g, (_, parameter: string) => {
          if (parameter === 'owner') return owner;
          if (parameter === 'repo') return name;
          return rest.pop() ?? '1';
        });
        // The repository that the other requests use must not be deleted or edited.
        const isDeadly = row.id === 'repository.delete' || row.id === 'repository.edit';
        if (own && isDeadly) return;
        const token = { ada: ada.token, admin: forge.adminToken, anonymous: undefined }[who];

        const answer = await send(row.method, `/api/v1${path}${text}`, token, given);

        expect(answer.status, `${row.method} ${path}${text} ${given}: ${answer.text}`).not.toBe(500);
        expect(answer.text).not.toMatch(/\n\s+at |node_modules|SQLITE|sqlite/);
      }),
      { numRuns: runs },
    );
  });

  /** Sends a path unchanged: `fetch` would normalize it. */
  function send(method: string, path: string, token: string | undefined, given: string | undefined) {
    const { hostname, port } = new URL(forge.url);
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `token ${token}` }),
        ...(given === undefined ? {} : { 'content-length': Buffer.byteLength(given) }),
      };
      const sent = request({ hostname, port, method, path, headers, timeout: 240_000 }, async (response) => {
        let text = '';
        for await (const piece of response) text += piece;
        resolve({ status: response.statusCode ?? 0, text });
      });
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer`)));
      sent.on('error', reject);
      sent.end(given);
    });
  }

  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['a malformed header', 'GET /api/v1/version HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n'],
    [
      'a content length that is not a number',
      'POST /api/v1/orgs HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n',
    ],
    [
      'a path that is not valid text',
      'GET /api/v1/users/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ],
  ])('responds to %s with a client error', async (_, bytes) => {
    const { hostname, port } = new URL(forge.url);
    const socket = connect(Number(port), hostname);
    socket.write(bytes);
    let text = '';
    for await (const piece of socket) text += piece;

    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  it('responds to a body over the limit with 413', async () => {
    const answer = await forge.ask('POST', `/repos/${repository}/issues`, {
      as: ada,
      body: JSON.stringify({ title: 'x', body: 'y'.repeat(33 * 1024 * 1024) }),
    });

    expect(answer.status).toBe(413);
  });
});
