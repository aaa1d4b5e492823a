import { capabilitiesOf } from '../../src/client/capabilities.ts';
import type { Client } from '../../src/client/client.ts';
import { forgeError } from '../../src/client/failure.ts';
import { enabledEvents } from '../../src/contract/events/hook-events.ts';
import { type AnyInput, fillPath, type Operation } from '../../src/contract/operation.ts';
import { gitBlobId } from '../../src/facts/contents.ts';
import { ReeveError } from '../../src/platform/errors.ts';

type Row = Record<string, unknown>;

/** Initial state of the forge. Every requested repository and organization has the same contents. */
export type FakeForgeState = {
  /** Id of each repository, by `owner/name` in lower case. Any other repository has an id that no event refers to. */
  readonly ids: Readonly<Record<string, number>>;
  /** Content of each file, by `owner/name/path` in lower case. */
  readonly files: Readonly<Record<string, string>>;
  /** Text written by people: title and body of everything that has a title and a body. */
  readonly words: string;
  /** Names of the defined labels and of the labels on issues. */
  readonly defined: readonly string[];
  readonly carried: readonly string[];
  readonly protected: readonly string[];
  readonly hooks: readonly string[];
  readonly reviews: number;
  /** State of pull requests: whether they are merged or closed, into which branch, and whether they come from a fork. */
  readonly pulls: {
    readonly merged: boolean;
    readonly closed?: boolean;
    readonly base: string;
    readonly isFork: boolean;
  };
  /** Version that the forge reports. Forges of different versions resolve branch names differently. */
  readonly version: string;
  /** Earlier writes of Reeve: each `rule/key` exists as a comment, and as an issue with this state. */
  readonly own: readonly (readonly [key: string, state: 'open' | 'closed'])[];
};

/**
 * Repository that the account can read, but that no rule file below the operator level can read. All texts in it are
 * `vaultText`.
 */
export const vault = { id: 1, owner: 'dark', name: 'vault' } as const;
export const vaultText = `text of ${vault.owner}/${vault.name}`;
const vaultRepository = {
  id: vault.id,
  name: vault.name,
  full_name: `${vault.owner}/${vault.name}`,
  owner: { id: 8, login: vault.owner },
  description: vaultText,
};

/** Returns the text that people wrote at a path: `words`, except in the vault. */
function wordsAt(path: string, words: string): string {
  return path.startsWith(`/repos/${vault.owner}/${vault.name}`) ? vaultText : words;
}

export const botAccount = { id: 9, login: 'reeve' };
const commit = 'c'.repeat(40);
/** Diff of every pull request and every commit. */
const patch = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n';
const ada = { id: 7, login: 'ada' };

function repositoryOf(owner: string, name: string, { ids, words }: FakeForgeState): Row {
  const id = ids[`${owner}/${name}`] ?? 900_000 + owner.length * 100 + name.length;
  return {
    id,
    name,
    full_name: `${owner}/${name}`,
    owner: { id: 3, login: owner },
    default_branch: 'main',
    description: words,
    // Every repository is a fork of the vault.
    parent: vaultRepository,
    archived: false,
    empty: false,
  };
}

function contentsOf(where: string, path: string, { files }: FakeForgeState): unknown {
  const text = files[`${where}/${path}`];
  const inside = Object.keys(files).filter((one) => one.startsWith(`${where}/${path}/`));
  const entry = (file: string) => ({ name: file.split('/').at(-1), path: file, type: 'file', sha: commit });
  if (text === undefined) {
    return inside.length === 0 ? undefined : inside.map((one) => entry(one.slice(where.length + 1)));
  }
  const content = Buffer.from(text).toString('base64');
  return { ...entry(path), encoding: 'base64', content, size: Buffer.byteLength(text) };
}

