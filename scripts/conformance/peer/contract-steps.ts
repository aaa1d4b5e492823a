import type { Operation } from '../../../src/contract/operation.ts';
import { operations } from '../../../src/contract/operations.ts';
import { type Step, step } from './side.ts';

const rows = Object.values<Operation>(operations);
/** Operations that would end the access that the scenario needs, or start work for the whole instance. */
const left = new Set(['token.delete', 'admin.run-cron-task']);
/** Lists that contain objects of other people on the instance. */
const instanceWide =
  /^\/(admin\/(users|orgs|emails|hooks|unadopted|cron)|orgs$|users\/search|repos\/search|repos\/issues\/search|topics\/search)/;
/** Lists ordered by time, in which rows of the same second have no fixed order. */
const unordered = /\/(statuses|subscriptions|notifications|feeds|dependencies|blocks)\b|\/status$/;
/** Returns the owner of what the path names; lists of the instance belong to its administrator. */
const ownerOf = ({ access }: Operation): string => (access === 'site' ? 'admin' : 'ada');
const pages = ['page=2&limit=1', 'page=0&limit=0', 'page=99&limit=2', 'limit=-1', 'limit=1000', 'page=x'];

/**
 * Returns every read of the contract as the owner, as others and without credentials, for existing and missing objects.
 */
export function readSteps(): readonly Step[] {
  return rows.filter(({ method }) => method === 'GET').flatMap(readsOf);
}

function readsOf(operation: Operation): Step[] {
  const isInstanceWide = instanceWide.test(operation.path);
  const isUnordered = unordered.test(operation.path);
  const get = (as: string, path: string): Step => step(as, 'GET', path, { isInstanceWide, isUnordered });
  const path = pathOf(operation);
  const missing = missingPathOf(operation);
  const owner = ownerOf(operation);
  return [
    ...[owner, 'ben', 'dan', 'anonymous', 'admin'].map((as) => get(as, path)),
    ...(missing === undefined ? [] : [get(owner, missing)]),
    ...(isOfRepository(operation) ? readsOfOthers(operation, get) : []),
    ...(operation.paging === undefined || isInstanceWide
      ? []
      : (isUnordered ? ['limit=50'] : pages).map((query) => get(owner, `${path}?${query}`))),
  ];
}

/** Returns reads of a hidden, an empty and an archived repository, and of one that does not exist. */
function readsOfOthers(operation: Operation, get: (as: string, path: string) => Step): Step[] {
  return [
    get('dan', pathOf(operation, { repo: 'hidden' })),
    get('cleo', pathOf(operation, { repo: 'hidden' })),
    get('ada', pathOf(operation, { repo: 'empty' })),
    get('ada', pathOf(operation, { repo: 'no-such-repository' })),
  ];
}

/** Returns every write of the contract as the wrong person, for missing objects, and with an invalid body. */
export function refusedSteps(): readonly Step[] {
  return rows.filter(({ method, id }) => method !== 'GET' && !left.has(id)).flatMap(refusalsOf);
}

function refusalsOf(operation: Operation): Step[] {
  const { method, body } = operation;
  const path = pathOf(operation);
  const missing = missingPathOf(operation);
  const empty = body === undefined ? {} : { body: {} };
  const send = (as: string, at: string, more: Parameters<typeof step>[3] = empty): Step =>
    step(as, method, at, more);
  const json = (text: string) => ({ raw: { type: 'application/json', text } });
  return [
    send('anonymous', path),
    ...(isOfRepository(operation)
      ? [
          send('dan', pathOf(operation, { repo: 'hidden' })),
          send('cleo', pathOf(operation, { repo: 'hidden' })),
          send('ada', pathOf(operation, { repo: 'no-such-repository' })),
        ]
      : []),
    ...(operation.access === 'site' ? [send('dan', path)] : []),
    ...(missing === undefined ? [] : [send(ownerOf(operation), missing)]),
    ...(body === undefined
      ? []
      : [json('{'), json('[]'), json('"text"'), json('null')].map((more) =>
          send(ownerOf(operation), path, more),
        )),
    ...(body === undefined
      ? []
      : wrongTypesOf(operation).map((more) => send(ownerOf(operation), path, { body: more }))),
  ];
}

/**
 * Returns a body in which every field has a wrong type, and for each of the first fields one in which only that field
 * is wrong.
 */
function wrongTypesOf({ body }: Operation): Record<string, unknown>[] {
  const names = Object.keys((body as { shape?: object } | undefined)?.shape ?? {});
  const wrong = { x: { y: [] } };
  return names.length === 0
    ? []
    : [Object.fromEntries(names.map((name) => [name, wrong])), { [names[0] ?? '']: wrong }];
}

/** Values for the names in a path, by the part of the path that contains them; the first matching row counts. */
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

/** Returns the values for the names in an operation's path. */
function valuesOf(path: string): Readonly<Record<string, string>> {
  const special = meanings.find(([pattern]) => pattern.test(path))?.[1];
  return { ...usual, ...(path.includes('/commits/{ref}') ? { ref: '$head' } : {}), ...special };
}

const parameter = /\{(\w+)\*?\}/g;
/** Path parameters that name the target itself, not something in it. */
const targets = new Set(['owner', 'repo', 'org', 'username']);

/** Returns the path of an operation with its names filled in; `override` can, for example, name another repository. */
function pathOf({ path }: Operation, override: Readonly<Record<string, string>> = {}): string {
  const values = { ...valuesOf(path), ...override };
  return path.replace(parameter, (_, name: string) => values[name] ?? '1');
}

/** Returns the path with a last name that does not exist, or undefined if the path names only its target. */
function missingPathOf(operation: Operation): string | undefined {
  const last = [...operation.path.matchAll(parameter)].map(([, name = '']) => name).at(-1);
  if (last === undefined || (targets.has(last) && operation.path.startsWith('/repos/'))) return undefined;
  return pathOf(operation, {
    [last]: /^(id|index|runner_id|attachment_id|run|position)$/.test(last) ? '999999' : 'no-such-name',
  });
}

/** Returns whether the path names a repository. */
function isOfRepository({ path }: Operation): boolean {
  return path.startsWith('/repos/{owner}/{repo}');
}
