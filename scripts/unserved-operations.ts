// The operations of gitea-js, the TypeScript client of Gitea's API, and which of them the embedded forge does not serve.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operations } from '../src/contract/operations.ts';
import { handlers } from '../src/forge/handlers.ts';

/** Why operations are not served; each is written as gitea-js writes it. */
type Reason = {
  readonly reason: string;
  /** Stays out on purpose: an operation of the list that is served is an error of the list. */
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

/** Two clients may name the parameters of a path differently: `METHOD path` without their names. */
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

/** Returns what is wrong with a list of reasons: an operation without one or with two, and one that is served after all. */
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
export function unservedSection(): string {
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
