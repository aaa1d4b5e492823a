import { type ItemSnapshot, type RepositorySnapshot, toItemSnapshot } from './snapshot.ts';

/** What a repository is like now, as far as it was asked: all refs, open pull requests, and items changed since. */
export type CurrentRepository = {
  /** Branch → commit. */
  readonly refs: Readonly<Record<string, string>>;
  /** Tag → its object and its commit, which are one where it is not annotated. */
  readonly tags: Readonly<Record<string, CurrentTag>>;
  readonly items: readonly CurrentItem[];
};

export type CurrentTag = { readonly id: string; readonly commit: string };

/** An issue or pull request as the forge answers it. */
export type CurrentItem = {
  readonly kind: ItemSnapshot['kind'];
  readonly number: number;
  readonly value: Readonly<Record<string, unknown>>;
  /** A pull request that was not known before got commits after it was opened, or after the repository was last seen. */
  readonly hasMoved?: boolean;
};

/** One thing that happened while Reeve was stopped: the Event-Type it would have had, and its payload but for the repository. */
export type MissedEvent = {
  readonly eventType: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** What makes it one and the same however often it is found. */
  readonly key: string;
};

const nothing = '0'.repeat(40);

/**
 * Returns what happened between what was seen and what is live, oldest kinds first: that the repository was made, then
 * branches, tags, and items by number.
 */
export function differencesOf(snapshot: RepositorySnapshot, live: CurrentRepository): readonly MissedEvent[] {
  const items = live.items.toSorted((a, b) => a.number - b.number);
  return [
    ...(snapshot.isNew ? [repositoryCreated] : []),
    ...refDifferences(snapshot.refs, live.refs),
    ...(snapshot.tags ? tagDifferences(snapshot.tags, live.tags) : []),
    ...items.flatMap((item) => itemDifferences(snapshot, item)),
  ];
}

const repositoryCreated: MissedEvent = {
  eventType: 'repository',
  payload: { action: 'created' },
  key: 'created',
};

function* refDifferences(
  before: RepositorySnapshot['refs'],
  after: RepositorySnapshot['refs'],
): Generator<MissedEvent> {
  for (const [name, commit] of Object.entries(after)) {
    const known = before[name];
    if (known === commit) continue;
    if (known === undefined) {
      const payload = { ref: name, ref_type: 'branch', sha: commit };
      yield { eventType: 'create', payload, key: `create ${name} ${commit}` };
    }
    const payload = { ref: `refs/heads/${name}`, before: known ?? nothing, after: commit };
    yield { eventType: 'push', payload, key: `push ${name} ${known ?? nothing} ${commit}` };
  }
  for (const [name, commit] of Object.entries(before)) {
    if (after[name] !== undefined) continue;
    const payload = { ref: name, ref_type: 'branch' };
    yield { eventType: 'delete', payload, key: `delete ${name} ${commit}` };
  }
}

/** Events of tags come as a forge sends them: a new or moved one has no commit before it. */
function* tagDifferences(
  before: Readonly<Record<string, string>>,
  after: CurrentRepository['tags'],
): Generator<MissedEvent> {
  for (const [name, { id, commit }] of Object.entries(after)) {
    const known = before[name];
    if (known === id || known === commit) continue;
    const push = { ref: `refs/tags/${name}`, before: nothing, after: id };
    yield { eventType: 'push', payload: push, key: `push tag ${name} ${id}` };
    const payload = { ref: name, ref_type: 'tag', sha: id };
    yield { eventType: 'create', payload, key: `create tag ${name} ${id}` };
  }
  for (const [name, known] of Object.entries(before)) {
    if (after[name] !== undefined) continue;
    const push = { ref: `refs/tags/${name}`, before: known, after: nothing };
    yield { eventType: 'push', payload: push, key: `push tag ${name} ${known} gone` };
    const payload = { ref: name, ref_type: 'tag' };
    yield { eventType: 'delete', payload, key: `delete tag ${name} ${known}` };
  }
}

function itemDifferences(snapshot: RepositorySnapshot, item: CurrentItem): readonly MissedEvent[] {
  const now = toItemSnapshot(item.value, item.kind);
  if (now === undefined) return [];
  const before = snapshot.items[item.number];
  return activitiesOfItem(before, now, { item, snapshot }).map((activity) =>
    missedOf(item, now, { activity, before }),
  );
}

/** Returns what happened to an item, in the words of deliveries. */
function activitiesOfItem(
  before: ItemSnapshot | undefined,
  now: ItemSnapshot,
  { item, snapshot }: { item: CurrentItem; snapshot: RepositorySnapshot },
): readonly string[] {
  const since = Date.parse(snapshot.at);
  const isOpen = now.state === 'open';
  if (before === undefined) {
    const moved = item.hasMoved ? ['synchronized'] : [];
    if (toMs(item.value.created_at) >= since) return ['opened', ...moved, ...(isOpen ? [] : ['closed'])];
    // What is older than its repository came with it, from elsewhere.
    if (snapshot.isNew) return [];
    // All that was open is known, so this one was closed: what is open now was opened again.
    if (isOpen) return ['reopened', ...moved];
    return toMs(item.value.closed_at) >= since ? ['closed'] : [];
  }
  const found: string[] = [];
  const wasOpen = before.state === 'open';
  if (isOpen && !wasOpen) found.push('reopened');
  const isMoved = before.head !== undefined && now.head !== undefined && before.head !== now.head;
  // Forges send no event for commits to a pull request that is closed and stays closed.
  if (isMoved && (isOpen || wasOpen)) found.push('synchronized');
  if (wasOpen && !isOpen) found.push('closed');
  if (before.text !== now.text) found.push('edited');
  if (before.labels !== now.labels) found.push('label_updated');
  return found;
}

function toMs(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

const typesOf: Readonly<Record<ItemSnapshot['kind'], Readonly<Record<string, string>>>> = {
  pull_request: { synchronized: 'pull_request_sync', label_updated: 'pull_request_label' },
  issue: { label_updated: 'issue_label' },
};

function missedOf(
  { kind, number, value }: CurrentItem,
  now: ItemSnapshot,
  { activity, before }: { activity: string; before: ItemSnapshot | undefined },
): MissedEvent {
  const plain = kind === 'issue' ? 'issues' : 'pull_request';
  const isMoved = activity === 'synchronized';
  return {
    eventType: typesOf[kind][activity] ?? plain,
    payload: {
      action: activity,
      number,
      [kind]: value,
      // Where the earlier commit is unknown, the event covers all of the pull request.
      ...(isMoved ? { before: before?.head ?? value.merge_base ?? now.head, after: now.head } : {}),
    },
    key: `${number} ${activity} ${now.updated} ${now.head ?? ''}`,
  };
}
