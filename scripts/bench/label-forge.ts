import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createForgeInstance } from '../../src/forge/forge.ts';
import { openDatabase } from '../../src/forge/platform/database.ts';
import { nowMs } from '../harness/progress.ts';
import { headersOf, type Sender, type Sent } from '../harness/sender.ts';
import type { Answered, Labelled, StartedForge } from './children/forge.ts';
import type { Child } from './process.ts';
import type { Stage } from './runner.ts';

/** Issue without a label, whose delivery has not been sent. */
export type Place = { readonly repository: MadeForge['repositories'][number]; readonly number: number };

/** Embedded forge in a separate process, with issues that wait for their label. */
export class LabelForge {
  readonly url: string;
  readonly token: string;
  readonly #made: MadeForge;
  readonly #child: Child;
  readonly #places: Place[];
  /** Number of requests so far that labelled an issue. */
  #labelled = 0;

  private constructor(
    made: MadeForge,
    { child, url, issues }: { child: Child; url: string; issues: number },
  ) {
    this.url = url;
    this.token = made.token;
    this.#made = made;
    this.#child = child;
    this.#places = Array.from({ length: issues }, (_, at) =>
      made.repositories.map((repository) => ({ repository, number: at + 1 })),
    ).flat();
  }

  static async start(stage: Stage, size: ForgeSize): Promise<LabelForge> {
    const data = join(stage.folder, 'forge');
    const made = await makeForge(data, size);
    const { child, ready } = await stage.start<StartedForge>('forge', [data, 'watched']);
    return new LabelForge(made, { child, url: ready.url, issues: size.issues });
  }

  /** Returns the next issues, cycling through the repositories. */
  take(count: number): readonly Place[] {
    if (this.#places.length < count) throw new Error(`${this.#places.length} issues are left, not ${count}`);
    return this.#places.splice(0, count);
  }

  /**
   * Returns the delivery of a new issue, signed like a forge does. With `bytes`, the text of the issue is chosen so
   * that the body has this size.
   */
  deliveryOf({ repository: { id, name }, number }: Place, bytes?: number): Sent {
    const { payload } = this.#made;
    const about = (text: string): string =>
      JSON.stringify({
        ...payload,
        number,
        issue: { ...payload.issue, id: id * 10_000 + number, number, body: text },
        repository: { ...payload.repository, id, name, full_name: `${owner}/${name}` },
        // Uses many senders: if one sender caused many events in an hour, Reeve would look up that account.
        sender: { ...payload.sender, id: 100 + number, login: `person-${number}` },
      } satisfies IssuePayload);
    const { body: text } = payload.issue;
    const body = about(bytes === undefined ? text : 'x'.repeat(Math.max(bytes - about('').length, 0)));
    return { method: 'POST', headers: headersOf(body, 'issues'), body };
  }

  /**
   * Sends the delivery of an issue to a bot. Returns the time at which the forge had responded to the request that
   * added the label.
   */
  async labelBy(
    sender: Sender,
    botUrl: string,
    place: Place,
    delivery = this.deliveryOf(place),
  ): Promise<number> {
    const [{ path, atNs }] = await Promise.all([
      this.untilLabelled(1),
      ask(sender, `${botUrl}/webhook`, delivery),
    ]);
    const expected = `${pathOf(place)}/labels`;
    if (!path.endsWith(expected)) throw new Error(`the label was put by ${path}, not ${expected}`);
    return Number(atNs) / 1e6;
  }

  /** Resolves when this many more issues have their label. */
  untilLabelled(count: number): Promise<Labelled> {
    this.#labelled += count;
    return this.#child.ask('labels', this.#labelled);
  }

  /** Returns the requests to which the forge has responded since the last call. */
  answered(): Promise<readonly Answered[]> {
    return this.#child.ask('answered');
  }

  /**
   * Repeats the requests about one issue for another issue, one after another over a keep-alive connection. Returns the
   * time they take.
   */
  async repeatRequests(
    sender: Sender,
    requests: readonly Answered[],
    from: Place,
    to: Place,
  ): Promise<number> {
    const authorization = `Bearer ${this.token}`;
    const sent = requests.map(({ method, path }): [string, Sent] => {
      const body = method === 'PUT' ? JSON.stringify({ labels: [to.repository.label] }) : undefined;
      const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
      return [`${this.url}${path.replace(pathOf(from), pathOf(to))}`, { method, headers, body }];
    });
    if (requests.at(-1)?.method !== 'PUT') throw new Error('the last request did not put the label');
    const startMs = nowMs();
    for (const one of sent) JSON.parse(await ask(sender, ...one));
    const ms = nowMs() - startMs;
    await this.untilLabelled(1);
    return ms;
  }
}

/** Returns the path of an issue, without the path of the API. */
export function pathOf({ repository, number }: Place): string {
  return `/repos/${owner}/${repository.name}/issues/${number}`;
}

/**
 * Sends a request and returns its complete response. Rejects if there is no response, or if its status is 300 or
 * higher.
 */
export async function ask(sender: Sender, url: string, sent: Sent): Promise<string> {
  const { status, text } = await sender.send(url, sent);
  if (status === 0 || status >= 300)
    throw new Error(`${sent.method} ${url}: ${status} ${text.slice(0, 200)}`);
  return text;
}

