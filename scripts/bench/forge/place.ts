import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Answer, createSender, type Sender } from '../../harness/sender.ts';

/** Number of items in each list, and size of the git repository. */
export type PlaceSize = { readonly items: number; readonly history: HistorySize };

/** Repository with everything that the operations read and change, and the accounts and the organization around it. */
export type Place = {
  readonly size: PlaceSize;
  readonly owner: string;
  readonly token: string;
  readonly organization: string;
  readonly labels: readonly number[];
  readonly hook: number;
  /** Issue with dependencies, tracked times and a comment with a file. */
  readonly issue: number;
  readonly comment: number;
  readonly attachment: number;
  readonly pull: number;
  readonly review: number;
  readonly thread: number;
};

/** Name of the measured repository. */
export const measured = 'measured';

/** Adds `count` runners to an organization, in a way that depends on the forge. */
type PutRunners = (organization: string, token: string, count: number) => Promise<void>;

/** Creates the measured repository, with its history, as an account of the forge. */
export type PutHistory = (by: Pick<Scene, 'name' | 'token' | 'ask'>) => Promise<void>;

/** Fields that are read from responses. */
type Found = { readonly id: number; readonly number: number; readonly sha1: string };

type Scene = {
  readonly api: BenchApi;
  readonly name: string;
  readonly token: string;
  readonly reviewer: string;
  readonly items: number;
  /** Path of the repository. */
  readonly base: string;
  /** Sends a request as the owner, or as another account with its token. */
  readonly ask: (method: string, path: string, body?: object, token?: string) => Promise<Found>;
};

/** Creates a place through the API. `name` must be new on the forge. */
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
    // The responses that are used have these fields.
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

/** Creates an account with a token that has all scopes; returns the token. */
async function makeAccount(api: BenchApi, name: string): Promise<string> {
  const password = `Password-of-${name}-1`;
  const body = { username: name, email: `${name}@example.org`, password, must_change_password: false };
  await api.send({ method: 'POST', path: '/admin/users', token: api.token, body });
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const asked = JSON.stringify({ name: 'bench', scopes: ['all'] });
  const headers = { authorization, 'content-type': 'application/json' };
  return (await post(`${api.url}/api/v1/users/${name}/tokens`, headers, asked)).sha1;
}

