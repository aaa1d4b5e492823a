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
      'GET /admin/cron',
      'POST /admin/cron/{task}',
      'GET /admin/emails',
      'GET /admin/emails/search',
      'GET /admin/orgs',
      'GET /admin/unadopted',
      'POST /admin/unadopted/{owner}/{repo}',
      'DELETE /admin/unadopted/{owner}/{repo}',
      'GET /admin/users/{username}/badges',
      'POST /admin/users/{username}/badges',
      'DELETE /admin/users/{username}/badges',
      'POST /admin/users/{username}/keys',
      'DELETE /admin/users/{username}/keys/{id}',
      'GET /gitignore/templates',
      'GET /gitignore/templates/{name}',
      'GET /label/templates',
      'GET /label/templates/{name}',
      'GET /licenses',
      'GET /licenses/{name}',
      'POST /markdown',
      'POST /markdown/raw',
      'POST /markup',
      'GET /nodeinfo',
      'POST /org/{org}/repos',
      'GET /orgs/{org}/activities/feeds',
      'POST /orgs/{org}/avatar',
      'DELETE /orgs/{org}/avatar',
      'GET /orgs/{org}/blocks',
      'GET /orgs/{org}/blocks/{username}',
      'PUT /orgs/{org}/blocks/{username}',
      'DELETE /orgs/{org}/blocks/{username}',
      'GET /packages/{owner}',
      'GET /packages/{owner}/{type}/{name}/{version}',
      'DELETE /packages/{owner}/{type}/{name}/{version}',
      'GET /packages/{owner}/{type}/{name}/{version}/files',
      'GET /repos/{owner}/{repo}/activities/feeds',
      'POST /repos/{owner}/{repo}/avatar',
      'DELETE /repos/{owner}/{repo}/avatar',
      'GET /repos/{owner}/{repo}/hooks/git',
      'GET /repos/{owner}/{repo}/hooks/git/{id}',
      'DELETE /repos/{owner}/{repo}/hooks/git/{id}',
      'PATCH /repos/{owner}/{repo}/hooks/git/{id}',
      'GET /repos/{owner}/{repo}/issue_config',
      'GET /repos/{owner}/{repo}/issue_config/validate',
      'GET /repos/{owner}/{repo}/issue_templates',
      'DELETE /repos/{owner}/{repo}/issues/{index}/stopwatch/delete',
      'POST /repos/{owner}/{repo}/issues/{index}/stopwatch/start',
      'POST /repos/{owner}/{repo}/issues/{index}/stopwatch/stop',
      'GET /repos/{owner}/{repo}/keys',
      'POST /repos/{owner}/{repo}/keys',
      'GET /repos/{owner}/{repo}/keys/{id}',
      'DELETE /repos/{owner}/{repo}/keys/{id}',
      'POST /repos/{owner}/{repo}/merge-upstream',
      'POST /repos/{owner}/{repo}/mirror-sync',
      'DELETE /repos/{owner}/{repo}/pulls/{index}/merge',
      'GET /repos/{owner}/{repo}/push_mirrors',
      'POST /repos/{owner}/{repo}/push_mirrors',
      'POST /repos/{owner}/{repo}/push_mirrors-sync',
      'GET /repos/{owner}/{repo}/push_mirrors/{name}',
      'DELETE /repos/{owner}/{repo}/push_mirrors/{name}',
      'POST /repos/{template_owner}/{template_repo}/generate',
      'GET /repos/issues/search',
      'POST /repos/migrate',
      'GET /settings/repository',
      'GET /settings/ui',
      'GET /teams/{id}/activities/feeds',
      'GET /topics/search',
      'POST /user/avatar',
      'DELETE /user/avatar',
      'GET /user/blocks',
      'GET /user/blocks/{username}',
      'PUT /user/blocks/{username}',
      'DELETE /user/blocks/{username}',
      'GET /user/emails',
      'POST /user/emails',
      'DELETE /user/emails',
      'GET /user/followers',
      'GET /user/following',
      'GET /user/following/{username}',
      'PUT /user/following/{username}',
      'DELETE /user/following/{username}',
      'GET /user/gpg_key_token',
      'POST /user/gpg_key_verify',
      'GET /user/gpg_keys',
      'POST /user/gpg_keys',
      'GET /user/gpg_keys/{id}',
      'DELETE /user/gpg_keys/{id}',
      'GET /user/keys',
      'POST /user/keys',
      'GET /user/keys/{id}',
      'DELETE /user/keys/{id}',
      'GET /user/settings',
      'PATCH /user/settings',
      'GET /user/stopwatches',
      'GET /users/{username}/activities/feeds',
      'GET /users/{username}/followers',
      'GET /users/{username}/following',
      'GET /users/{username}/following/{target}',
      'GET /users/{username}/gpg_keys',
      'GET /users/{username}/heatmap',
      'GET /users/{username}/keys',
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
