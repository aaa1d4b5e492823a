import { createHash, randomBytes } from 'node:crypto';
import { basic } from '../contract-forge.ts';
import { cloneRepository, type GitClone, tryGit } from '../git-client.ts';
import { makePublicKey } from '../pgp-keys.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type AnswerOfKilled = { readonly status: number; readonly json: any };
export type AskKilled = (method: string, path: string, body?: unknown) => Promise<AnswerOfKilled>;
type Server = { readonly url: string; readonly ask: AskKilled };

/** Objects that all writers need, created once. */
export type PreparedWrites = { readonly work: GitClone; readonly commit: string };

type Writing = Server & PreparedWrites & { readonly name: string };
/** Returns whether the write exists in another process of the forge. */
type Found = (server: Server) => Promise<boolean>;
/**
 * Makes one write. If the forge confirms the write, returns a function that looks for it later; otherwise, returns
 * undefined.
 */
export type KindOfWrite = (writing: Writing) => Promise<Found | undefined>;
export type ConfirmedWrite = { readonly kind: string; readonly name: string; readonly found: Found };

const repository = '/repos/root/r';
const credentials = basic('root', 'password');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Creates the objects that the writers write to. */
export async function prepareWrites(ask: AskKilled, url: string): Promise<PreparedWrites> {
  await ask('POST', '/user/repos', { name: 'r', auto_init: true });
  await ask('POST', '/orgs', { username: 'o' });
  await ask('POST', `${repository}/issues`, { title: 'first' });
  const work = await cloneRepository(addressOf(url));
  const commit = await work.commit({ 'pushed.txt': 'x' });
  return { work, commit };
}

function addressOf(url: string): string {
  return Object.assign(new URL(`${url}/root/r.git`), { username: 'root', password: 'password' }).href;
}

/**
 * Sends a request. A response of 201 confirms the write, and a later GET of the address from `find` must return 200.
 */
async function create(
  { ask }: Server,
  path: string,
  body: object,
  find: (json: AnswerOfKilled['json']) => string,
) {
  const { status, json } = await ask('POST', path, body);
  if (status !== 201) return undefined;
  const address = find(json);
  return async (later: Server) => (await later.ask('GET', address)).status === 200;
}

async function bytesAt(url: string): Promise<Buffer | undefined> {
  const response = await fetch(url, { headers: credentials });
  const bytes = Buffer.from(await response.arrayBuffer());
  return response.ok ? bytes : undefined;
}

/** Creates a commit only for this write, because two pushes of the same commit would be the same push. */
async function makeCommit({ work, commit, name }: Writing): Promise<string> {
  return (await work.git('commit-tree', '-p', commit, '-m', name, `${commit}^{tree}`)).trim();
}

