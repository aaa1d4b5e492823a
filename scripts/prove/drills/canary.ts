import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { operations } from '../../../src/contract/operations.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { reeveProcess } from '../../../test/support/command.ts';
import { createDashboardClient, signInWithPassword } from '../../../test/support/dashboard-client.ts';
import type { Fault } from '../../../test/support/fault-proxy.ts';
import { endProcesses } from '../../../test/support/processes.ts';
import { scrapeMetrics } from '../../../test/support/scrape-metrics.ts';
import { at, type ProxiedInstallation, startProxiedInstallation } from '../../harness/installation.ts';
import type { Drill } from '../promise.ts';

const label = 'seen';
const rules = `version: 1
rules:
  by-title:
    on: { issues: [opened] }
    if: issue.title != ""
    steps:
      - uses: set-labels
        with: { add: [${label}] }
      - uses: comment
        with: { key: seen, text: "Seen: \${{ issue.title }}" }
`;
const settings = 'limits: { hour: 100000, repository-hour: 100000 }\n';

/**
 * Responses of a forge, or of a proxy in front of it, that repeat a credential. `pad` moves the credential to where
 * texts are truncated.
 */
const echoes: readonly ((credential: string, pad: string) => Fault)[] = [
  (credential, pad) => answer(422, JSON.stringify({ message: `${pad}bad ${credential}` })),
  (credential, pad) => answer(403, JSON.stringify({ message: `${pad}${basic(credential)} may not` })),
  (credential, pad) => answer(400, `<html>${pad}${encodeURIComponent(credential)}</html>`),
  (credential, pad) =>
    answer(409, JSON.stringify({ message: pad, errors: [Buffer.from(credential).toString('base64')] })),
  (credential) => answer(302, '', { location: `/elsewhere?access_token=${bare(credential)}` }),
  (credential) => answer(301, '', { location: `http://127.0.0.1:1/${bare(credential)}` }),
  (credential) => answer(200, `{"id": "${bare(credential)}"}`),
  (credential) => answer(404, '', { 'x-trace': credential, 'www-authenticate': `Basic ${credential}` }),
  (credential, pad) => answer(500, JSON.stringify({ message: `${pad}${bare(credential)}` })),
  (credential) => answer(429, credential, { 'retry-after': '1' }),
  () => ({ kind: 'reset' }),
  () => ({ kind: 'lose' }),
];

function answer(status: number, body: string, headers: Record<string, string> = {}): Fault {
  return { kind: 'answer', status, body, headers };
}
/** Returns the token in an Authorization header. */
const bare = (credential: string): string => credential.split(' ').at(-1) ?? '';
const basic = (credential: string): string =>
  `Basic ${Buffer.from(`reeve:${bare(credential)}`).toString('base64')}`;

/**
 * Exposes real processes to everything that may repeat a credential, and searches every byte that they wrote for the
 * token and the secrets of the hook.
 */
