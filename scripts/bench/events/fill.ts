import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createForgeInstance } from '../../../src/forge/forge.ts';
import { openDatabase } from '../../../src/forge/platform/database.ts';

/** Number of repositories, and of issues in each of them. */
export type EventsSize = { readonly repositories: number; readonly issues: number };
/** The account of the bot owns the repositories `r1`, `r2` …, each with the same issues, one label and the same rule file. */
export type EventsForge = {
  readonly token: string;
  /** The webhook payload of a new issue, as the forge sends it. */
  readonly payload: IssuePayload;
  readonly repositories: readonly { readonly id: number; readonly name: string; readonly label: number }[];
};
export type IssuePayload = {
  readonly action: string;
  readonly number: number;
  readonly issue: { readonly id: number; readonly number: number };
  readonly repository: { readonly id: number; readonly name: string; readonly full_name: string };
};

export const owner = 'reeve';
export const label = 'triage';
const ruleFile = `version: 1
rules:
  triage:
    on: issues.opened
    if: '!issue.title.startsWith("[draft]")'
    steps: [{ uses: set-labels, with: { add: [${label}] } }]
  stale-drafts:
    on: issues.edited
    steps: [{ uses: set-labels, with: { remove: [${label}] } }]
`;
const scopes = ['read:user', 'read:organization', 'write:repository', 'write:issue'];

/**
 * Makes the forge in a folder: the first repository through its API, the others as copies of it, in SQL and on the disk: what is
 * measured is asking, not making. Nothing runs when it returns.
 */
export async function createEventsForge(data: string, size: EventsSize): Promise<EventsForge> {
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
    // The answers of these few operations all have what is asked for.
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
    const sender = await call<object>('GET', '/user', undefined, 'root');
    const payload = { action: 'opened', number: issue.number, issue, repository, sender, commit_id: '' };
    await forge.close();
    return { token, payload, repositories: copyRepository(data, id, size) };
  } catch (error) {
    await forge.close();
    throw error;
  }
}

/** Copies a repository with its git data, label and issue, and adds further issues like its first one to each. */
function copyRepository(data: string, from: number, size: EventsSize): EventsForge['repositories'] {
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
    const repositories = db.all<EventsForge['repositories'][number]>(
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