export const kindsOfWrite: Readonly<Record<string, KindOfWrite>> = {
  file: (to) =>
    create(
      to,
      `${repository}/contents/${to.name}`,
      { content: base64('x') },
      () => `${repository}/contents/${to.name}`,
    ),
  branch: (to) =>
    create(
      to,
      `${repository}/branches`,
      { new_branch_name: to.name },
      () => `${repository}/branches/${to.name}`,
    ),
  tag: (to) => create(to, `${repository}/tags`, { tag_name: to.name }, () => `${repository}/tags/${to.name}`),
  repository: (to) =>
    create(to, '/user/repos', { name: to.name, auto_init: true }, () => `/repos/root/${to.name}`),
  issue: (to) =>
    create(to, `${repository}/issues`, { title: to.name }, ({ number }) => `${repository}/issues/${number}`),
  label: (to) =>
    create(
      to,
      `${repository}/labels`,
      { name: to.name, color: '#aabbcc' },
      ({ id }) => `${repository}/labels/${id}`,
    ),
  comment: (to) =>
    create(
      to,
      `${repository}/issues/1/comments`,
      { body: to.name },
      ({ id }) => `${repository}/issues/comments/${id}`,
    ),
  hook: (to) =>
    create(
      to,
      `${repository}/hooks`,
      { type: 'gitea', config: { url: 'http://127.0.0.1:9/', content_type: 'json' }, events: ['fork'] },
      ({ id }) => `${repository}/hooks/${id}`,
    ),
  key: (to) =>
    create(
      to,
      `${repository}/keys`,
      { title: to.name, key: makePublicKey(to.name) },
      ({ id }) => `${repository}/keys/${id}`,
    ),
  'wiki page': (to) =>
    create(
      to,
      `${repository}/wiki/new`,
      { title: to.name, content_base64: base64('x') },
      ({ sub_url }) => `${repository}/wiki/page/${sub_url}`,
    ),

  async fork(to) {
    const body = { organization: 'o', name: to.name };
    const source = await to.ask('POST', '/user/repos', { name: `of-${to.name}`, auto_init: true });
    if (source.status !== 201) return undefined;
    const { status } = await to.ask('POST', `/repos/root/of-${to.name}/forks`, body);
    if (status !== 202) return undefined;
    return async ({ ask }) => (await ask('GET', `/repos/o/${to.name}/branches/main`)).status === 200;
  },

  async removal(to) {
    await to.ask('POST', '/user/repos', { name: to.name, auto_init: true });
    const { status } = await to.ask('DELETE', `/repos/root/${to.name}`);
    if (status !== 204) return undefined;
    return async ({ ask }) => (await ask('GET', `/repos/root/${to.name}`)).status === 404;
  },

  async 'new name'(to) {
    const made = await to.ask('POST', '/user/repos', { name: `old-${to.name}`, auto_init: true });
    const { status } = await to.ask('PATCH', `/repos/root/old-${to.name}`, { name: to.name });
    if (status !== 200) return undefined;
    return async ({ ask }) => (await ask('GET', `/repos/root/${to.name}`)).json.id === made.json.id;
  },

  async release(to) {
    const made = await to.ask('POST', `${repository}/releases`, { tag_name: to.name });
    if (made.status !== 201) return undefined;
    const bytes = randomBytes(5_000);
    const form = new FormData();
    form.append('attachment', new Blob([bytes]), 'asset.bin');
    const path = `${repository}/releases/${made.json.id}/assets`;
    const response = await fetch(`${to.url}/api/v1${path}`, {
      method: 'POST',
      headers: credentials,
      body: form,
    });
    if (response.status !== 201) return undefined;
    return async ({ url }) => {
      const kept = await bytesAt(`${url}/root/r/releases/download/${to.name}/asset.bin`);
      return kept?.equals(bytes) === true;
    };
  },

  async merge(to) {
    const file = { content: base64('x'), branch: 'main', new_branch: to.name };
    await to.ask('POST', `${repository}/contents/${to.name}`, file);
    const pull = await to.ask('POST', `${repository}/pulls`, { title: to.name, head: to.name, base: 'main' });
    if (pull.status !== 201) return undefined;
    const path = `${repository}/pulls/${pull.json.number}`;
    const { status } = await to.ask('POST', `${path}/merge`, { Do: 'merge' });
    if (status !== 200) return undefined;
    return async ({ ask }) => {
      const shown = await ask('GET', path);
      const there = await ask('GET', `${repository}/contents/${to.name}?ref=main`);
      return shown.json.merged === true && there.status === 200;
    };
  },

  async push(to) {
    const id = await makeCommit(to);
    const { code } = await tryGit(to.work.folder, ['push', addressOf(to.url), `${id}:refs/heads/${to.name}`]);
    if (code !== 0) return undefined;
    return async ({ ask }) => (await ask('GET', `${repository}/branches/${to.name}`)).json.commit?.id === id;
  },

  async 'push for review'(to) {
    const id = await makeCommit(to);
    const push = ['push', addressOf(to.url), `${id}:refs/for/main/${to.name}`];
    const { code, complaint } = await tryGit(to.work.folder, push);
    const number = /refs\/pull\/(\d+)\/head/.exec(complaint)?.[1];
    if (code !== 0 || number === undefined) return undefined;
    return async ({ ask }) => (await ask('GET', `${repository}/pulls/${number}`)).json.head?.sha === id;
  },

  async 'large file'(to) {
    const bytes = randomBytes(5_000);
    const oid = digest(bytes);
    const path = `/root/r.git/info/lfs/objects/${oid}`;
    const response = await fetch(`${to.url}${path}/${bytes.length}`, {
      method: 'PUT',
      headers: credentials,
      body: bytes,
    });
    if (response.status !== 200) return undefined;
    return async ({ url }) => (await bytesAt(`${url}${path}`))?.equals(bytes) === true;
  },

  async lock(to) {
    const media = 'application/vnd.git-lfs+json';
    const path = '/root/r.git/info/lfs/locks';
    const headers = { ...credentials, accept: media };
    const response = await fetch(`${to.url}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': media },
      body: JSON.stringify({ path: to.name }),
    });
    if (response.status !== 201) return undefined;
    return async ({ url }) => {
      const listed = await fetch(`${url}${path}?path=${to.name}`, { headers });
      return ((await listed.json()) as { locks: unknown[] }).locks.length === 1;
    };
  },

  async package(to) {
    const bytes = randomBytes(5_000);
    const path = `/api/packages/root/generic/${to.name}/1.0/file.bin`;
    const response = await fetch(`${to.url}${path}`, { method: 'PUT', headers: credentials, body: bytes });
    if (response.status !== 201) return undefined;
    return async ({ url }) => (await bytesAt(`${url}${path}`))?.equals(bytes) === true;
  },
};