function issueOf(
  number: number,
  repositoryId: number,
  { words, defined, carried, pulls }: FakeForgeState,
): Row {
  const { merged, closed = merged, base, isFork } = pulls;
  const side = (ref: string, id: number): Row => ({
    ref,
    sha: commit,
    repo_id: id,
    repo: id === vault.id ? vaultRepository : { id, name: 'demo', full_name: 'acme/demo', owner: ada },
  });
  return {
    id: number,
    number,
    title: words,
    body: words,
    state: closed ? 'closed' : 'open',
    merged,
    merged_by: merged ? botAccount : null,
    merged_at: merged ? '2026-01-01T00:00:00Z' : null,
    merge_commit_sha: merged ? commit : null,
    mergeable: !merged,
    user: ada,
    labels: defined.flatMap((name, place) => (carried.includes(name) ? [labelOf(name, place)] : [])),
    head: side('work', isFork ? vault.id : repositoryId),
    base: side(base, repositoryId),
  };
}

function threadOf(id: number, { words }: FakeForgeState): Row {
  return { id, unread: true, pinned: false, subject: { type: 'Issue', title: words, state: 'open' } };
}

/** Returns an issue of the vault repository. */
function inVault(state: FakeForgeState): Row {
  return {
    ...issueOf(5, vault.id, { ...state, words: vaultText }),
    repository: { ...vaultRepository, owner: vault.owner },
  };
}

function labelOf(name: string, place: number): Row {
  return { id: place + 1, name, color: 'ff0000', description: '' };
}

type Collection = {
  readonly of: RegExp;
  readonly begins: (state: FakeForgeState, path: string) => readonly Row[];
};

const written = (key: string): string => `<!-- reeve:${key} -->\nOld words.`;
const none = (): readonly Row[] => [];
const collections: readonly Collection[] = [
  {
    of: /\/issues\/\d+\/labels$/,
    begins: (state) => issueOf(1, 1, state).labels as readonly Row[],
  },
  { of: /^\/repos\/[^/]+\/[^/]+\/labels$/, begins: ({ defined }) => defined.map(labelOf) },
  { of: /^\/orgs\/[^/]+\/labels$/, begins: () => [{ id: 501, name: 'shared', color: '00ff00' }] },
  {
    of: /^\/(repos\/[^/]+\/[^/]+|orgs\/[^/]+|user)\/hooks$/,
    begins: ({ hooks }) =>
      hooks.map((url) => ({
        type: 'gitea',
        active: true,
        events: ['push'],
        config: { url, content_type: 'json' },
      })),
  },
  {
    of: /\/branch_protections$/,
    begins: (state) =>
      state.protected.map((rule_name) => ({ rule_name, enable_push: true, required_approvals: 1 })),
  },
  {
    of: /\/tag_protections$/,
    begins: (state) =>
      state.protected.map((name_pattern) => ({ name_pattern, whitelist_usernames: ['ada'] })),
  },
  {
    of: /\/pulls\/\d+\/reviews$/,
    begins: ({ reviews }) =>
      Array.from({ length: reviews }, () => ({
        user: ada,
        state: 'APPROVED',
        commit_id: 'd'.repeat(40),
        stale: true,
        dismissed: false,
      })),
  },
  {
    of: /\/issues\/\d+\/comments$/,
    begins: ({ own }) => own.map(([key]) => ({ body: written(key), user: botAccount })),
  },
  {
    of: /\/issues$/,
    begins: ({ own }, path) =>
      own.map(([key, state], place) => ({
        number: 31 + place,
        title: wordsAt(path, 'Old'),
        body: written(key),
        state,
        user: botAccount,
      })),
  },
  { of: /\/reactions$/, begins: none },
  {
    of: /\/git\/refs\/pull\/\d+\/head$/,
    begins: (_state, path) => [
      { ref: path.slice(path.indexOf('refs/')), object: { type: 'commit', sha: commit } },
    ],
  },
  {
    of: /\/timeline$/,
    begins: (state) => [
      {
        type: 'issue_ref',
        ref_issue: inVault(state),
        ref_comment: { id: 2, body: vaultText, user: ada },
        body: vaultText,
        user: ada,
      },
      { type: 'commit_ref', body: vaultText, ref_commit_sha: commit, user: ada },
      { type: 'add_dependency', dependent_issue: inVault(state), user: ada },
    ],
  },
  { of: /\/dependencies$/, begins: (state) => [inVault(state)] },
  {
    of: /^\/orgs\/[^/]+\/teams$/,
    begins: () => [
      { id: 1, name: 'Owners', permission: 'owner' },
      { id: 2, name: 'release', permission: 'write', units_map: { 'repo.code': 'write' } },
    ],
  },
  {
    of: /^\/teams\/\d+\/members$/,
    begins: (_state, path) => (path === '/teams/2/members' ? [{ id: 7, login: 'ada' }] : []),
  },
  { of: /^\/teams\/\d+\/repos$/, begins: none },
  {
    of: /\/collaborators$/,
    begins: () => [{ id: 7, login: 'ada', permission: 'write' }],
  },
  { of: /\/notifications$/, begins: (state) => [threadOf(1, state)] },
  {
    of: /\/milestones$/,
    begins: () =>
      ['next', 'now'].map((title) => ({ title, state: 'open', open_issues: 0, closed_issues: 0 })),
  },
  {
    of: /\/branches$/,
    begins: () =>
      ['work', 'main', 'main2', 'release/1', 'a#b', '-x'].map((name) => ({ name, commit: { id: commit } })),
  },
  {
    of: /\/pulls\/\d+\/commits$/,
    begins: ({ words }) => [
      { sha: commit, commit: { message: words, author: { name: words, email: words } }, parents: [] },
    ],
  },
  { of: /\/actions\/runs$/, begins: none },
  { of: /\/pulls$/, begins: none },
  { of: /\/statuses\/[^/]+$/, begins: none },
  { of: /^\/notifications\/threads$/, begins: none },
  {
    of: /^\/users\/[^/]+\/starred$/,
    begins: (state) =>
      Object.keys(state.ids).map((name) => {
        const [owner = '', repo = ''] = name.split('/');
        return repositoryOf(owner, repo, state);
      }),
  },
];