/** Sends what the client of the load does not support: other credentials, and forms. */
async function post(url: string, headers: Record<string, string>, body: string | FormData): Promise<Found> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${text}`);
  return JSON.parse(text) as Found;
}

/** Returns an inactive hook, because deliveries would be measured with every write. */
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
    // Created by another account, so that the owner is notified.
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

/** Waits for the notifications, which a forge may create in the background; returns the newest one. */
async function awaitThreads({ api, token, items }: Scene): Promise<number> {
  for (const deadline = performance.now() + 30_000; ; await sleep(100)) {
    const { text } = await api.send({ method: 'GET', path: '/notifications?limit=50', token });
    const threads = JSON.parse(text) as Found[];
    if (threads[0] && threads.length === items) return threads[0].id;
    if (performance.now() > deadline) throw new Error(`${threads.length} of ${items} notifications`);
  }
}

async function arrangePull({ ask, base, reviewer }: Scene): Promise<Pick<Place, 'pull' | 'review'>> {
  // Uses another base branch than the measured pull requests: a second open pull request with the same branches is
  // refused.
  const wanted = { title: 'reviewed', head: headBranches()[0], base: 'branch-0' };
  const { number: pull } = await ask('POST', `${base}/pulls`, wanted);
  const said = { event: 'REQUEST_CHANGES', body: 'not yet' };
  const { id: review } = await ask('POST', `${base}/pulls/${pull}/reviews`, said, reviewer);
  return { pull, review };
}

/** A request below `/api/v1`. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** Token of the caller. */
  readonly token: string;
};

/** Forge under load, independent of its program. */
export interface BenchApi {
  readonly url: string;
  /** Token of a site administrator. */
  readonly token: string;
  /** Sends a request over a single keep-alive connection. Throws unless the response is a success. */
  send(call: Call): Promise<Answer>;
  close(): void;
}

/**
 * Creates the client of a forge. It uses node:http, whose cost per request is small and the same for every forge, and
 * which returns the bodies of 205 responses, unlike `fetch`.
 */
export function createBenchApi(url: string, token: string): BenchApi {
  const sender = createSender(1);
  return {
    url,
    token,
    send: (call) => send(sender, url, call),
    close: sender.close,
  };
}

async function send(sender: Sender, url: string, { method, path, body, token }: Call): Promise<Answer> {
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { authorization: `token ${token}`, ...content };
  const text = body === undefined ? undefined : JSON.stringify(body);
  const answer = await sender.send(`${url}/api/v1${path}`, { method, headers, body: text });
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
}

const run = promisify(execFile);

/** Size of the measured git repository; every forge gets the same objects. */
type HistorySize = {
  readonly folders: number;
  readonly filesPerFolder: number;
  readonly commits: number;
  readonly branches: number;
};

/**
 * Number of branches with a commit of their own, from which pull requests are created; the other branches point to
 * commits of `main`.
 */
const heads = 10;

/** Returns the names of the branches from which pull requests are created. */
export function headBranches(): readonly string[] {
  return Array.from({ length: heads }, (_, at) => `work-${at}`);
}

/** Returns the path of a file; consecutive numbers are in different folders. */
export function pathOf({ folders, filesPerFolder }: HistorySize, number: number): string {
  return `folder-${number % folders}/file-${Math.floor(number / folders) % filesPerFolder}.txt`;
}

/**
 * Creates a bare repository: the first commit adds every file, each further commit changes one file, in turns; then
 * creates the branches.
 */
export function makeHistory(folder: string, size: HistorySize): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  execFileSync('git', ['fast-import', '--quiet', '--done'], {
    cwd: folder,
    input: streamOf(size),
    maxBuffer: 2 ** 30,
  });
}

function streamOf(size: HistorySize): string {
  const files = size.folders * size.filesPerFolder;
  const lines: string[] = [];
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (ref: string, mark: number, message: string, from?: number): void => {
    const who = `Bench <bench@localhost> ${1_700_000_000 + mark * 60} +0000`;
    lines.push(`commit ${ref}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\n${data(message)}`);
    if (from !== undefined) lines.push(`from :${from}\n`);
  };
  const write = (path: string, text: string): void => {
    lines.push(`M 100644 inline ${path}\n${data(text)}`);
  };
  commit('refs/heads/main', 1, 'first');
  for (let at = 0; at < files; at += 1) write(pathOf(size, at), `${at}\n${'line of a file\n'.repeat(20)}`);
  for (let mark = 2; mark <= size.commits; mark += 1) {
    // A step that has no common factor with the number of files reaches every file.
    const at = (mark * 7919) % files;
    commit('refs/heads/main', mark, `change ${mark}`, mark - 1);
    write(pathOf(size, at), `${at}\n${'line of a file\n'.repeat(20)}changed by ${mark}\n`);
  }
  for (const [at, name] of headBranches().entries()) {
    commit(`refs/heads/${name}`, size.commits + 1 + at, `work ${at}`, size.commits);
    write(`work/${name}.txt`, 'new\n');
  }
  for (let at = 0; at < size.branches - heads; at += 1) {
    lines.push(`reset refs/heads/branch-${at}\nfrom :${1 + (at % size.commits)}\n\n`);
  }
  return `${lines.join('')}done\n`;
}

/**
 * Pushes the branches, `main` first, so that it becomes the default branch. Branches without commits of their own are
 * created directly in `bare`, the folder of the repository on the forge, because pushing thousands of new branches
 * would cause thousands of events. Only git has the token in its environment.
 */
export async function pushHistory(
  folder: string,
  to: { readonly address: string; readonly user: string; readonly token: string; readonly bare: string },
): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`${to.user}:${to.token}`).toString('base64')}`,
    GIT_CONFIG_KEY_1: 'http.postBuffer',
    GIT_CONFIG_VALUE_1: '524288000',
  };
  const push = (refs: string) => run('git', ['push', '--quiet', to.address, refs], { cwd: folder, env });
  await push('refs/heads/main:refs/heads/main');
  const format = '--format=create %(refname) %(objectname)';
  const lines = execFileSync('git', ['for-each-ref', format, 'refs/heads/branch-*'], { cwd: folder });
  execFileSync('git', ['update-ref', '--stdin'], { cwd: to.bare, input: lines });
  await push('refs/heads/*:refs/heads/*');
}

const about = (name: string) => ({ name, version: 'v1.0.0', labels: ['linux'] });

/** Returns a function that registers runners at a server, through the protocol of runners (Connect, in JSON). */
export function registerRunners(url: string): PutRunners {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as { token: string };
  };
  return async (organization, token, count) => {
    const path = `/api/v1/orgs/${organization}/actions/runners/registration-token`;
    const registration = await post(path, {}, { authorization: `token ${token}` });
    for (let at = 0; at < count; at += 1) {
      const name = `runner-${at}`;
      await post('/api/actions/runner.v1.RunnerService/Register', {
        ...about(name),
        token: registration.token,
      });
    }
  };
}

/** Runners added to each embedded forge, by its address: the control route sets all runners of a forge at once. */
const put = new Map<string, object[]>();

/** Returns a function that adds runners to an embedded forge through its control route. */
export function putRunnersByControl(url: string, controlToken: string): PutRunners {
  const all = put.get(url) ?? [];
  put.set(url, all);
  return async (organization, _token, count) => {
    for (let at = 0; at < count; at += 1) {
      all.push({ name: `runner-${at}`, owner: organization, labels: ['linux'], state: 'idle' });
    }
    const response = await fetch(`${url}/-/control/runners`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${controlToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(all),
    });
    if (!response.ok) throw new Error(`runners: ${response.status} ${await response.text()}`);
  };
}
