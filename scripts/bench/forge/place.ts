import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchApi } from './api.ts';
import { type HistorySize, headBranches } from './history.ts';

/** How many of each kind are listed, and how large the git repository is. */
export type PlaceSize = { readonly items: number; readonly history: HistorySize };

/** A repository with all that the operations read and change, and the accounts and the organization around it. */
export type Place = {
  readonly size: PlaceSize;
  readonly owner: string;
  readonly token: string;
  readonly organization: string;
  readonly labels: readonly number[];
  readonly hook: number;
  /** An issue with dependencies, tracked times and a comment that has a file. */
  readonly issue: number;
  readonly comment: number;
  readonly attachment: number;
  readonly pull: number;
  readonly review: number;
  readonly thread: number;
};

/** Name of the repository that is measured. */
export const measured = 'measured';

/** Makes `count` runners of an organization known to a forge; each forge learns of them in another way. */
export type PutRunners = (organization: string, token: string, count: number) => Promise<void>;

/** Makes the repository that is measured, with its history, as an account of the forge. */
export type PutHistory = (by: Pick<Scene, 'name' | 'token' | 'ask'>) => Promise<void>;

/** Members that arranging reads of answers. */
type Found = { readonly id: number; readonly number: number; readonly sha1: string };

type Scene = {
  readonly api: BenchApi;
  readonly name: string;
  readonly token: string;
  readonly reviewer: string;
  readonly items: number;
  /** Path of the repository. */
  readonly base: string;
  /** Sends a request of the owner, or of another account by its token. */
  readonly ask: (method: string, path: string, body?: object, token?: string) => Promise<Found>;
};

/** Arranges a place through the API. `name` is new on the forge. */
export async function arrangePlace(
  api: BenchApi,
  options: {
    readonly name: string;
    readonly size: PlaceSize;
    readonly putRunners: PutRunners;
    readonly putHistory: PutHistory;
  },
): Promise<Place> {
  const { name, size } = options;
  const reviewer = await makeAccount(api, `${name}-reviewer`);
  const token = await makeAccount(api, name);
  const ask: Scene['ask'] = async (method, path, body, as = token) => {
    const { text } = await api.send({ method, path, token: as, ...(body === undefined ? {} : { body }) });
    // The answers that arranging looks into have these members.
    return (text === '' ? {} : JSON.parse(text)) as Found;
  };
  const base = `/repos/${name}/${measured}`;
  const scene = { api, name, token, reviewer, items: size.items, base, ask };
  const organization = `${name}-org`;
  await options.putHistory({ name, token, ask });
  await ask('PUT', `${base}/collaborators/${name}-reviewer`, { permission: 'write' });
  await ask('POST', '/orgs', { username: organization });
  await options.putRunners(organization, token, size.items);
  await arrangeLists(scene);
  return {
    size,
    owner: name,
    token,
    organization,
    ...(await arrangeIssue(scene)),
    ...(await arrangePull(scene)),
    hook: (await ask('POST', `${base}/hooks`, hook(0))).id,
  };
}

/** Makes an account with a token for everything; returns the token. */
async function makeAccount(api: BenchApi, name: string): Promise<string> {
  const password = `Password-of-${name}-1`;
  const body = { username: name, email: `${name}@example.org`, password, must_change_password: false };
  await api.send({ method: 'POST', path: '/admin/users', token: api.token, body });
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const asked = JSON.stringify({ name: 'bench', scopes: ['all'] });
  const headers = { authorization, 'content-type': 'application/json' };
  return (await post(`${api.url}/api/v1/users/${name}/tokens`, headers, asked)).sha1;
}

/** Sends what the client of the load does not: other credentials, a form. */
async function post(url: string, headers: Record<string, string>, body: string | FormData): Promise<Found> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${text}`);
  return JSON.parse(text) as Found;
}

/** Returns a hook that sends nothing: its deliveries would be measured with every write. */
export function hook(number: number): object {
  return {
    type: 'gitea',
    config: { url: `http://127.0.0.1:9/${number}`, content_type: 'json' },
    events: [number % 2 === 0 ? 'push' : 'create'],
    active: false,
  };
}

async function arrangeLists({ ask, base, name, items }: Scene): Promise<void> {
  for (let at = 0; at < items; at += 1) {
    await ask('POST', `${base}/branch_protections`, { rule_name: `release-${at}` });
    const content = Buffer.from(`Page ${at}\n`.repeat(20)).toString('base64');
    await ask('POST', `${base}/wiki/new`, { title: `Page ${at}`, content_base64: content });
    await ask('POST', '/user/hooks', hook(at));
    await ask('POST', '/user/repos', { name: `starred-${at}` });
    await ask('PUT', `/user/starred/${name}/starred-${at}`);
  }
}

async function arrangeIssue(
  scene: Scene,
): Promise<Pick<Place, 'labels' | 'issue' | 'comment' | 'attachment' | 'thread'>> {
  const { api, ask, base, name, token, reviewer, items } = scene;
  const labels: number[] = [];
  for (const label of ['one', 'two']) {
    labels.push((await ask('POST', `${base}/labels`, { name: label, color: '#ffffff' })).id);
  }
  const { number: issue } = await ask('POST', `${base}/issues`, { title: 'measured', body: 'text', labels });
  for (let at = 0; at < items; at += 1) {
    // By another account, so that the owner is notified.
    const other = await ask('POST', `${base}/issues`, { title: `issue ${at}`, body: 'text' }, reviewer);
    const blocker = { owner: name, repo: measured, index: other.number };
    await ask('POST', `${base}/issues/${issue}/dependencies`, blocker);
    await ask('POST', `${base}/issues/${issue}/times`, { time: 60 + at });
  }
  const { id: comment } = await ask('POST', `${base}/issues/${issue}/comments`, { body: 'with a file' });
  const form = new FormData();
  form.set('attachment', new Blob(['text of a file']), 'notes.txt');
  const assets = `${api.url}/api/v1${base}/issues/comments/${comment}/assets?name=notes.txt`;
  const { id: attachment } = await post(assets, { authorization: `token ${token}` }, form);
  return { labels, issue, comment, attachment, thread: await awaitThreads(scene) };
}

/** Waits for the notifications, which a forge may make in the background; returns the newest one. */
async function awaitThreads({ api, token, items }: Scene): Promise<number> {
  for (const deadline = performance.now() + 30_000; ; await sleep(100)) {
    const { text } = await api.send({ method: 'GET', path: '/notifications?limit=50', token });
    const threads = JSON.parse(text) as Found[];
    if (threads[0] && threads.length === items) return threads[0].id;
    if (performance.now() > deadline) throw new Error(`${threads.length} of ${items} notifications`);
  }
}

async function arrangePull({ ask, base, reviewer }: Scene): Promise<Pick<Place, 'pull' | 'review'>> {
  // Into another branch than those that are measured: two open pull requests of the same branches are refused.
  const wanted = { title: 'reviewed', head: headBranches()[0], base: 'branch-0' };
  const { number: pull } = await ask('POST', `${base}/pulls`, wanted);
  const said = { event: 'REQUEST_CHANGES', body: 'not yet' };
  const { id: review } = await ask('POST', `${base}/pulls/${pull}/reviews`, said, reviewer);
  return { pull, review };
}