export const drill: Drill = async ({ isQuick, signal }) => {
  const [rounds, issues, pages] = isQuick ? [1, 48, 40] : [10, 240, 300];
  // Characters that URLs and Base64 encode differently, but that a header may contain.
  const authorization = `Bearer ${randomBytes(24).toString('base64url')}+/=~!`;
  const secret = `${randomBytes(24).toString('hex')}&<"é`;
  const printed: Buffer[] = [];
  const installation = await startProxiedInstallation({
    ...{ rules, settings, authorization, secret, labels: [label] },
    environment: { LOG_LEVEL: 'debug' },
    onOutput: (text) => printed.push(Buffer.from(text)),
  });
  const search = createSearch([installation.token, authorization.slice('Bearer '.length), secret]);
  try {
    for (let round = 0; round < rounds; round += 1) {
      signal.throwIfAborted();
      await meetEchoes(installation, issues);
      await refuseDeliveries(installation, authorization);
      search.add(await pagesOf(installation.url, installation.data, pages));
      search.add(await runCommands(installation, round, isQuick));
      search.add(processTexts(installation.reeve().pid ?? 0));
      await installation.stopReeve(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      search.add(filesIn(installation.data));
      await installation.startReeve();
    }
    await installation.stopReeve('SIGTERM');
    search.add([...filesIn(installation.data), { where: 'its log', bytes: Buffer.concat(printed) }]);
  } finally {
    await installation.close();
    await endProcesses();
  }
  const { bytes, hits, replaced } = search;
  const places = [...hits].slice(0, 3).join('; ');
  return {
    figure: `3 secrets in ${spellingsOf(secret).length} spellings, ${rounds * issues} issues with ${echoes.length} kinds of answers that repeat them: ${hits.size} hits in ${(bytes() / 2 ** 20).toFixed(0)} MiB written, replaced in ${replaced().toLocaleString('en')} places${places === '' ? '' : `: ${places}`}`,
    isKept: hits.size === 0 && replaced() > issues,
  };
};

function createSearch(secrets: readonly string[]) {
  const all = secrets.map((secret, place) => ({ place, spellings: spellingsOf(secret) }));
  for (const secret of secrets) proveSearch(secret);
  const hits = new Set<string>();
  let [total, replaced] = [0, 0];
  return {
    hits,
    bytes: () => total,
    /** Returns the number of places in which a secret was replaced; without any, nothing repeated a secret. */
    replaced: () => replaced,
    add(written: readonly Written[]): void {
      for (const { where, bytes } of written) {
        total += bytes.length;
        replaced += bytes.toString('latin1').split('[secret]').length - 1;
        for (const { place, spellings } of all) {
          for (const name of findSpellings(spellings, bytes))
            hits.add(`secret ${place + 1} in ${where} (${name})`);
        }
      }
    },
  };
}

/** Opens issues; the requests about each of them receive a different response. */
async function meetEchoes(installation: ProxiedInstallation, issues: number): Promise<void> {
  const { root, proxy, data } = installation;
  proxy.decide = ({ method, path }, authorization = '') => {
    const index = Number(/\/issues\/(\d+)/.exec(path)?.[1] ?? 0);
    const [echo, isForWrites] = [echoes[index % echoes.length], Math.floor(index / echoes.length) % 2 === 0];
    if (index === 0 || echo === undefined || (method === 'GET') === isForWrites) return { kind: 'pass' };
    // Messages are truncated after 200 characters, in some cases in the middle of the credential.
    return echo(authorization, 'x'.repeat((index * 37) % 230));
  };
  for (let made = 0; made < issues; made += 1) {
    await root.call(operations.createIssue, { params: at, body: { title: `An issue, ${made}` } });
  }
  const store = await openSqliteStore({ path: join(data, 'reeve.db'), role: 'reader' });
  try {
    // Deliveries that met an error of the forge wait for a retry.
    for (;;) {
      const { accepted, claimed } = await store.counts();
      if (accepted + claimed === 0) break;
      await pause(50);
    }
  } finally {
    await store.close();
  }
}

/** Sends deliveries that the receiver refuses, some with valid credentials; `large` exceeds its size limit. */
async function refuseDeliveries({ url }: ProxiedInstallation, authorization: string): Promise<void> {
  const json = 'application/json';
  const bodies = { broken: '{"a": 1', large: 'x'.repeat(9 * 2 ** 20) };
  const refused: readonly (readonly [Record<string, string>, string])[] = [
    [{}, bodies.broken],
    [{ authorization: 'wrong', 'content-type': json }, bodies.broken],
    [{ authorization, 'content-type': json, 'x-gitea-signature': 'beef' }, bodies.broken],
    [{ authorization, 'content-type': 'text/plain' }, bodies.broken],
    [{ authorization, 'content-type': json }, bodies.large],
  ];
  for (const [headers, body] of refused) {
    // The receiver may close the connection of a delivery that it refuses before its end.
    await fetch(`${url}/webhook`, { method: 'POST', body, headers }).catch(() => undefined);
  }
}

/** Runs commands while the forge works, and while it repeats the credential in every response. */
async function runCommands(
  installation: ProxiedInstallation,
  round: number,
  isQuick: boolean,
): Promise<readonly Written[]> {
  const { environment, proxy, folder } = installation;
  const usual = [
    ['explain', 'last', '--requests'],
    ['plan', '--issue', 'acme/demo#1', '--json'],
    ['store', 'backup', join(folder, `backup-${round}.db`)],
    ...(isQuick ? [] : [['explain', 'last', '--json'], ['doctor']]),
  ];
  const failing = [
    ['doctor', '--json'],
    ['replay', 'last'],
    ...(isQuick ? [] : [['doctor'], ['sweep', 'none', '--plan'], ['setup', '--plan']]),
  ];
  const written: Written[] = [];
  const runAll = async (commands: readonly (readonly string[])[]): Promise<void> => {
    for (const words of commands) {
      const { out, error } = await reeveProcess(words, { environment });
      written.push({ where: `reeve ${words[0]}`, bytes: Buffer.from(`${out}\n${error}`) });
    }
  };
  proxy.decide = () => ({ kind: 'pass' });
  await runAll(usual);
  proxy.decide = (_passing, authorization = '') =>
    answer(401, JSON.stringify({ message: `not with ${authorization}, ${basic(authorization)}` }));
  await runAll(failing);
  proxy.decide = () => ({ kind: 'pass' });
  written.push(...filesIn(folder, `backup-${round}.db`));
  return written;
}

/** Output of a program, with its location. */
type Written = { readonly where: string; readonly bytes: Buffer };

/** Returns the current contents of every file below a folder, or of those with this name. */
function filesIn(folder: string, only?: string): readonly Written[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (only === undefined || entry.name === only))
    .map(({ parentPath, name }) => ({ where: name, bytes: readFileSync(join(parentPath, name)) }));
}

