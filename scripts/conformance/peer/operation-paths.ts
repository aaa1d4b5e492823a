import type { Operation } from '../../../src/contract/operation.ts';

/** What a name in a path stands for, by the part of the path it is in: the first row that fits counts. */
const meanings: readonly (readonly [pattern: RegExp, values: Readonly<Record<string, string>>])[] = [
  [/\/issues\/comments\/\{id\}/, { id: '$comment', attachment_id: '$commentAttachment' }],
  [/\/issues\/\{index\}\/assets/, { attachment_id: '$attachment' }],
  [/\/issues\/\{index\}\/comments\/\{id\}/, { id: '$comment' }],
  [/\/issues\/\{index\}\/labels\/\{id\}/, { id: '$label' }],
  [/\/issues\/\{index\}\/times\/\{id\}/, { id: '$time' }],
  [/\/releases\/\{id\}/, { id: '$release', attachment_id: '$asset' }],
  [/\/reviews\/\{id\}/, { id: '$review' }],
  [/\/orgs\/\{org\}\/labels\/\{id\}/, { id: '$orgLabel' }],
  [/\/orgs\/\{org\}\/hooks\/\{id\}/, { id: '$orgHook' }],
  [/\/admin\/hooks\/\{id\}/, { id: '$adminHook' }],
  [/\/user\/hooks\/\{id\}/, { id: '$userHook' }],
  [/\/user\/keys\/\{id\}/, { id: '$key' }],
  [/\/oauth2\/\{id\}/, { id: '$application' }],
  [/\/threads\/\{id\}/, { id: '$thread' }],
  [/^\/teams\/\{id\}/, { id: '$team', org: '$acme', repo: 'api', username: '$ben' }],
  [/^\/repositories\/\{id\}/, { id: '$siteId' }],
  [/\/labels\/\{id\}/, { id: '$label' }],
  [/\/milestones\/\{id\}/, { id: '$milestone' }],
  [/\/hooks\/git\/\{id\}/, { id: 'pre-receive' }],
  [/\/hooks\/\{id\}/, { id: '$hook' }],
  [/\/keys\/\{id\}/, { id: '$deployKey' }],
  [/\/tag_protections\/\{id\}/, { id: '$tagProtection' }],
  [/\/branch_protections\/\{name/, { name: 'main' }],
  [/\/git\/blobs\//, { sha: '$blobREADMEmd' }],
  [/\/git\/tags\//, { sha: '$tagObject' }],
  [/\/pulls\/\{index\}/, { index: '$pull' }],
  [/^\/gitignore/, { name: 'Go' }],
  [/^\/licenses/, { name: 'MIT' }],
  [/^\/label\/templates/, { name: 'Default' }],
  [/^\/packages/, { owner: '$ada', type: 'generic', name: 'none', version: '1' }],
  [/^\/users\/\{username\}\/orgs\//, { username: '$ada', org: '$acme' }],
];

const usual: Readonly<Record<string, string>> = {
  owner: '$ada',
  repo: 'site',
  org: '$acme',
  username: '$ada',
  target: '$dan',
  user: '$ada',
  collaborator: '$ben',
  index: '1',
  branch: 'topic/one',
  sha: '$head',
  ref: 'heads/main',
  tag: 'v1.0',
  basehead: 'main...topic/one',
  base: 'main',
  head: 'topic/one',
  filepath: 'README.md',
  archive: 'main.zip',
  pageName: 'Home',
  workflow_id: 'build.yml',
  variablename: 'NAME',
  secretname: 'TOKEN',
  team: 'writers',
  topic: 'forge',
  task: 'no-such-task',
  diffType: 'diff',
  position: '1',
  token: 'no-such-token',
  reponame: 'none',
};

/** Returns what the names in an operation's path stand for. */
function valuesOf(path: string): Readonly<Record<string, string>> {
  const special = meanings.find(([pattern]) => pattern.test(path))?.[1];
  return { ...usual, ...(path.includes('/commits/{ref}') ? { ref: '$head' } : {}), ...special };
}

const parameter = /\{(\w+)\*?\}/g;
/** Names that belong to the target, and not to what is asked for in it. */
const targets = new Set(['owner', 'repo', 'org', 'username']);

/** Returns the path of an operation with its names filled in; `override` names another repository, for example. */
export function pathOf({ path }: Operation, override: Readonly<Record<string, string>> = {}): string {
  const values = { ...valuesOf(path), ...override };
  return path.replace(parameter, (_, name: string) => values[name] ?? '1');
}

/** Returns the path with a last name that does not exist; undefined where the path names nothing but its target. */
export function missingPathOf(operation: Operation): string | undefined {
  const last = [...operation.path.matchAll(parameter)].map(([, name = '']) => name).at(-1);
  if (last === undefined || (targets.has(last) && operation.path.startsWith('/repos/'))) return undefined;
  return pathOf(operation, {
    [last]: /^(id|index|runner_id|attachment_id|run|position)$/.test(last) ? '999999' : 'no-such-name',
  });
}

/** Whether the path names a repository. */
export function isOfRepository({ path }: Operation): boolean {
  return path.startsWith('/repos/{owner}/{repo}');
}
