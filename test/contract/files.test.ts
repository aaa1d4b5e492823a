import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import { cloneRepository, runGit } from '../support/git-client.ts';

const mit = `MIT License

Copyright (c) 2024 Ada

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;

const editorConfig = `root = true
[*]
indent_style = tab
indent_size = 4
[*.md]
indent_style = space
indent_size=2
max_line_length = 100
[{a,b}{1..3}.{js,ts}]
charset = LATIN1
end_of_line = crlf
[docs/**]
indent_size = 8
`;

const bytes = Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7) % 256));
/** Content larger than what a forge holds in memory at once. */
const large = Buffer.alloc(3 * 1024 * 1024, 'line of text that repeats\n');

describeContract('files', (forge) => {
  let ada: Account;
  let stranger: Account;
  let repository: string;
  let head: string;
  let first: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    stranger = await forge.makeUser();
    repository = await forge.makeRepository(ada, { auto_init: true });
    first = (await ask('/branches/main')).json.commit.id;
    const clone = await cloneRepository(addressOf(repository));
    try {
      mkdirSync(join(clone.folder, 'src'));
      writeFileSync(join(clone.folder, 'bytes.bin'), bytes);
      writeFileSync(join(clone.folder, 'large.txt'), large);
      symlinkSync('README.md', join(clone.folder, 'link'));
      await clone.commit({
        'README.md': '# Hi\n',
        LICENSE: mit,
        '.editorconfig': editorConfig,
        'src/main.go': 'package main\n\nfunc main() {}\n',
        'src/page.js': 'x()\n',
        'src/tool': '#!/usr/bin/env python3\nprint(100)\n',
        'page.html': '<html><script>1</script></html>\n',
        'image.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
        'image.png': '\u0089PNG\r\n',
        'a name; with "quotes".txt': 'x\n',
        empty: '',
      });
      writeFileSync(join(clone.folder, 'image.png'), Buffer.from('89504e470d0a1a0a00000000', 'hex'));
      await clone.git('add', '--all');
      await clone.git('commit', '--quiet', '-m', 'png');
      await clone.git('tag', '-a', 'v1.0', '-m', 'one');
      await clone.git('push', '--quiet', 'origin', 'main', 'v1.0');
      await clone.git('checkout', '--quiet', '-b', 'topic/x');
      head = await clone.commit({ 'only-here.txt': 'y\n' });
      await clone.git('push', '--quiet', 'origin', 'topic/x');
    } finally {
      clone.remove();
    }
  }, 60_000);

  function addressOf(name: string): string {
    const url = new URL(`${forge.url}/${name}.git`);
    Object.assign(url, { username: ada.name, password: ada.token });
    return url.href;
  }

  const ask = (
    path: string,
    as: Account | undefined = ada,
    headers: Record<string, string> = {},
  ): Promise<Answer> => forge.ask('GET', `/repos/${repository}${path}`, { as, headers });

  async function download(path: string, headers: Record<string, string> = {}) {
    const url = path.startsWith('http') ? path : `${forge.url}/api/v1/repos/${repository}${path}`;
    const response = await fetch(url, {
      headers: { authorization: `token ${ada.token}`, ...headers },
      redirect: 'manual',
    });
    return {
      status: response.status,
      headers: response.headers,
      body: Buffer.from(await response.arrayBuffer()),
    };
  }

  describe('as raw bytes', () => {
    it.each([
      ['/raw/README.md', '# Hi\n'],
      ['/raw/main/README.md', '# Hi\n'],
      ['/raw/main%2FREADME.md', '# Hi\n'],
      ['/raw/topic/x/only-here.txt', 'y\n'],
      ['/raw/only-here.txt?ref=topic/x', 'y\n'],
      ['/raw/v1.0/src/page.js', 'x()\n'],
      ['/raw/HEAD_ID/only-here.txt', 'y\n'],
      ['/raw/link', 'README.md'],
      ['/raw/empty', ''],
      ['/media/README.md', '# Hi\n'],
      ['/media/topic/x/only-here.txt', 'y\n'],
    ])('are served from %s', async (path, text) => {
      const answer = await ask(path.replace('HEAD_ID', head), stranger);

      expect([answer.status, answer.text]).toEqual([200, text]);
    });

    it('are unchanged, both whole and by range', async () => {
      const whole = await download('/raw/bytes.bin');
      const part = await download('/raw/bytes.bin', { range: 'bytes=5-9' });
      const rest = await download('/media/bytes.bin', { range: 'bytes=2990-' });
      const beyond = await download('/raw/bytes.bin', { range: 'bytes=3000-' });

      expect([whole.status, whole.body.equals(bytes), whole.headers.get('content-type')]).toEqual([
        200,
        true,
        'application/octet-stream',
      ]);
      expect([part.status, part.body, part.headers.get('content-range')]).toEqual([
        206,
        bytes.subarray(5, 10),
        'bytes 5-9/3000',
      ]);
      expect([rest.status, rest.body]).toEqual([206, bytes.subarray(2990)]);
      expect(beyond.status).toBe(416);
    });

    it('may be large, both whole and by range', async () => {
      const whole = await download('/raw/large.txt');
      const part = await download('/raw/large.txt', { range: 'bytes=2000000-2000099' });

      expect([whole.status, whole.body.equals(large), whole.headers.get('content-type')]).toEqual([
        200,
        true,
        'text/plain; charset=utf-8',
      ]);
      expect([part.status, part.body.equals(large.subarray(2_000_000, 2_000_100))]).toEqual([206, true]);
    });

    it('are not sent again to a client that has them cached', async () => {
      const known = await download('/raw/README.md');
      const etag = known.headers.get('etag') ?? '';

      const again = await download('/raw/README.md', { 'if-none-match': etag });

      expect(etag).toBe(`"${(await ask('/contents/README.md')).json.sha}"`);
      expect([again.status, again.body.length]).toEqual([304, 0]);
      expect(new Date(known.headers.get('last-modified') ?? '').getTime()).toBeGreaterThan(0);
    });

    it.each([
      ['page.html', 'text/plain; charset=utf-8'],
      ['image.svg', 'image/svg+xml'],
      ['image.png', 'image/png'],
      ['README.md', 'text/plain; charset=utf-8'],
    ])('cannot run scripts in a browser: %s is %s', async (name, type) => {
      const { headers } = await download(`/raw/${name}`);

      expect([headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([type, 'nosniff']);
      if (type === 'image/svg+xml') expect(headers.get('content-security-policy')).toContain('sandbox');
      expect(headers.get('content-disposition')).toContain('inline');
      expect(headers.get('x-gitea-object-type')).toBe('file');
    });

    it('keep their name', async () => {
      const { status, headers, body } = await download('/raw/a%20name;%20with%20%22quotes%22.txt');

      expect([status, body.toString()]).toEqual([200, 'x\n']);
      expect(headers.get('content-disposition')).toMatch(/name/);
    });

    it.each([
      '/raw/src',
      '/raw/nothing',
      '/raw/main/nothing',
      '/raw/..%2F..%2Fconfig',
      '/raw/--help',
      '/raw/README.md/x',
      '/media/src',
      '/media/nothing',
      `/raw/${'0'.repeat(40)}/README.md`,
    ])('are not found at %s', async (path) => {
      expect((await ask(path)).status).toBe(404);
    });

    it('are not found by an abbreviated commit id', async () => {
      expect((await ask(`/raw/${first.slice(0, 10)}/README.md`)).status).toBe(404);
    });

    it('are not found by an abbreviated commit id in `ref` of the contents operation', async () => {
      expect((await ask(`/contents/README.md?ref=${first.slice(0, 10)}`)).status).toBe(404);
      expect((await ask(`/contents?ref=${first.slice(0, 7)}`)).status).toBe(404);
      expect((await ask(`/contents?ref=${first}`)).status).toBe(200);
    });

    it('come from the default branch if the ref is unknown', async () => {
      expect((await ask('/raw/README.md?ref=nothing')).text).toBe('# Hi\n');
    });
  });

  it('are listed from the root if no path is given', async () => {
    const { status, json } = await ask('/contents');
    const names = json.map(({ name }: { name: string }) => name);

    expect([status, names]).toEqual([200, expect.arrayContaining(['README.md', 'src', 'link'])]);
    expect((await ask('/contents?ref=nothing')).status).toBe(404);
  });

  describe('in an archive', () => {
    it.each([
      ['main.zip', 'main.zip', 'PK\u0003\u0004'],
      ['topic/x.zip', 'topic-x.zip', 'PK\u0003\u0004'],
      ['v1.0.tar.gz', 'v1.0.tar.gz', '\u001f\u008b'],
      ['FIRST.zip', 'FIRST.zip', 'PK\u0003\u0004'],
    ])('are downloaded as %s', async (name, file, magic) => {
      const { status, headers, body } = await download(`/archive/${name.replace('FIRST', first)}`);

      const [, repo] = repository.split('/');
      expect([status, body.subarray(0, magic.length).toString('latin1')]).toEqual([200, magic]);
      expect(headers.get('content-disposition')).toContain(`${repo}-${file.replace('FIRST', first)}`);
      expect(headers.get('link')).toContain('rel="immutable"');
    });

    it('are in a folder named after the repository', async () => {
      const { body } = await download('/archive/main.tar.gz');

      const text = gunzipSync(body).toString('latin1');
      const [, repo] = repository.split('/');
      expect(text).toContain(`${repo}/src/main.go`);
      expect(text).toContain('package main');
    });

    it('can be limited to a path', async () => {
      const { body } = await download('/archive/main.tar.gz?path=src');
      const missing = await download('/archive/main.zip?path=nothing');
      const ofBundle = await download('/archive/main.bundle?path=src');

      const text = gunzipSync(body).toString('latin1');
      expect([text.includes('/src/main.go'), text.includes('/README.md')]).toEqual([true, false]);
      expect([missing.status, ofBundle.status]).toEqual([400, 400]);
    });

    it('can be downloaded as a bundle with the history, which git can clone', async () => {
      const { status, body } = await download('/archive/topic/x.bundle');
      const folder = await mkdtemp(join(tmpdir(), 'bundle-'));
      try {
        const file = join(folder, 'x.bundle');
        writeFileSync(file, body);
        await runGit(folder, ['clone', '--quiet', '--branch', 'bundle', file, 'clone']);
        const log = await runGit(join(folder, 'clone'), ['log', '--format=%H']);

        expect([status, log.split('\n')[0]]).toEqual([200, head]);
        expect(log).toContain(first);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });

    it.each([
      ['main.rar', 400],
      ['main', 400],
      ['nothing.zip', 404],
      ['.zip', 404],
      ['--help.zip', 404],
      ['--output=x.tar.gz', 404],
      ['main..topic.zip', 404],
    ])('are refused with the name %s', async (name, status) => {
      expect((await ask(`/archive/${name}`)).status).toBe(status);
    });
  });

  it('stay executable when they are changed or moved through the API', async () => {
    const name = await forge.makeRepository(ada, { auto_init: true });
    const clone = await cloneRepository(addressOf(name));
    try {
      writeFileSync(join(clone.folder, 'run.sh'), 'echo 1\n', { mode: 0o755 });
      writeFileSync(join(clone.folder, 'move.sh'), 'echo 2\n', { mode: 0o755 });
      await clone.commit({ 'plain.txt': 'x\n' });
      await clone.git('push', '--quiet', 'origin', 'HEAD');
      const change = async (path: string, from?: string) => {
        const old = (await forge.ask('GET', `/repos/${name}/contents/${from ?? path}`, { as: ada })).json;
        const body = { content: 'eA==', message: 'change', sha: old.sha, from_path: from };
        const { status } = await forge.ask('PUT', `/repos/${name}/contents/${path}`, { as: ada, body });
        expect(status).toBe(200);
      };
      await change('run.sh');
      await change('moved.sh', 'move.sh');
      await change('plain.txt');
      await clone.git('pull', '--quiet', 'origin', 'HEAD');
      const listed = await runGit(clone.folder, ['ls-tree', 'HEAD', '--format=%(objectmode) %(path)']);
      expect(listed.trim().split('\n')).toEqual([
        '100644 README.md',
        '100755 moved.sh',
        '100644 plain.txt',
        '100755 run.sh',
      ]);
    } finally {
      clone.remove();
    }
  });

  describe('with editor settings', () => {
    it.each([
      ['x.go', { indent_style: 'tab', indent_size: '4' }],
      ['x.md', { indent_style: 'space', indent_size: '2' }],
      ['b3.ts', { charset: 'latin1', indent_style: 'tab', indent_size: '4', end_of_line: 'crlf' }],
      ['b4.ts', { indent_style: 'tab', indent_size: '4' }],
      ['docs%2Fa%2Fb.txt', { indent_style: 'tab', indent_size: '8' }],
    ])('return the settings for %s', async (name, settings) => {
      const { status, json } = await ask(`/editorconfig/${name}`);

      expect([status, json]).toEqual([200, settings]);
    });

    it('return 404 if no file defines settings', async () => {
      expect((await ask(`/editorconfig/x.go?ref=${first}`)).status).toBe(404);
      const empty = await forge.makeRepository(ada);
      expect((await forge.ask('GET', `/repos/${empty}/editorconfig/x`, { as: ada })).status).toBe(404);
    });
  });

  it('are counted by language, largest first', async () => {
    // A real forge counts languages in the background after the push.
    await expect.poll(async () => Object.keys((await ask('/languages')).json)).toHaveLength(4);
    const { json } = await ask('/languages');

    expect(Object.entries(json)).toEqual([
      ['Python', 34],
      ['HTML', 32],
      ['Go', 29],
      ['JavaScript', 4],
    ]);
  });

  it('of an empty repository have no language', async () => {
    const empty = await forge.makeRepository(ada);
    const { status, json } = await forge.ask('GET', `/repos/${empty}/languages`, { as: ada });

    expect([status, json]).toEqual([200, {}]);
  });

  it('determine the license of a repository', async () => {
    await expect.poll(async () => (await ask('/licenses')).json).toEqual(['MIT']);
    const plain = await forge.makeRepository(ada, { auto_init: true });
    const { status, json } = await forge.ask('GET', `/repos/${plain}/licenses`, { as: ada });
    expect([status, json]).toEqual([200, []]);
  });

  describe('at the URLs in responses', () => {
    it('are downloaded', async () => {
      const { json } = await ask('/contents/README.md?ref=topic/x');
      const list = (await ask('/contents/src')).json;

      const file = await download(json.download_url);
      const [go] = await Promise.all(
        list.map((entry: { download_url: string }) => download(entry.download_url)),
      );

      expect([file.status, file.body.toString()]).toEqual([200, '# Hi\n']);
      expect([go.status, go.body.toString()]).toEqual([200, 'package main\n\nfunc main() {}\n']);
      const ofCommit = (await ask(`/contents/README.md?ref=${head}`)).json;
      expect((await download(ofCommit.download_url)).body.toString()).toBe('# Hi\n');
      expect((await download(ofCommit.download_url.replace('/raw/', '/media/'))).body.toString()).toBe(
        '# Hi\n',
      );
      expect((await download(`${forge.url}/${repository}/raw/blob/${json.sha}`)).body.toString()).toBe(
        '# Hi\n',
      );
    });

    it('have web pages', async () => {
      const { json } = await ask('/contents/README.md?ref=topic/x');
      const folder = (await ask('/contents')).json.find(({ name }: { name: string }) => name === 'src');
      const commit = (await ask('/commits?limit=1&sha=topic/x')).json[0];

      for (const url of [json.html_url, folder.html_url, commit.html_url, `${commit.html_url}.diff`]) {
        const page = await download(url);
        expect([url, page.status]).toEqual([url, 200]);
      }
      expect((await download(json.html_url)).headers.get('content-type')).toContain('text/html');
      expect((await download(`${commit.html_url}.diff`)).body.toString()).toContain('only-here.txt');
    });

    it('include the archives of a tag', async () => {
      const { json } = await ask('/tags/v1.0');

      for (const url of [json.zipball_url, json.tarball_url]) {
        // Forgejo redirects while it generates the archive.
        await expect.poll(async () => (await download(url)).status).toBe(200);
      }
    });

    it('are hidden from strangers in a private repository', async () => {
      const hidden = await forge.makeRepository(ada, { auto_init: true, private: true });
      const paths = [
        'raw/branch/main/README.md',
        'src/branch/main/README.md',
        'archive/main.zip',
        'media/branch/main/README.md',
      ];
      for (const path of paths) {
        const response = await fetch(`${forge.url}/${hidden}/${path}`, { redirect: 'manual' });
        expect([path, [303, 401, 404].includes(response.status)]).toEqual([path, true]);
      }
      for (const path of [
        'raw/README.md',
        'media/README.md',
        'archive/main.zip',
        'editorconfig/x',
        'languages',
        'contents',
      ]) {
        const { status } = await forge.ask('GET', `/repos/${hidden}/${path}`, { as: stranger });
        expect([path, status]).toEqual([path, 404]);
      }
    });

    it.each([
      'raw/branch/nothing/README.md',
      'src/branch/main/nothing',
      'commit/0000000000',
      'raw/branch/main/src',
    ])('return 404 at %s', async (path) => {
      expect((await download(`${forge.url}/${repository}/${path}`)).status).toBe(404);
    });
  });
});
