export type Row = Record<string, unknown>;

/** What is there before anything happens. The same stands in every repository and organization that is asked for. */
export type FakeForgeState = {
  /** `owner/name` in small letters → id; any other repository has an id of its own that no event speaks of. */
  readonly ids: Readonly<Record<string, number>>;
  /** `owner/name/path` in small letters → text of a file. */
  readonly files: Readonly<Record<string, string>>;
  /** What people wrote: titles and texts of everything that has them. */
  readonly words: string;
  /** Labels that are defined, and of these the ones that issues carry. */
  readonly defined: readonly string[];
  readonly carried: readonly string[];
  readonly protected: readonly string[];
  readonly hooks: readonly string[];
  readonly reviews: number;
  /** Pull requests: whether they are merged, into which branch, and whether from a fork. */
  readonly pulls: { readonly merged: boolean; readonly base: string; readonly isFork: boolean };
  /** As it tells itself: forges differ in what the name of a branch leads to. */
  readonly version: string;
  /** What Reeve wrote before: `rule/key`, as comments and as issues of this state. */
  readonly own: readonly (readonly [key: string, state: 'open' | 'closed'])[];
};

/** A repository that the account can read, and no rule file below the operator's level may. All of its texts are this one. */
export const vault = { id: 1, owner: 'dark', name: 'vault' } as const;
export const vaultText = `text of ${vault.owner}/${vault.name}`;
const vaultRepository = {
  id: vault.id,
  name: vault.name,
  full_name: `${vault.owner}/${vault.name}`,
  owner: { id: 8, login: vault.owner },
  description: vaultText,
};

/** Returns what people wrote at a path: elsewhere the given words. */
export function wordsAt(path: string, words: string): string {
  return path.startsWith(`/repos/${vault.owner}/${vault.name}`) ? vaultText : words;
}

export const botAccount = { id: 9, login: 'reeve' };
export const commit = 'c'.repeat(40);
/** What every pull request and every commit changes. */
export const patch = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n';
const ada = { id: 7, login: 'ada' };

export function repositoryOf(owner: string, name: string, { ids, words }: FakeForgeState): Row {
  const id = ids[`${owner}/${name}`] ?? 900_000 + owner.length * 100 + name.length;
  return {
    id,
    name,
    full_name: `${owner}/${name}`,
    owner: { id: 3, login: owner },
    default_branch: 'main',
    description: words,
    // Every repository was forked from that one.
    parent: vaultRepository,
    archived: false,
    empty: false,
  };
}

export function contentsOf(where: string, path: string, { files }: FakeForgeState): unknown {
  const text = files[`${where}/${path}`];
  const inside = Object.keys(files).filter((one) => one.startsWith(`${where}/${path}/`));
  const entry = (file: string) => ({ name: file.split('/').at(-1), path: file, type: 'file', sha: commit });
  if (text === undefined) {
    return inside.length === 0 ? undefined : inside.map((one) => entry(one.slice(where.length + 1)));
  }
  const content = Buffer.from(text).toString('base64');
  return { ...entry(path), encoding: 'base64', content, size: Buffer.byteLength(text) };
}

export function issueOf(
  number: number,
  repositoryId: number,
  { words, defined, carried, pulls }: FakeForgeState,
): Row {
  const { merged, base, isFork } = pulls;
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
    state: merged ? 'closed' : 'open',
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

export function threadOf(id: number, { words }: FakeForgeState): Row {
  return { id, unread: true, pinned: false, subject: { type: 'Issue', title: words, state: 'open' } };
}

/** An issue of the other repository. */
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
export const collections: readonly Collection[] = [
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
    begins: () => ['next', 'now'].map((title) => ({ title, state: 'open' })),
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