/** Number of repositories, and of issues in each of them. */
type ForgeSize = { readonly repositories: number; readonly issues: number };
/** The account of the bot owns the repositories `r1`, `r2` …, each with the same issues, one label and the same rule file. */
type MadeForge = {
  readonly token: string;
  /** The webhook payload of a new issue, as the forge sends it. */
  readonly payload: IssuePayload;
  readonly repositories: readonly { readonly id: number; readonly name: string; readonly label: number }[];
};
type IssuePayload = {
  readonly action: string;
  readonly number: number;
  readonly issue: { readonly id: number; readonly number: number; readonly body: string };
  readonly repository: { readonly id: number; readonly name: string; readonly full_name: string };
  readonly sender: { readonly id: number; readonly login: string };
};

const owner = 'reeve';
const label = 'triage';
const ruleFile = `version: 1

rules:
  triage:
    on:
      issues: [opened, reopened]
    if: '!issue.title.startsWith("[draft]")'
    steps:
      - uses: set-labels
        with:
          add: [${label}]

  drafts:
    on:
      issues: [edited]
    if: issue.title.startsWith("[draft]")
    steps:
      - uses: set-labels
        with:
          remove: [${label}]

  done:
    on:
      issues: [closed]
    steps: [{ uses: set-labels, with: { remove: [${label}] } }]
`;
const scopes = ['read:user', 'read:organization', 'write:repository', 'write:issue'];

/**
 * Creates the forge in a folder: the first repository through its API, the others as copies of it, with SQL and on
 * disk, because the benchmark measures requests, not creation. The forge is stopped when this function returns.
 */
async function makeForge(data: string, size: ForgeSize): Promise<MadeForge> {
  const { from, ...made } = await makeRepository(data);
  return { ...made, repositories: copyRepository(data, from, size) };
}

async function makeRepository(data: string) {
  mkdirSync(data, { recursive: true });
  const forge = await createForgeInstance({ clock: () => new Date(), data });
  const basic = (name: string): string => `Basic ${Buffer.from(`${name}:password`).toString('base64')}`;
  const call = async <Answer>(method: string, path: string, body?: object, name = owner): Promise<Answer> => {
    const response = await fetch(`${forge.url}/api/v1${path}`, {
      method,
      headers: { authorization: basic(name), 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    // The responses of these few operations have the fields that are read.
    return (await response.json()) as Answer;
  };
  try {
    await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'password' });
    const account = {
      username: owner,
      password: 'password',
      email: 'reeve@example.org',
      must_change_password: false,
    };
    await call('POST', '/admin/users', account, 'root');
    const { sha1: token } = await call<{ sha1: string }>('POST', `/users/${owner}/tokens`, {
      name: 'bench',
      scopes,
    });
    const { id } = await call<{ id: number }>('POST', '/user/repos', { name: 'r1', auto_init: true });
    const content = Buffer.from(ruleFile).toString('base64');
    await call('POST', `/repos/${owner}/r1/contents/.reeve.yml`, { content, message: 'rules' });
    await call('POST', `/repos/${owner}/r1/labels`, { name: label, color: 'ff0000' });
    const words = {
      title: 'The index is rebuilt on every start',
      body: 'Steps to reproduce, and a log.\n'.repeat(40),
    };
    const issue = await call<IssuePayload['issue']>('POST', `/repos/${owner}/r1/issues`, words, 'root');
    const repository = await call<IssuePayload['repository']>('GET', `/repos/${owner}/r1`);
    const sender = await call<IssuePayload['sender']>('GET', '/user', undefined, 'root');
    const payload = { action: 'opened', number: issue.number, issue, repository, sender, commit_id: '' };
    return { token, payload, from: id };
  } finally {
    await forge.close();
  }
}

/** Copies a repository with its git data and label, and fills each repository with copies of its first issue. */
function copyRepository(data: string, from: number, size: ForgeSize): MadeForge['repositories'] {
  const db = openDatabase(join(data, 'forge.db'));
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
  const columnsOf = (table: string, without: readonly string[]): string =>
    db
      .all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`)
      .map(({ name }) => name)
      .filter((name) => !['id', ...without].includes(name))
      .join(', ');
  try {
    db.transaction(() => {
      const ofRepository = columnsOf('repositories', ['name', 'lower_name']);
      db.run(
        `INSERT INTO repositories (name, lower_name, ${ofRepository})
         ${numbers} SELECT 'r' || i, 'r' || i, ${ofRepository} FROM n, repositories WHERE id = ?`,
        size.repositories,
        from,
      );
      const ofLabel = columnsOf('labels', ['repo_id']);
      db.run(
        `INSERT INTO labels (repo_id, ${ofLabel}) SELECT r.id, ${prefixed('l', ofLabel)} FROM repositories r, labels l
         WHERE l.repo_id = ? AND r.id <> ?`,
        from,
        from,
      );
      const ofIssue = columnsOf('issues', ['repo_id', 'number']);
      db.run(
        `INSERT INTO issues (repo_id, number, ${ofIssue})
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         SELECT r.id, n.i, ${prefixed('s', ofIssue)} FROM repositories r, n, issues s
         WHERE s.repo_id = ? AND s.number = 1 AND NOT (r.id = ? AND n.i = 1)`,
        size.issues,
        from,
        from,
      );
      db.run('UPDATE repositories SET last_index = ?, num_open_issues = ?', size.issues, size.issues);
    });
    const repositories = db.all<MadeForge['repositories'][number]>(
      'SELECT r.id, r.name, l.id AS label FROM repositories r JOIN labels l ON l.repo_id = r.id ORDER BY r.id',
    );
    const folder = (id: number): string => join(data, 'repositories', `${id}.git`);
    for (const { id } of repositories) if (id !== from) cpSync(folder(from), folder(id), { recursive: true });
    return repositories;
  } finally {
    db.close();
  }
}

function prefixed(table: string, columns: string): string {
  return columns.replaceAll(/(\w+)/g, `${table}.$1`);
}
