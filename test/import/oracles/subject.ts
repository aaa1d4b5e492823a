/**
 * A neutral pull request or issue with everything that other bots look at, a seeded generator of random ones, and the
 * vocabulary of what a bot does with it. An oracle maps a bot's configuration and a subject to a decision. Oracles
 * follow the sources of the bots alone; nothing here knows of the importer.
 */

/** A changed file; `previous` is the old path of a renamed file. */
export type ChangedFile = {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  readonly additions: number;
  readonly deletions: number;
  readonly previous: string | null;
};

/** A commit, oldest first in a subject. Logins are null for authors without an account. */
export type Commit = {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: string | null;
  readonly committer: string | null;
  readonly viaWeb: boolean;
  readonly verified: boolean;
  /** Time of the push that brought the commit. Milliseconds since the epoch, like all times here. */
  readonly pushed: number;
};

export type Review = {
  readonly author: string;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED';
  readonly commit: string;
  readonly body: string;
  readonly time: number;
};

export type CheckState =
  | 'success'
  | 'failure'
  | 'error'
  | 'pending'
  | 'neutral'
  | 'skipped'
  | 'cancelled'
  | 'timed_out'
  | 'action_required'
  | 'stale';

/** A commit status, which is success, failure, error or pending, or a check run, for which pending means unfinished. */
export type Check = { readonly name: string; readonly kind: 'status' | 'run'; readonly state: CheckState };

export type Comment = {
  readonly author: string;
  readonly bot: boolean;
  readonly body: string;
  readonly time: number;
  readonly edited: boolean;
};

export type Permission = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin';

export type Subject = {
  readonly kind: 'pull' | 'issue';
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly authorIsBot: boolean;
  readonly state: 'open' | 'closed';
  readonly locked: boolean;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
  readonly milestone: string | null;
  readonly comments: readonly Comment[];
  readonly created: number;
  readonly updated: number;
  readonly closed: number | null;
  readonly closedBy: string | null;
  /** When each label was last set. */
  readonly labelled: Readonly<Record<string, number>>;

  // Pull requests alone; an issue has empty values.
  readonly base: string;
  readonly head: string;
  readonly headOwner: string;
  readonly fork: boolean;
  readonly draft: boolean;
  readonly merged: boolean;
  readonly mergedBy: string | null;
  /** Null while the forge has not computed it yet. */
  readonly mergeable: boolean | null;
  readonly behind: number;
  readonly autoMerge: boolean;
  readonly files: readonly ChangedFile[];
  readonly commits: readonly Commit[];
  readonly reviews: readonly Review[];
  readonly requestedUsers: readonly string[];
  readonly requestedTeams: readonly string[];
  readonly unresolvedThreads: number;
  readonly checks: readonly Check[];

  // The repository around it.
  readonly owner: string;
  readonly repository: string;
  readonly defaultBranch: string;
  readonly branches: readonly string[];
  /** Branches that are the base of another open pull request. */
  readonly targeted: readonly string[];
  readonly methods: readonly ('merge' | 'squash' | 'rebase')[];
  /** Members by the name of the team, without the organization. */
  readonly teams: Readonly<Record<string, readonly string[]>>;
  readonly members: readonly string[];
  readonly permissions: Readonly<Record<string, Permission>>;
  readonly protection: Protection | null;
  /** Earlier contributions: of the author by kind, and whether the repository has any pull request before this one. */
  readonly earlier: {
    readonly issues: number;
    readonly pulls: number;
    readonly commits: number;
    readonly anyPull: boolean;
  };

  /** The event that the bot handles; a schedule has the action `schedule`. */
  readonly event: {
    readonly action: string;
    readonly sender: string;
    readonly label?: string;
    readonly comment?: Comment;
  };
};

export type Protection = {
  readonly approvals: number;
  readonly checks: readonly string[];
  readonly strict: boolean;
  readonly signatures: boolean;
  readonly resolution: boolean;
  readonly dismissStale: boolean;
};

/**
 * One effect a bot has. Teams carry an `@` before their name. Only effects that change something are in a decision:
 * a label that is already set is not added.
 */
export type Effect =
  | `add-label ${string}`
  | `remove-label ${string}`
  | 'comment'
  | 'close'
  | 'reopen'
  | 'lock'
  | `merge ${string}`
  | `queue ${string}`
  | `request-review ${string}`
  /** So many of these by chance: the candidates are sorted and joined by commas. */
  | `request-some ${number} ${string}`
  | `assign ${string}`
  | `unassign ${string}`
  | `assign-some ${number} ${string}`
  | `status ${string} ${'success' | 'failure' | 'pending' | 'error'}`
  | `backport ${string}`
  | `copy ${string}`
  | 'update-branch'
  | 'rebase-branch'
  | 'delete-branch'
  | 'approve'
  | 'request-changes'
  | `dismiss-review ${string}`
  | `edit ${string}`;

