import { cpSync, mkdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import { createForgeInstance } from '../../src/forge/forge.ts';
import { openDatabase } from '../../src/forge/platform/database.ts';
import { createSender, headersOf, type Sender, type Sent } from '../harness/sender.ts';
import type { Done } from './children/events-reeve.ts';
import type { Answered, Labelled, StartedForge } from './children/forge.ts';
import type { Child } from './process.ts';
import { type BenchRow, benchRow, type Measure, onStage, Rounds, round } from './runner.ts';

/** Deliveries that are sent at the same time. */
const connections = 8;

/** An embedded forge and Reeve, each in a process of its own, and the deliveries that have not been sent yet. */
type Installation = {
  readonly made: EventsForge;
  readonly forge: Child;
  readonly forgeUrl: string;
  readonly reeve: Child;
  readonly reeveUrl: string;
  /** How many requests have put labels on an issue so far. */
  labelled: number;
};
type Place = { readonly repository: EventsForge['repositories'][number]; readonly number: number };

/** From deliveries to labels: how long one takes, and how many Reeve handles with the time of one processor. */
export const measure: Measure = ({ quick }) =>
  onStage(async ({ folder, start }) => {
    const repositoryCount = quick ? 60 : 500;
    const singles = quick ? 40 : 300;
    const many = quick ? 600 : 5_000;
    // One for the first event of each repository, and those of both measurements.
    const issues = 1 + Math.ceil((2 * (singles + 20) + many) / repositoryCount);
    const made = await createEventsForge(join(folder, 'forge'), { repositories: repositoryCount, issues });
    await writeOperatorRules(join(folder, 'rules'));
    const forge = await start<StartedForge>('forge', [join(folder, 'forge'), 'watched']);
    const paths = ['reeve', 'rules', 'reeve.log'].map((name) => join(folder, name));
    const reeve = await start<string>('events-reeve', [forge.ready.url, made.token, ...paths], startedAs);
    const all: Installation = {
      ...{ made, forge: forge.child, forgeUrl: forge.ready.url },
      ...{ reeve: reeve.child, reeveUrl: reeve.ready, labelled: 0 },
    };
    const places = placesOf(made, issues);
    const first = await measureMany(all, places.splice(0, repositoryCount));
    const throughput = await measureMany(all, places.splice(0, many));
    // After thousands of events, like a server that has run for some time: its code is compiled.
    const latency = await measureSingles(all, places.splice(0, 2 * (singles + 20)), singles);
    return [latency, throughputRow(throughput, first)];
  });

/** Returns every issue, all repositories in turns. */
function placesOf({ repositories }: EventsForge, issues: number): Place[] {
  return Array.from({ length: issues }, (_, at) =>
    repositories.map((repository) => ({ repository, number: at + 1 })),
  ).flat();
}

/** Sends one delivery at a time, and in turns with it, on another issue, the requests that it has caused. */
async function measureSingles(all: Installation, places: readonly Place[], count: number): Promise<BenchRow> {
  const sender = createSender(1);
  const times = new Rounds<'reeve' | 'bare', number>();
  let requests = 0;
  try {
    for (let at = 0; at < places.length; at += 2) {
      const [labelled, asked] = places.slice(at, at + 2);
      if (labelled === undefined || asked === undefined) break;
      await all.forge.ask('answered');
      const reeveMs = await labelByDelivery(all, sender, labelled);
      await all.reeve.ask('done');
      const caused = await all.forge.ask<readonly Answered[]>('answered');
      const bareMs = await labelByRequests(all, sender, { caused, from: labelled, to: asked });
      // The first ones warm up.
      if (places.length - at > 2 * count) continue;
      requests = caused.length;
      times.add('reeve', reeveMs);
      times.add('bare', bareMs);
    }
  } finally {
    sender.close();
  }
  const asIs = (ms: number): number => ms;
  return benchRow({
    name: 'delivery to label on the embedded forge, end to end',
    value: times.median('reeve', asIs),
    unit: 'ms',
    against: `the same ${requests} requests over a kept connection, one after the other: ${round(times.median('bare', asIs))} ms`,
    ratio: times.ratio('reeve', 'bare', asIs),
    target: '<= 2 x',
  });
}

/** Returns the time from the first byte of a delivery to the answer of the request that puts the label. */
async function labelByDelivery(
  all: Installation,
  sender: Sender,
  { repository, number }: Place,
): Promise<number> {
  const delivery = deliveryOf(all.made, repository, number);
  all.labelled += 1;
  const labels = all.forge.ask<Labelled>('labels', all.labelled);
  const startNs = process.hrtime.bigint();
  const [{ path, atNs }] = await Promise.all([labels, ask(sender, `${all.reeveUrl}/webhook`, delivery)]);
  const expected = `/repos/${owner}/${repository.name}/issues/${number}/labels`;
  if (!path.endsWith(expected)) throw new Error(`the label was put by ${path}, not ${expected}`);
  return Number(BigInt(atNs) - startNs) / 1e6;
}

/** Sends the requests that Reeve sent for one issue for another one, one after the other over a kept connection. */
async function labelByRequests(
  all: Installation,
  sender: Sender,
  { caused, from, to }: { caused: readonly Answered[]; from: Place; to: Place },
): Promise<number> {
  const pathOf = ({ repository, number }: Place): string =>
    `/repos/${owner}/${repository.name}/issues/${number}`;
  const authorization = `Bearer ${all.made.token}`;
  // Reeve also asks the forge for other things, such as its own account from time to time.
  const aboutIssue = caused.filter(({ path }) => path.includes(pathOf(from)));
  const requests = aboutIssue.map(({ method, path }): [string, Sent] => {
    const body = method === 'PUT' ? JSON.stringify({ labels: [to.repository.label] }) : undefined;
    const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
    const url = `${all.forgeUrl}${path.replace(pathOf(from), pathOf(to))}`;
    return [url, { method, headers, body }];
  });
  if (requests.at(-1)?.[1].method !== 'PUT') throw new Error('the last request did not put the label');
  const startMs = performance.now();
  for (const [url, sent] of requests) JSON.parse(await ask(sender, url, sent));
  const ms = performance.now() - startMs;
  all.labelled += 1;
  return ms;
}

type Throughput = {
  readonly count: number;
  readonly cpuMs: number;
  readonly ms: number;
  readonly requests: number;
};

/** Sends deliveries as fast as they are accepted, and waits until each issue has its label and nothing waits. */
async function measureMany(all: Installation, places: readonly Place[]): Promise<Throughput> {
  const deliveries = places.map(({ repository, number }) => deliveryOf(all.made, repository, number));
  const sender = createSender(connections);
  await all.forge.ask('answered');
  // Waits until nothing waits in the store of Reeve.
  const before = await all.reeve.ask<Done>('done');
  const startMs = performance.now();
  try {
    all.labelled += places.length;
    const labels = all.forge.ask<Labelled>('labels', all.labelled);
    await Promise.all(deliveries.map((delivery) => ask(sender, `${all.reeveUrl}/webhook`, delivery)));
    await labels;
    const ms = performance.now() - startMs;
    const after = await all.reeve.ask<Done>('done');
    if (after.dead > 0) throw new Error(`${after.dead} deliveries are dead`);
    const { length: requests } = await all.forge.ask<readonly Answered[]>('answered');
    return { count: places.length, cpuMs: after.cpuMs - before.cpuMs, ms, requests };
  } finally {
    sender.close();
  }
}

function throughputRow({ count, cpuMs, ms, requests }: Throughput, first: Throughput): BenchRow {
  const beside = [
    `${round(cpuMs / count)} ms of all threads and ${round(requests / count)} requests each`,
    `the first of a repository ${round(first.cpuMs / first.count)} ms and ${round(first.requests / first.count)} requests`,
    `by the clock, beside forge and load: ${Math.round((1_000 * count) / ms)}/s`,
  ];
  return benchRow({
    name: `events with one label each, 1,000 rules, ${first.count} repositories with rule files: per second of processor time`,
    value: Math.round((1_000 * count) / cpuMs),
    unit: 'events/s',
    against: beside.join('; '),
    target: '>= 300 /s',
  });
}

const files = 20;
const rulesPerFile = 50;
/** How many of the rules listen to new issues. */
const listening = 10;

/**
 * Writes 1,000 rules of the operator. Ten listen to new issues, and the issues of the benchmark satisfy the conditions of none; the
 * others listen to other events.
 */
async function writeOperatorRules(folder: string): Promise<void> {
  await mkdir(folder);
  for (let file = 0; file < files; file += 1) {
    const rules = Array.from({ length: rulesPerFile }, (_, at) => ruleOf(file * rulesPerFile + at));
    await writeFile(join(folder, `rules-${file}.yml`), `version: 1\nrules:\n${rules.join('')}`);
  }
}

function ruleOf(number: number): string {
  const isHeard = number % ((files * rulesPerFile) / listening) === 0;
  const on = isHeard ? 'issues.opened' : 'pull_request.opened';
  const item = isHeard ? 'issue' : 'pull_request';
  const condition = `${item}.title.lower().contains("topic-${number} ") && event.sender.login != "bot-${number}"`;
  return `  rule-${number}:\n    on: ${on}\n    if: ${condition}\n    steps: [{ uses: set-labels, with: { add: [topic-${number}] } }]\n`;
}

/** Sends a request and returns its whole answer; rejects unless its status is below 300. */
async function ask(sender: Sender, url: string, sent: Sent): Promise<string> {
  const { status, text } = await sender.send(url, sent);
  if (status === 0 || status >= 300)
    throw new Error(`${sent.method} ${url}: ${status} ${text.slice(0, 200)}`);
  return text;
}

/** Returns the delivery of a new issue, signed as the forge signs. */
function deliveryOf({ payload }: EventsForge, repository: Place['repository'], number: number): Sent {
  const { id, name } = repository;
  const about: IssuePayload = {
    ...payload,
    number,
    issue: { ...payload.issue, id: id * 10_000 + number, number },
    repository: { ...payload.repository, id, name, full_name: `${owner}/${name}` },
  };
  const body = JSON.stringify(about);
  return { method: 'POST', headers: headersOf(body, 'issues'), body };
}

/** Number of repositories, and of issues in each of them. */
type EventsSize = { readonly repositories: number; readonly issues: number };
/** The account of the bot owns the repositories `r1`, `r2` …, each with the same issues, one label and the same rule file. */
type EventsForge = {
  readonly token: string;
  /** The webhook payload of a new issue, as the forge sends it. */
  readonly payload: IssuePayload;
  readonly repositories: readonly { readonly id: number; readonly name: string; readonly label: number }[];
};
type IssuePayload = {
  readonly action: string;
  readonly number: number;
  readonly issue: { readonly id: number; readonly number: number };
  readonly repository: { readonly id: number; readonly name: string; readonly full_name: string };
};

const owner = 'reeve';
const label = 'triage';
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
async function createEventsForge(data: string, size: EventsSize): Promise<EventsForge> {
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