/** Write as it would have been sent, with the path as it is on the wire. */
export type Written = {
  readonly method: string;
  readonly path: string;
  readonly query: unknown;
  readonly body: unknown;
};

type FakeForge = Client & { readonly written: readonly Written[] };

/**
 * Creates a forge that has every repository, issue and organization that anyone names, and that lets the account do
 * anything. So the forge itself never prevents a write. It responds from memory according to the contract, and records
 * writes.
 */
export function createFakeForge(state: FakeForgeState): FakeForge {
  const lists = new Map<string, Row[]>();
  const things = new Map<string, Row>();
  const written: Written[] = [];
  let ids = 1_000;

  const nextId = (): number => {
    ids += 1;
    return ids;
  };
  const absent = (path: string): never => {
    throw forgeError(path, 404, '{"message":"not found"}', null);
  };

  function listAt(path: string): Row[] | undefined {
    const known = lists.get(path);
    if (known) return known;
    const row = collections.find(({ of }) => of.test(path));
    if (row === undefined) return undefined;
    const made = row.begins(state, path).map((one, place): Row => ({ id: place + 1, ...one }));
    lists.set(path, made);
    return made;
  }

  function thingAt(path: string): Row | undefined {
    const comment = /^(.+\/issues)\/comments\/(\d+)$/.exec(path);
    if (comment) return commentsIn(comment[1] ?? '').find(({ id }) => id === Number(comment[2]));
    // Names of branch protections may contain slashes.
    const split = /^(.*\/branch_protections)\/(.+)$/.exec(path) ?? /^(.*)\/([^/]+)$/.exec(path);
    const [, parent = '', last = ''] = split ?? [];
    const key = decodeURIComponent(last);
    const list = listAt(parent);
    const found = list?.find(({ id, number, rule_name, name }) =>
      [number ?? id, rule_name, parent.endsWith('/branches') ? name : undefined].map(String).includes(key),
    );
    if (found || !/\/(issues|pulls|threads)$/.test(parent)) return found;
    // There is an object for every number that an event contains.
    const [, , owner = '', name = ''] = parent.split('/');
    const repositoryId = Number(repositoryOf(owner, name, state).id);
    const made = parent.endsWith('threads')
      ? threadOf(Number(key), state)
      : issueOf(Number(key), repositoryId, state);
    list?.push(made);
    return made;
  }

  function commentsIn(issues: string): readonly Row[] {
    return [...lists].flatMap(([path, rows]) =>
      path.startsWith(issues) && path.endsWith('/comments') ? rows : [],
    );
  }

  function single(path: string, make: () => Row): Row {
    const known = things.get(path) ?? make();
    things.set(path, known);
    return known;
  }

  function read(path: string): unknown {
    if (path === '/user') return botAccount;
    const whole = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path);
    const organization = /^\/orgs\/([^/]+)$/.exec(path);
    if (organization) {
      const name = organization[1] ?? '';
      return single(path, () => ({ id: 3, name, username: name, description: state.words }));
    }
    if (whole && whole[3] === undefined) {
      const there = { ...state, words: wordsAt(path, state.words) };
      return single(path, () => repositoryOf(whole[1] ?? '', whole[2] ?? '', there));
    }
    const held = /^(.*\/collaborators)\/([^/]+)\/permission$/.exec(path);
    if (held) return collaboratorAt(held[1] ?? '', held[2] ?? '') ?? absent(path);
    if (/\/(pulls|git\/commits)\/[^/]+\.diff$/.test(path)) return patch;
    if (/\/branches\//.test(path)) return { name: path.split('/').at(-1), commit: { id: commit } };
    if (/\/compare\//.test(path))
      return {
        total_commits: 1,
        commits: [{ sha: commit, ...(isOfVault(path) && { commit: { message: vaultText } }) }],
        files: [{ filename: 'src/a.ts', status: 'changed' }],
      };
    const between = /^(.*\/pulls)\/([^/]+)\/(.+)$/.exec(path);
    if (between && !/\/(reviews|files|commits)$/.test(path)) {
      const [base, head] = [between[2] ?? '', between[3] ?? ''].map(decodeURIComponent);
      if (head === `${vault.owner}:old`) return { ...issueOf(5, vault.id, state), title: vaultText };
      return openBetween(listAt(between[1] ?? ''), base, head) ?? absent(path);
    }
    const file = /^\/repos\/([^/]+\/[^/]+)\/contents\/(.+)$/.exec(path);
    const committed = file && things.get(decodeURIComponent(path));
    if (committed) return committed;
    if (file) return contentsOf(file[1] ?? '', decodeURIComponent(file[2] ?? ''), state) ?? absent(path);
    if (/\/pulls\/\d+\/files$/.test(path)) return [{ filename: 'src/a.ts', status: 'changed' }];
    if (/\/wiki\/page\//.test(path))
      return {
        title: 'Page',
        sub_url: 'Page',
        content_base64: Buffer.from(state.words).toString('base64'),
      };
    if (/\/actions\/runs$/.test(path)) return { workflow_runs: listAt(path) };
    return listAt(path) ?? thingAt(path) ?? absent(path);
  }

  function collaboratorAt(list: string, login: string): Row | undefined {
    return listAt(list)?.find((one) => one.login === decodeURIComponent(login).toLowerCase());
  }

  /** Creates review requests, which are stored among the reviews. */
  function requestReviews(pull: string, body: Row): readonly Row[] {
    const of = (name: string): readonly string[] => (body[name] ?? []) as readonly string[];
    const made = [
      ...of('reviewers').map((login) => ({ user: { id: nextId(), login } })),
      ...of('team_reviewers').map((name) => ({ user: null, team: { id: nextId(), name } })),
    ].map((one): Row => ({ id: nextId(), state: 'REQUEST_REVIEW', ...one }));
    listAt(`${pull}/reviews`)?.push(...made);
    return made;
  }

  /**
   * Applies writes that involve people: collaborators, reactions, review requests, and bulk changes of notifications.
   */
  function writePeople(method: string, path: string, body: Row): unknown {
    const pull = /^(.*)\/requested_reviewers$/.exec(path);
    if (pull) return requestReviews(pull[1] ?? '', body);
    const reacted = /\/reactions$/.test(path) && method === 'DELETE' ? listAt(path) : undefined;
    if (reacted)
      return void reacted.splice(
        reacted.findIndex(({ content }) => content === body.content),
        1,
      );
    if (/\/notifications$/.test(path)) return void lists.set(path, []);
    const [, list = '', name = ''] = /^(.*\/collaborators)\/([^/]+)$/.exec(path) ?? [];
    const known = collaboratorAt(list, name);
    const all = listAt(list) ?? [];
    if (method === 'DELETE') return void all.splice(all.indexOf(known ?? absent(path)), 1);
    if (known) return void Object.assign(known, body);
    const login = decodeURIComponent(name).toLowerCase();
    return void all.push({ id: login === botAccount.login ? botAccount.id : nextId(), login, ...body });
  }

  /** Applies writes to `/teams/ID`, its members and its repositories. */
  function writeTeam(method: string, path: string, body: Row): unknown {
    const [, id = '', kind, name = ''] = /^\/teams\/(\d+)(?:\/(members|repos)\/(.+))?$/.exec(path) ?? [];
    if (kind !== undefined) {
      const list = listAt(`/teams/${id}/${kind}`) ?? [];
      const key = decodeURIComponent(kind === 'repos' ? (name.split('/')[1] ?? '') : name).toLowerCase();
      const known = list.find((one) => String(one.login ?? one.name).toLowerCase() === key);
      if (known && method === 'DELETE') list.splice(list.indexOf(known), 1);
      const one = kind === 'repos' ? repositoryOf('acme', key, state) : { id: nextId(), login: key };
      if (known === undefined && method === 'PUT') list.push(one);
      return undefined;
    }
    const all = [...lists].filter(([of]) => of.endsWith('/teams')).map(([, rows]) => rows);
    for (const rows of all) {
      const place = rows.findIndex((one) => one.id === Number(id));
      if (place < 0) continue;
      return method === 'DELETE' ? void rows.splice(place, 1) : Object.assign(rows[place] ?? {}, body);
    }
    return absent(path);
  }

  /** Commits files to the branch. Every repository has only one branch. */
  function commitFiles(contents: string, { files }: Row): unknown {
    const made = (files as readonly Row[]).map(({ path, content }): Row => {
      const bytes = Buffer.from(String(content), 'base64');
      const entry = { name: String(path).split('/').at(-1), path, type: 'file', encoding: 'base64', content };
      return { ...entry, sha: gitBlobId(bytes), size: bytes.length };
    });
    for (const one of made) things.set(`${contents}/${one.path}`, one);
    return { files: made, commit: { sha: commit } };
  }

  /** Starts a workflow. The new run becomes the first in the list. */
  function startWorkflow(actions: string, workflow: string, { ref }: Row): unknown {
    const event = 'workflow_dispatch';
    const run = { id: nextId(), event, path: `${workflow}@${ref}`, status: 'queued', actor: botAccount };
    listAt(`${actions}/runs`)?.unshift(run);
    return { workflow_run_id: run.id };
  }

  function write(method: string, path: string, query: Row, body: Row): unknown {
    const started = /^(.*\/actions)\/workflows\/([^/]+)\/dispatches$/.exec(path);
    if (started) return startWorkflow(started[1] ?? '', started[2] ?? '', body);
    if (/^\/repos\/[^/]+\/[^/]+\/contents$/.test(path)) return commitFiles(path, body);
    if (path.startsWith('/teams/')) return writeTeam(method, path, body);
    if (/\/(requested_reviewers|notifications|collaborators\/[^/]+)$/.test(path))
      return writePeople(method, path, body);
    if (/\/reactions$/.test(path) && method === 'DELETE') return writePeople(method, path, body);
    if (path.endsWith('/tests') || /\/pulls\/\d+\/update$/.test(path)) return undefined;
    const merged = /^(.*\/pulls\/\d+)\/merge$/.exec(path);
    if (merged) {
      const now = { merged: true, state: 'closed', merged_by: botAccount };
      return void Object.assign(thingAt(merged[1] ?? '') ?? absent(path), now);
    }
    const dismissed = /^(.*)\/dismissals$/.exec(path);
    if (dismissed) return Object.assign(thingAt(dismissed[1] ?? '') ?? absent(path), { dismissed: true });
    if (/\/issues\/\d+\/labels$/.test(path)) {
      const own = path.replace(/\/issues\/\d+\/labels$/, '/labels');
      const ofOwner = own.replace(/^\/repos\/([^/]+)\/[^/]+/, '/orgs/$1');
      const known = [...(listAt(own) ?? []), ...(listAt(ofOwner) ?? [])];
      const asked = (body.labels as readonly unknown[] | undefined) ?? [];
      const now = known.filter(({ id, name }) => asked.includes(id) || asked.includes(name));
      lists.set(path, now);
      return now;
    }
    const moderated = /^(.*\/issues\/\d+)\/(lock|pin)$/.exec(path);
    if (moderated) {
      const isOn = method !== 'DELETE';
      const after = moderated[2] === 'lock' ? { is_locked: isOn } : { pin_order: isOn ? 1 : 0 };
      Object.assign(thingAt(moderated[1] ?? '') ?? absent(path), after);
      return undefined;
    }
    const patched = /^(.*)\/diffpatch$/.exec(path);
    if (patched) {
      listAt(`${patched[1]}/branches`)?.push({ name: body.new_branch, commit: { id: commit } });
      return { content: null, commit: { sha: commit } };
    }
    if (method === 'POST') {
      const list = listAt(path) ?? absent(path);
      const made = { ...afterwards(body, path), id: nextId(), number: ids, user: botAccount };
      list.push(made);
      return made;
    }
    if (method === 'DELETE') {
      const gone = thingAt(path) ?? absent(path);
      for (const list of lists.values()) if (list.includes(gone)) list.splice(list.indexOf(gone), 1);
      return undefined;
    }
    if (path.startsWith('/notifications/')) {
      const to = query['to-status'];
      return Object.assign(thingAt(path) ?? {}, { unread: to === 'unread', pinned: to === 'pinned' });
    }
    const isWhole = /^\/(orgs\/[^/]+|repos\/[^/]+\/[^/]+)$/.test(path);
    const thing = isWhole ? (read(path) as Row) : thingAt(path);
    return Object.assign(thing ?? absent(path), afterwards(body, path));
  }

  const exchange = async (operation: Operation, input: AnyInput): Promise<unknown> => {
    // As in the client, the row fills in the path, and the platform's URL class determines the path on the wire.
    const path = new URL(`http://forge/api/v1${fillPath(operation, input.params)}`).pathname.slice(
      '/api/v1'.length,
    );
    const at = path.replace(/^\/(repos\/[^/]+\/[^/]+|orgs\/[^/]+)/, (place) => place.toLowerCase());
    if (operation.method === 'GET') return shaped(operation, structuredClone(read(at)));
    const checked = operation.body?.safeParse(input.body ?? {});
    if (checked?.success === false)
      throw new ReeveError('internal', `${operation.id}: ${checked.error.message}`);
    const body = checked?.data;
    written.push({ method: operation.method, path, query: input.query, body });
    const answer = write(operation.method, at, (input.query ?? {}) as Row, (body ?? {}) as Row);
    return operation.success === 205 ? undefined : shaped(operation, structuredClone(answer));
  };

  const forge: FakeForge = {
    written,
    requests: 0,
    denials: 0,
    requestList: { requests: [], leftOut: 0 },
    counted: () => forge,
    capabilities: async () => capabilitiesOf(state.version),
    // As in the client, the row determines the type of the response, which has been validated with it.
    call: (operation, input) => exchange(operation, input as AnyInput) as Promise<never>,
    send: exchange,
    async *items(operation, input) {
      for (const item of itemsIn(await exchange(operation, input as AnyInput))) yield item;
    },
    async *pages(operation, input) {
      yield { page: 1, items: itemsIn(await exchange(operation, input as AnyInput)), total: undefined };
    },
  };
  return forge;
}

/** Returns whether one side of a comparison is in the vault. */
function isOfVault(path: string): boolean {
  return decodeURIComponent(path).includes(`${vault.owner}:`);
}

/** Returns a response that is a list, or the list inside a response object. */
function itemsIn(answer: unknown): readonly never[] {
  const inside = Object.values(Object(answer)).find(Array.isArray);
  const items: unknown = Array.isArray(answer) ? answer : (inside ?? []);
  return items as readonly never[];
}

function shaped(operation: Operation, answer: unknown): unknown {
  return operation.response?.parse(answer);
}

/** Returns the fields that a forge stores for a request body, where they differ from the body. */
function afterwards(body: Row, path: string): Row {
  if (/\/hooks(\/\d+)?$/.test(path)) {
    const { authorization_header: _header, config, ...rest } = body;
    const { secret: _secret, ...shown } = (config ?? {}) as Row;
    const events = enabledEvents(body.events as readonly string[] | undefined);
    return { branch_filter: '', active: false, ...rest, events, ...(config ? { config: shown } : {}) };
  }
  if (/\/statuses\/[^/]+$/.test(path)) return { ...body, status: body.state };
  if (/\/pulls\/\d+\/reviews$/.test(path)) return { ...body, state: body.event, dismissed: false };
  if (/\/pulls$/.test(path)) {
    const reviewers = ((body.reviewers ?? []) as readonly string[]).map((login, place) => ({
      id: place + 50,
      login,
    }));
    const labels = ((body.labels ?? []) as readonly number[]).map((id) => ({ id, name: `label ${id}` }));
    const sides = { head: { ref: body.head, sha: commit }, base: { ref: body.base, sha: commit } };
    return { ...body, ...sides, state: 'open', labels, requested_reviewers: reviewers };
  }
  if (/\/issues\/\d+$/.test(path)) return editedIssue(body);
  return /\/issues$/.test(path) ? { ...body, state: 'open', labels: [] } : body;
}

function editedIssue({ assignees, milestone, unset_due_date, ...body }: Row): Row {
  const users = (assignees as readonly string[] | undefined)?.map((login, place) => ({
    id: place + 50,
    login,
  }));
  const title = milestone === 1 ? 'next' : 'now';
  return {
    ...body,
    ...(users && { assignees: users }),
    ...(milestone !== undefined && { milestone: milestone === 0 ? null : { id: milestone, title } }),
    ...(unset_due_date === true && { due_date: null }),
  };
}

function openBetween(pulls: readonly Row[] | undefined, base?: string, head?: string): Row | undefined {
  const refOf = (side: unknown): unknown => (side as Row | undefined)?.ref;
  return pulls?.find(
    (pull) => pull.state === 'open' && refOf(pull.base) === base && refOf(pull.head) === head,
  );
}