/** Returns the arguments and the environment of a process and of its children, if the system shows them. */
function processTexts(pid: number): readonly Written[] {
  const read = (name: string): readonly Written[] => {
    try {
      return [{ where: `/proc/PID/${name}`, bytes: readFileSync(`/proc/${pid}/${name}`) }];
    } catch {
      return [];
    }
  };
  const children = read(`task/${pid}/children`).flatMap(({ bytes }) =>
    bytes.toString().trim().split(' ').filter(Boolean).map(Number),
  );
  return [...read('cmdline'), ...read('environ'), ...children.flatMap(processTexts)];
}

/** Returns the pages that an operator reaches from the overview by following links, and the metrics. */
async function pagesOf(url: string, data: string, most: number): Promise<readonly Written[]> {
  const password = readFileSync(join(data, 'dashboard.password'), 'utf8').trim();
  const operator = await signInWithPassword(url, password);
  const stranger = createDashboardClient(url, '');
  const written: Written[] = [];
  const queue = ['/'];
  const known = new Set(queue);
  for (let at = 0; at < queue.length && at < most; at += 1) {
    const path = queue[at] ?? '/';
    for (const { get } of [operator, stranger]) {
      const { text, headers } = await get(path);
      const answer = `${JSON.stringify([...headers].filter(([name]) => name !== 'set-cookie'))}\n${text}`;
      written.push({ where: `page ${path}`, bytes: Buffer.from(answer) });
      for (const [, href = ''] of text.matchAll(/href="([^"#]+)/g)) {
        const to = new URL(href.replaceAll('&amp;', '&'), `${url}${path}`);
        const next = to.pathname + to.search;
        if (to.origin !== url || known.has(next)) continue;
        known.add(next);
        queue.push(next);
      }
    }
  }
  const metrics = await scrapeMetrics({ url, data });
  const health = await Promise.all(
    ['healthz', 'readyz'].map(async (name) => (await fetch(`${url}/${name}`)).text()),
  );
  written.push({ where: 'metrics and health', bytes: Buffer.from([metrics, ...health].join('\n')) });
  return written;
}

/** Spelling of a secret that may occur in the output of a program. */
type Spelling = { readonly name: string; readonly bytes: Buffer };

/** Minimum length of a searched piece of a secret: a text truncated in the middle of a secret leaves such a piece. */
const pieceLength = 16;

/**
 * Returns the spellings of a secret: verbatim, escaped for URLs and JSON, in hex, and in Base64 at any offset in the
 * encoded data (such as in a `Basic` header). Written independently of the program's own redactor, which it judges.
 */
export function spellingsOf(secret: string): readonly Spelling[] {
  const pieces = Array.from({ length: Math.max(secret.length - pieceLength + 1, 1) }, (_, at) =>
    secret.slice(at, at + pieceLength),
  );
  const hex = Buffer.from(secret).toString('hex');
  const texts: Record<string, string> = {
    ...Object.fromEntries(pieces.map((piece, at) => [`plain, from character ${at}`, piece])),
    'URL-encoded': encodeURIComponent(secret),
    'as a form': new URLSearchParams([['', secret]]).toString().slice(1),
    'each character as %XX': hex.replaceAll(/../g, '%$&'),
    'each character as \\uXXXX': [...secret]
      .map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
    'in hex': hex,
    'in hex, upper case': hex.toUpperCase(),
    'as UTF-16': Buffer.from(secret, 'utf16le').toString('latin1'),
    'from the end to the beginning': [...secret].toReversed().join(''),
  };
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.from(`${' '.repeat(before)}${secret}`).toString('base64');
    // The first characters depend on the preceding data, the last group on the following data.
    const own = encoded.slice(before === 0 ? 0 : before + 1, encoded.length - 4);
    texts[`Base64, ${before} bytes behind a group`] = own;
    texts[`Base64 for URLs, ${before} bytes behind a group`] = own.replaceAll('+', '-').replaceAll('/', '_');
    texts[`Base64 in a URL, ${before} bytes behind a group`] = encodeURIComponent(own);
  }
  return Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text, 'latin1') }));
}

/** Returns the names of the spellings that occur. */
export function findSpellings(spellings: readonly Spelling[], bytes: Buffer): readonly string[] {
  return spellings.filter((spelling) => bytes.includes(spelling.bytes)).map(({ name }) => name);
}

/** Throws unless the search finds a secret in each spelling that programs use. */
export function proveSearch(secret: string): void {
  const written = [
    `an error: ${secret}!`,
    `an error that is cut: ${secret.slice(0, -3)}`,
    `/path?token=${encodeURIComponent(secret)}&more`,
    ...['', 'a', 'ab', 'abc', 'reeve:'].map((user) => Buffer.from(`${user}${secret}:x`).toString('base64')),
    Buffer.from(secret).toString('hex'),
  ];
  const spellings = spellingsOf(secret);
  const unseen = written.filter((text) => findSpellings(spellings, Buffer.from(text)).length === 0);
  const seen = findSpellings(spellings, Buffer.from('a text of ordinary words, and none of the secret'));
  if (unseen.length + seen.length > 0) throw new Error('the search for secrets does not work');
}