export type Decision = {
  readonly effects: readonly Effect[];
  /** Reasons for which the bot does nothing, the last one deciding; and notes where the source leaves a choice. */
  readonly because: readonly string[];
};

/** Decides as the bot does for its configuration, in the format of its own file. Throws where the bot refuses the file. */
export type Oracle = (configuration: string, subject: Subject, now: number) => Decision;

export const decision = (effects: readonly Effect[], ...because: string[]): Decision => ({
  effects,
  because,
});
export const nothing = (...because: string[]): Decision => ({ effects: [], because });

export const DAY = 86_400_000;
export const HOUR = 3_600_000;

/** Words to draw from. A configuration's own words make its conditions true about as often as false. */
export type Words = {
  readonly labels: readonly string[];
  readonly paths: readonly string[];
  readonly bases: readonly string[];
  readonly heads: readonly string[];
  readonly logins: readonly string[];
  readonly checks: readonly string[];
  readonly teams?: readonly string[];
  readonly titles?: readonly string[];
  readonly bodies?: readonly string[];
  readonly comments?: readonly string[];
  readonly milestones?: readonly string[];
  readonly owner?: string;
  /** Age of the oldest subject, in days. Default: 200. */
  readonly oldestDays?: number;
};

/** Draws that are the same for the same seed. */
export interface Draw {
  /** Returns a number from 0 to below 1. */
  part(): number;
  /** Returns a whole number below `limit`. */
  below(limit: number): number;
  chance(part: number): boolean;
  /** Returns one of the items. Throws if there are none. */
  one<Item>(items: readonly Item[]): Item;
  /** Returns up to `most` different items, in a random order. */
  some<Item>(items: readonly Item[], most: number): Item[];
}

/** Creates draws with mulberry32. */
export function createDraw(seed: number): Draw {
  let state = seed >>> 0;
  const part = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(part() * limit);
  const one = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('nothing to draw from');
    return item;
  };
  return {
    part,
    below,
    chance: (share) => part() < share,
    one,
    some(items, most) {
      const left = [...items];
      const drawn: (typeof items)[number][] = [];
      for (let count = below(Math.min(most, items.length) + 1); count > 0; count -= 1) {
        drawn.push(...left.splice(below(left.length), 1));
      }
      return drawn;
    },
  };
}

const runStates: readonly CheckState[] = [
  'success',
  'success',
  'success',
  'failure',
  'pending',
  'neutral',
  'skipped',
  'cancelled',
  'timed_out',
  'action_required',
];
const statusStates: readonly CheckState[] = ['success', 'success', 'success', 'failure', 'error', 'pending'];

/**
 * Makes a random subject. The same seed and words give the same subject. A third of the values are awkward: no files,
 * an author without commits, a review on an old commit, a check of which both kinds exist.
 */
