import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { createForge, type Forge } from '../../src/exports/embedded-forge.ts';
import { packageRoot } from '../../src/platform/package.ts';

/** Values of path parameters. Reads with other parameters are reached through the URLs in responses. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  '{owner}/{repo}': ['acme/shop', 'acme/api', 'acme/docs', 'globex/reactor', 'globex/secret'],
  '{org}': ['acme', 'globex'],
  '{username}': ['ada', 'ben'],
  '{index}': ['1', '4', '5'],
};

/** Returns the paths of every list and of every read of an account, a repository, an issue or a pull request. */
function startPaths(): readonly string[] {
  const reads = Object.values<Operation>(operations).filter(({ method }) => method === 'GET');
  let paths = reads.map(({ path }) => path);
  for (const [name, values] of Object.entries(parameters)) {
    paths = paths.flatMap((path) =>
      path.includes(name) ? values.map((value) => path.replace(name, value)) : [path],
    );
  }
  return paths.filter((path) => !path.includes('{'));
}

/** A URL in a response: the field that contains it, and the URL of that response. */
type Found = { readonly url: string; readonly member: string; readonly from: string };

describe('the URLs in the responses of a populated forge', () => {
  let forge: Forge;
  beforeAll(async () => {
    forge = await createForge({ seed: await readFile(join(packageRoot, 'examples/seed.yml'), 'utf8') });
    const shop = '/repos/acme/shop';
    const { id } = await send(`${shop}/releases`, { tag_name: 'v2.0.0', name: 'Two', body: 'New' });
    await send(`${shop}/releases/${id}/assets?name=notes.txt`, fileOf('notes'));
    await send(`${shop}/issues/1/assets`, fileOf('log'));
    await send(`${shop}/issues/1/comments`, { body: 'for @root' });
    await send(`${shop}/forks`, {});
  });
  afterAll(() => forge.close());

  function fileOf(text: string): FormData {
    const form = new FormData();
    form.set('attachment', new Blob([text]), `${text}.txt`);
    return form;
  }

  async function send(path: string, body?: object | FormData) {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${forge.apiUrl}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `token ${forge.admin.token}`,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  }

  /** Returns the URLs of the forge in a JSON value. */
  function addressesIn(value: unknown, from: string, member = ''): readonly Found[] {
    if (typeof value === 'string')
      return value.startsWith(`${forge.url}/`) ? [{ url: value, member, from }] : [];
    if (typeof value !== 'object' || value === null) return [];
    // Gitea also gives a folder a blob URL here, which returns 400.
    const isFolder = 'type' in value && value.type === 'dir';
    return Object.entries(value).flatMap(([name, inner]) =>
      isFolder && ['git_url', '_links'].includes(name)
        ? []
        : addressesIn(inner, from, Array.isArray(value) ? member : name),
    );
  }

  it('all resolve: API, pages, files, archives, git', async () => {
    const queue: Found[] = startPaths().map((path) => ({
      url: `${forge.apiUrl}${path}`,
      member: '',
      from: '',
    }));
    const seen = new Set(queue.map(({ url }) => url));
    const members = new Set<string>();
    const dead: string[] = [];
    for (let one = queue.shift(); one; one = queue.shift()) {
      const { url, member, from } = one;
      const answer = await fetch(url, { headers: { authorization: `token ${forge.admin.token}` } });
      const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
      const text = await answer.text();
      // A path that this test composed may refer to something that does not exist, such as the pull request of an
      // issue's number.
      if (answer.status >= (member === '' ? 500 : 400))
        dead.push(`${member} ${url}: ${answer.status}, in ${from}`);
      if (!isJson || !answer.ok || !url.startsWith(forge.apiUrl)) continue;
      for (const next of addressesIn(JSON.parse(text), url)) {
        members.add(next.member);
        if (seen.has(next.url)) continue;
        seen.add(next.url);
        queue.push(next);
      }
    }

    expect(dead).toEqual([]);
    expect([...members]).toEqual(
      expect.arrayContaining(
        'avatar_url browser_download_url clone_url contents_url diff_url download_url git_url html_url issue_url languages_url patch_url pull_request_url raw_url tarball_url repository_url upload_url url zipball_url'.split(
          ' ',
        ),
      ),
    );
  });
});
