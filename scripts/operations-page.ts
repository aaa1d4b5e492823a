// Writes docs/operations.md from the contract: every operation, its source, and the files of the contract suite that call it.
// It runs the suite to record these calls. With --check it runs nothing and only compares.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Operation } from '../src/contract/operation.ts';
import { operations } from '../src/contract/operations.ts';
import { handlers } from '../src/forge/handlers.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pagePath = join(root, 'docs/operations.md');
const rows: readonly Operation[] = Object.values(operations);

/** Files of `test/contract/` that call an operation, by its id; names without `.test.ts`. */
type Coverage = ReadonlyMap<string, readonly string[]>;

/** Reads the test coverage from the text of the page. */
export function readCoverage(page: string): Coverage {
  const lines = page.split('\n').filter((line) => /^\| `.*<!-- \S+ --> \|$/.test(line));
  return new Map(
    lines.map((line) => {
      const cells = line.split(/(?<!\\) \| /);
      const id = /<!-- (\S+) -->/.exec(line)?.[1] ?? '';
      const files = (cells.at(-1) ?? '').replace(/ ?(<!-- \S+ -->)? ?\|$/, '').split(', ');
      return [id, files.filter(Boolean)];
    }),
  );
}

/** Returns all problems of the page: stale rows, operations without a test, tests that no longer exist. */
export function findProblems(page: string): readonly string[] {
  const coverage = readCoverage(page);
  const problems: string[] = [...findUnreasoned()];
  for (const row of rows) {
    const files = coverage.get(row.id) ?? [];
    if (files.length === 0) problems.push(`no file of test/contract/ calls ${row.id}`);
    const isCalled = files.some((file) => mentions(file, row));
    if (files.length > 0 && !isCalled) problems.push(`${files.join(', ')} no longer call ${row.id}`);
  }
  if (page !== makePage(coverage))
    problems.push('docs/operations.md is stale: run node scripts/operations-page.ts');
  return problems;
}

/** Returns whether a test file still contains the last literal part of an operation's path. */
function mentions(file: string, { path }: Operation): boolean {
  const source = join(root, 'test/contract', `${file}.test.ts`);
  const word = path.split(/[/.]/).findLast((part) => part !== '' && !part.startsWith('{')) ?? '';
  return existsSync(source) && readFileSync(source, 'utf8').includes(word);
}

/** Returns the text of the page for the contract, with the given tests. */
export function makePage(coverage: Coverage): string {
  const groups = Map.groupBy(rows, (row) => groupOf(row.path));
  const sections = [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([group, members]) => sectionOf(group, members, coverage));
  return `# Operations

Generated from \`src/contract/\` by \`node scripts/operations-page.ts\`; do not edit. This page lists the ${rows.length} operations below
\`/api/v1\`: meaning, required access, answers, source (paths in the source code of Gitea), and the files of
\`test/contract/\` that call the operation on the embedded forge, or on another forge with \`FORGE_URL\` and \`FORGE_TOKEN\`.
[At the end](#compared-with-gitea-js): the operations of Gitea's API that are not served, each with the reason.

${sections.join('\n')}
${unservedSection()}`;
}

function groupOf(path: string): string {
  const [, first = '', , , second = ''] = path.split('/');
  const name = first === 'repos' && second !== '' ? `repository: ${second.replace(/[{}*]/g, '')}` : first;
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

function sectionOf(group: string, members: readonly Operation[], coverage: Coverage): string {
  const lines = members.map((row) => {
    const { access, scopes, success, errors } = row;
    const cells = [
      `\`${row.method} ${row.path}\``,
      row.meaning,
      scopes.length > 0 ? `${access} (${scopes.join(', ')})` : access,
      `${success}${errors.length > 0 ? `; ${errors.join(', ')}` : ''}`,
      row.source,
      `${(coverage.get(row.id) ?? []).join(', ')} <!-- ${row.id} -->`,
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const head =
    '| operation | meaning | access | answers | source | tests |\n| --- | --- | --- | --- | --- | --- |';
  return `## ${group}\n\n${head}\n${lines.join('\n')}\n`;
}

/** Runs the contract suite on the embedded forge and returns which file called which operation. */
function recordCoverage(): Coverage {
  const folder = mkdtempSync(join(tmpdir(), 'operations-'));
  const record = join(folder, 'record');
  writeFileSync(record, '');
  try {
    const environment = { ...process.env, CONTRACT_RECORD: record, FORGE_URL: '', FORGE_TOKEN: '' };
    const program = join(root, 'node_modules/vitest/vitest.mjs');
    const { status } = spawnSync(process.execPath, [program, 'run', 'test/contract'], {
      cwd: root,
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) console.error('the contract suite has failures: what they left out is not recorded');
    const lines = readFileSync(record, 'utf8').split('\n').filter(Boolean);
    const calls = lines.map((line) => line.replace('.test.ts', '').split(' '));
    const byId = Map.groupBy(calls, ([, id]) => id ?? '');
    return new Map(
      [...byId].map(([id, of]) => [id, [...new Set(of.map(([file]) => file ?? ''))].toSorted()]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// The operations of gitea-js, the TypeScript client of Gitea's API, and which of them the embedded forge does not serve.

/** Reasons why operations are not served; each operation is written as in gitea-js. */
type Reason = {
  readonly reason: string;
  /** Whether the operation is permanently excluded. A served operation must not be in the list. */
  readonly isFinal: boolean;
  readonly operations: readonly string[];
};

export const reasons: readonly Reason[] = [
  {
    reason:
      'Federation: Gitea 1.27 itself answers 404, or 501 where federation is switched on, and no repository of a forge that runs beside a bot is followed from another instance.',
    isFinal: true,
    operations: ['GET /activitypub/user-id/{user-id}', 'POST /activitypub/user-id/{user-id}/inbox'],
  },
  {
    reason: 'Not implemented yet.',
    isFinal: false,
    operations: [
      'GET /orgs/{org}/activities/feeds',
      'GET /repos/{owner}/{repo}/activities/feeds',
      'DELETE /repos/{owner}/{repo}/pulls/{index}/merge',
      'GET /teams/{id}/activities/feeds',
      'GET /users/{username}/activities/feeds',
      'GET /users/{username}/heatmap',
    ],
  },
];

/** Returns the operations of the installed gitea-js as `METHOD path`, in the order of their paths. */
export function listGiteaJsOperations(): readonly string[] {
  const file = fileURLToPath(new URL('../node_modules/gitea-js/dist/index.d.ts', import.meta.url));
  const found = [...readFileSync(file, 'utf8').matchAll(/@request (GET|POST|PUT|PATCH|DELETE):(\S+)/g)];
  const names = new Set(found.map(([, method, path]) => `${method} ${path}`));
  return [...names].toSorted((one, other) => pathOf(one).localeCompare(pathOf(other), 'en'));
}

function pathOf(operation: string): string {
  return operation.split(' ')[1] ?? '';
}

/** Returns `METHOD path` without the names of path parameters, because two clients may use different names. */
function shapeOf(operation: string): string {
  return operation.replace(/\{[^}]+\}/g, '{}');
}

/** Returns the operations of gitea-js that have no handler. */
export function listUnserved(): readonly string[] {
  const served = new Set(
    Object.entries(operations)
      .filter(([name]) => Object.hasOwn(handlers, name))
      .map(([, { method, path }]) => shapeOf(`${method} ${path}`)),
  );
  return listGiteaJsOperations().filter((operation) => !served.has(shapeOf(operation)));
}

/** Returns the problems of a list of reasons: operations with no reason or with two, and operations that are served. */
export function findUnreasoned(rows: readonly Reason[] = reasons): readonly string[] {
  const unserved = listUnserved();
  const known = new Set(listGiteaJsOperations());
  const counts = new Map<string, number>();
  for (const operation of rows.flatMap((row) => row.operations)) {
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
  }
  return [
    ...unserved.filter((one) => !counts.has(one)).map((one) => `${one}: not served, and no reason is given`),
    ...[...counts].filter(([, count]) => count > 1).map(([one]) => `${one}: has more than one reason`),
    ...[...counts.keys()]
      .filter((one) => !known.has(one))
      .map((one) => `${one}: not an operation of gitea-js`),
    ...rows
      .filter(({ isFinal }) => isFinal)
      .flatMap((row) => row.operations.filter((one) => !unserved.includes(one)))
      .map((one) => `${one}: is served, although a reason says that it is not`),
  ];
}

/** Returns the section of the page of operations that compares the forge with gitea-js. */
function unservedSection(): string {
  const all = listGiteaJsOperations();
  const unserved = listUnserved();
  const lines = reasons.flatMap(({ reason, operations: named }) =>
    named
      .filter((operation) => unserved.includes(operation))
      .map((operation) => `| \`${operation}\` | ${reason} |`),
  );
  const text = `## Compared with gitea-js

The embedded forge serves ${all.length - unserved.length} of the ${all.length} operations of gitea-js, the TypeScript client of Gitea's API.`;
  if (lines.length === 0) return `${text}\n`;
  return `${text} These are not served:\n\n| operation | reason |\n| --- | --- |\n${lines.join('\n')}\n`;
}

// Last, because it uses the table above.
if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  if (!isCheck) writeFileSync(pagePath, makePage(recordCoverage()));
  const problems = findProblems(existsSync(pagePath) ? readFileSync(pagePath, 'utf8') : '');
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(`docs/operations.md: ${rows.length} operations, each called by the contract suite`);
}