export function makeSubject(
  seed: number,
  words: Words,
  now: number,
  kind: Subject['kind'] = 'pull',
): Subject {
  const draw = createDraw(seed);
  const logins = words.logins.length > 0 ? words.logins : ['ada'];
  const bases = words.bases.length > 0 ? words.bases : ['main'];
  const heads = words.heads.length > 0 ? words.heads : ['topic'];
  const author = draw.one(logins);
  // A third of the subjects is nearly ready, so that rules of many conditions match often enough.
  const ready = draw.chance(0.33);
  const created = now - Math.floor(draw.part() * (words.oldestDays ?? 200) * DAY) - 2 * HOUR;
  const between = (from: number): number => from + Math.floor(draw.part() * Math.max(0, now - from));
  const updated = draw.chance(0.2) ? created : between(created);
  const closed = draw.chance(ready ? 0.05 : 0.2);
  const merged = kind === 'pull' && closed && draw.chance(0.7);
  const labels = draw.some([...new Set(words.labels)], 5);
  const person = (): string | null =>
    draw.chance(0.1) ? null : draw.chance(0.5) ? author : draw.one(logins);

  const commits: Commit[] = [];
  const count = kind === 'issue' ? 0 : draw.chance(0.4) ? 1 : 1 + draw.below(5);
  let pushed = created;
  for (let index = 0; index < count; index += 1) {
    const previous = commits.at(-1)?.sha ?? 'b'.repeat(40);
    const merge = index > 0 && draw.chance(0.2);
    if (draw.chance(0.6)) pushed = between(pushed);
    commits.push({
      sha: sha(seed, index),
      parents: merge ? [previous, sha(seed, 1_000 + index)] : [previous],
      message: merge
        ? `Merge branch '${bases[0]}' into topic`
        : draw.one([...(words.titles ?? []), 'fix a typo', 'feat: add a thing']),
      author: person(),
      committer: person(),
      viaWeb: draw.chance(0.3),
      verified: draw.chance(0.7),
      pushed,
    });
  }
  const headSha = commits.at(-1)?.sha ?? '';

  const reviews: Review[] = [];
  for (let left = kind === 'issue' ? 0 : draw.below(5); left > 0; left -= 1) {
    reviews.push({
      author: draw.one(logins),
      state: draw.one([
        ...(ready ? (['APPROVED', 'APPROVED', 'APPROVED', 'APPROVED', 'APPROVED'] as const) : []),
        'APPROVED',
        'APPROVED',
        'APPROVED',
        'CHANGES_REQUESTED',
        'COMMENTED',
        'DISMISSED',
      ] as const),
      commit: draw.chance(ready ? 0.9 : 0.6) ? headSha : draw.one(commits).sha,
      body: draw.chance(0.3) ? draw.one([...(words.comments ?? []), 'LGTM']) : '',
      time: between(created),
    });
  }
  reviews.sort((a, b) => a.time - b.time);

  const comments: Comment[] = [];
  for (let left = draw.below(4); left > 0; left -= 1) {
    comments.push({
      author: draw.one(logins),
      bot: draw.chance(0.15),
      body: draw.one([...(words.comments ?? []), 'Thank you', ':+1:', 'please look again']),
      time: between(created),
      edited: draw.chance(0.1),
    });
  }
  comments.sort((a, b) => a.time - b.time);

  const files: ChangedFile[] = [];
  if (kind === 'pull' && !draw.chance(0.05)) {
    const paths = words.paths.length > 0 ? words.paths : ['README.md'];
    for (const path of new Set([draw.one(paths), ...draw.some(paths, 4)])) {
      const status = draw.one(['added', 'modified', 'modified', 'removed', 'renamed'] as const);
      files.push({
        path,
        status,
        additions: status === 'removed' ? 0 : draw.below(60),
        deletions: status === 'added' ? 0 : draw.below(60),
        previous:
          status === 'renamed'
            ? draw.one(paths.filter((other) => other !== path).concat(`old/${path}`))
            : null,
      });
    }
  }

  const checks: Check[] = [];
  if (kind === 'pull') {
    for (const name of new Set(words.checks)) {
      if (draw.chance(ready ? 0.02 : 0.15)) continue;
      const kinds = draw.chance(0.05)
        ? (['run', 'status'] as const)
        : ([draw.one(['run', 'status'] as const)] as const);
      for (const of of kinds) {
        const state = draw.chance(ready ? 0.97 : 0.4)
          ? 'success'
          : draw.one(of === 'run' ? runStates : statusStates);
        checks.push({ name, kind: of, state });
      }
    }
  }

  const teams = Object.fromEntries((words.teams ?? []).map((team) => [team, draw.some(logins, 4)]));
  const permissions = Object.fromEntries(
    logins.map((login) => [
      login,
      draw.one(['none', 'read', 'triage', 'write', 'write', 'maintain', 'admin'] as const),
    ]),
  );
  const fork = kind === 'pull' && draw.chance(0.25);
  const owner = words.owner ?? 'acme';
  const comment = comments.at(-1);
  const base = draw.one(bases);
  return {
    kind,
    number: 2 + draw.below(500),
    title: draw.one([
      ...(words.titles ?? []),
      'Fix a typo',
      'feat: add a thing',
      'WIP: not yet',
      'chore(deps): bump left-pad from 1.2.3 to 1.3.0',
    ]),
    body: draw.chance(0.2)
      ? ''
      : draw.one([...(words.bodies ?? []), 'Some words.', 'Bumps left-pad from 1.2.3 to 2.0.0.']),
    author,
    authorIsBot: author.endsWith('[bot]'),
    state: closed ? 'closed' : 'open',
    locked: draw.chance(0.05),
    labels,
    assignees: draw.some(logins, 2),
    milestone: draw.chance(0.3) ? draw.one([...(words.milestones ?? []), '1.0']) : null,
    comments,
    created,
    updated,
    closed: closed ? updated : null,
    closedBy: closed ? (draw.chance(0.5) ? author : draw.one(logins)) : null,
    labelled: Object.fromEntries(
      labels.map((label) => [label, draw.chance(0.5) ? updated : between(created)]),
    ),
    base: kind === 'pull' ? base : '',
    head: kind === 'pull' ? draw.one(heads) : '',
    headOwner: fork ? author : owner,
    fork,
    draft: kind === 'pull' && draw.chance(ready ? 0.02 : 0.15),
    merged,
    mergedBy: merged ? draw.one(logins) : null,
    mergeable: kind === 'issue' ? null : draw.one([true, true, true, true, true, false, null]),
    behind: draw.chance(0.6) ? 0 : 1 + draw.below(5),
    autoMerge: draw.chance(0.1),
    files,
    commits,
    reviews,
    requestedUsers: kind === 'pull' ? draw.some(logins, 2) : [],
    requestedTeams: kind === 'pull' ? draw.some(words.teams ?? [], 1) : [],
    unresolvedThreads: draw.chance(0.2) ? 1 : 0,
    checks,
    owner,
    repository: 'widgets',
    defaultBranch: bases[0] ?? 'main',
    branches: [...new Set([...bases, ...heads])],
    targeted: draw.some(heads, 1),
    methods: draw.chance(0.6) ? ['merge', 'squash', 'rebase'] : ['squash'],
    teams,
    members: draw.some(logins, logins.length),
    permissions,
    protection: draw.chance(0.15)
      ? null
      : {
          approvals: draw.below(3),
          checks: draw.some([...new Set(words.checks)], 3),
          strict: draw.chance(0.5),
          signatures: draw.chance(0.1),
          resolution: draw.chance(0.2),
          dismissStale: draw.chance(0.3),
        },
    earlier: {
      issues: draw.below(2),
      pulls: draw.below(2),
      commits: draw.below(2),
      anyPull: !draw.chance(0.2),
    },
    event: {
      action: draw.one([
        'opened',
        'reopened',
        'edited',
        'synchronize',
        'labeled',
        'closed',
        'ready_for_review',
      ]),
      sender: draw.one(logins),
      ...(labels[0] === undefined ? {} : { label: labels[0] }),
      ...(comment === undefined ? {} : { comment }),
    },
  };
}

