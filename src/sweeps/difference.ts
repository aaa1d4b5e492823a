import { type SeenItem, type SeenRepository, seenItemOf } from './seen.ts';

/** What a repository is like now, as far as it was asked: all branches, open pull requests, and items changed since. */
export type Live = {
  readonly refs: Readonly<Record<string, string>>;
  readonly items: readonly LiveItem[];
};

/** An issue or pull request as the forge answers it. */
export type LiveItem = {
  readonly kind: SeenItem['kind'];
  readonly number: number;
  readonly value: Readonly<Record<string, unknown>>;
};

/** One thing that happened while nobody listened: the Event-Type it would have had, and its payload but for the repository. */
export type Missed = {
  readonly eventType: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** What makes it one and the same however often it is found. */
  readonly key: string;
};

const nothing = '0'.repeat(40);

/** Returns what happened between what was seen and what is live, oldest kinds first: refs, then items by number. */
export function differencesOf(seen: SeenRepository, live: Live): readonly Missed[] {
  const items = live.items.toSorted((a, b) => a.number - b.number);
  return [...refDifferences(seen.refs, live.refs), ...items.flatMap((item) => itemDifferences(seen, item))];
}

function* refDifferences(before: SeenRepository['refs'], after: SeenRepository['refs']): Generator<Missed> {
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

function itemDifferences(seen: SeenRepository, item: LiveItem): readonly Missed[] {
  const now = seenItemOf(item.value, item.kind);
  if (now === undefined) return [];
  const before = seen.items[item.number];
  return activitiesOf(before, now, { item, at: seen.at }).map((activity) =>
    missedOf(item, now, { activity, before }),
  );
}

/** Returns what happened to an item, in the words of deliveries. */
function activitiesOf(
  before: SeenItem | undefined,
  now: SeenItem,
  { item, at }: { item: LiveItem; at: string },
): readonly string[] {
  const since = Date.parse(at);
  const isOpen = now.state === 'open';
  if (before === undefined) {
    if (instantOf(item.value.created_at) >= since) return isOpen ? ['opened'] : ['opened', 'closed'];
    // All that was open is known, so this one was closed: what is open now was opened again.
    if (isOpen) return ['reopened'];
    return instantOf(item.value.closed_at) >= since ? ['closed'] : [];
  }
  const found: string[] = [];
  if (before.state !== now.state) found.push(isOpen ? 'reopened' : 'closed');
  if (isOpen && before.head !== undefined && now.head !== undefined && before.head !== now.head) {
    found.push('synchronized');
  }
  if (before.text !== now.text) found.push('edited');
  if (before.labels !== now.labels) found.push('label_updated');
  return found;
}

function instantOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

const typesOf: Readonly<Record<SeenItem['kind'], Readonly<Record<string, string>>>> = {
  pull_request: { synchronized: 'pull_request_sync', label_updated: 'pull_request_label' },
  issue: { label_updated: 'issue_label' },
};

function missedOf(
  { kind, number, value }: LiveItem,
  now: SeenItem,
  { activity, before }: { activity: string; before: SeenItem | undefined },
): Missed {
  const plain = kind === 'issue' ? 'issues' : 'pull_request';
  const isMoved = activity === 'synchronized';
  return {
    eventType: typesOf[kind][activity] ?? plain,
    payload: {
      action: activity,
      number,
      [kind]: value,
      ...(isMoved ? { before: before?.head, after: now.head } : {}),
    },
    key: `${number} ${activity} ${now.updated} ${now.head ?? ''}`,
  };
}