/** Returns 40 hexadecimal digits that differ for each pair of numbers. */
function sha(seed: number, index: number): string {
  return `${(seed >>> 0).toString(16).padStart(8, '0')}${index.toString(16).padStart(8, '0')}`.padEnd(
    40,
    '0',
  );
}

/** A pull request without anything remarkable; a test changes the members that it is about. */
export function plainPull(changes: Partial<Subject> = {}): Subject {
  const created = Date.parse('2026-01-01T00:00:00Z');
  const head = 'a'.repeat(40);
  return {
    kind: 'pull',
    number: 7,
    title: 'Add a thing',
    body: 'Some words.',
    author: 'ada',
    authorIsBot: false,
    state: 'open',
    locked: false,
    labels: [],
    assignees: [],
    milestone: null,
    comments: [],
    created,
    updated: created,
    closed: null,
    closedBy: null,
    labelled: {},
    base: 'main',
    head: 'topic',
    headOwner: 'acme',
    fork: false,
    draft: false,
    merged: false,
    mergedBy: null,
    mergeable: true,
    behind: 0,
    autoMerge: false,
    files: [{ path: 'src/index.ts', status: 'modified', additions: 3, deletions: 1, previous: null }],
    commits: [
      {
        sha: head,
        parents: ['b'.repeat(40)],
        message: 'Add a thing',
        author: 'ada',
        committer: 'ada',
        viaWeb: false,
        verified: true,
        pushed: created,
      },
    ],
    reviews: [],
    requestedUsers: [],
    requestedTeams: [],
    unresolvedThreads: 0,
    checks: [],
    owner: 'acme',
    repository: 'widgets',
    defaultBranch: 'main',
    branches: ['main', 'topic'],
    targeted: [],
    methods: ['merge', 'squash', 'rebase'],
    teams: {},
    members: [],
    permissions: {},
    protection: {
      approvals: 0,
      checks: [],
      strict: false,
      signatures: false,
      resolution: false,
      dismissStale: false,
    },
    earlier: { issues: 0, pulls: 0, commits: 0, anyPull: true },
    event: { action: 'opened', sender: 'ada' },
    ...changes,
  };
}

/** An issue without anything remarkable. */
export function plainIssue(changes: Partial<Subject> = {}): Subject {
  return plainPull({
    kind: 'issue',
    base: '',
    head: '',
    files: [],
    commits: [],
    mergeable: null,
    protection: null,
    ...changes,
  });
}

/** A file that was changed and nothing more. */
export const changed = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  status: 'modified',
  additions: 1,
  deletions: 1,
  previous: null,
  ...more,
});

/** Returns the items of a value that is a list, one item, or absent. */
export function listOf(value: unknown): string[] {
  if (value === undefined || value === null || value === '') return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

/** A mapping of a configuration file. */
export type Mapping = Readonly<Record<string, unknown>>;

export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a member that is a mapping; an absent one is an empty mapping. */
export function mappingOf(value: unknown): Mapping {
  return isMapping(value) ? value : {};
}

/** Returns whether two texts are equal without regard to case, as names of labels are on the forges. */
export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
