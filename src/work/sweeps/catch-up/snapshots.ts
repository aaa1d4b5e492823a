import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Event } from '../../../contract/events/events.ts';
import { readMember } from '../../../contract/events/payload-members.ts';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Store } from '../../../store/store.ts';
import { mapConcurrently } from '../walk.ts';

/** Last known state of an issue or pull request. */
export type ItemSnapshot = {
  readonly kind: 'issue' | 'pull_request';
  readonly state: string;
  /** Time of the last update, as RFC 3339. */
  readonly updated: string;
  /** Sorted names, one per line. */
  readonly labels: string;
  /** Title, text and target branch. */
  readonly text: string;
  /** Head commit of a pull request; absent if the forge does not know it, as while it creates the pull request. */
  readonly head?: string;
};

/** Last known state of a repository, so that missed changes can be found by reading. */
export type RepositorySnapshot = {
  /** Instant of the forge's clock up to which changes are known, as RFC 3339. */
  readonly at: string;
  readonly items: Readonly<Record<string, ItemSnapshot>>;
  /** Commits by branch name. */
  readonly refs: Readonly<Record<string, string>>;
  /** Commits by tag name, or the tag object if that is what a delivery named. Absent: tags have never been read. */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * Set if the repository was created while Reeve was stopped, so that all of its content was missed. Removed once the
   * repository has been read.
   */
  readonly isNew?: true;
  /**
   * Comments and reviews that were delivered, or found by catch-up without polling, which reads no statuses. Absent: the
   * next catch-up begins with what is there.
   */
  readonly heard?: KnownActs;
  /** Set by polling, which also reads comments and statuses. Absent: the next poll begins with what is there. */
  readonly polled?: KnownActs;
};

/** Comments, reviews and statuses that are known. */
export type KnownActs = {
  /** Time of this machine at which they were last read completely, as RFC 3339. */
  readonly readAt: string;
  /** Whether the last reading by catch-up found nothing newer than the one before. */
  readonly isQuiet?: boolean;
  readonly comments: {
    /** Instant of the forge's clock up to which comments are known, as RFC 3339. */
    readonly at: string;
    /**
     * Times of the last update by id, of the latest comments; of reviews, see `reviewKey` and `deliveredReviewKey` in
     * `acts.ts`.
     */
    readonly seen: Readonly<Record<string, string>>;
  };
  /**
   * Ids of the newest status by context, for each head of an open pull request. Null for a head whose statuses have not
   * been read yet, although it was there at the first poll.
   */
  readonly statuses: Readonly<Record<string, Readonly<Record<string, number>> | null>>;
};

/**
 * Current state of a repository, as far as it was read: all refs, open pull requests, and items changed since it was
 * last seen.
 */
export type CurrentRepository = {
  /** Commits by branch name. */
  readonly refs: Readonly<Record<string, string>>;
  /** Objects and commits by tag name. The two are equal if the tag is not annotated. */
  readonly tags: Readonly<Record<string, CurrentTag>>;
  readonly items: readonly CurrentItem[];
  /** The listed issues by number, and pull requests in the form of issues. Absent: none. */
  readonly issues?: ReadonlyMap<number, Readonly<Record<string, unknown>>>;
  /** Number of pages of that list. */
  readonly pages?: number;
  /** Instant since which items are listed, in milliseconds; by default, that of the snapshot. */
  readonly sinceMs?: number;
};

export type CurrentTag = { readonly id: string; readonly commit: string };

/** An issue or pull request as returned by the forge. */
export type CurrentItem = {
  readonly kind: ItemSnapshot['kind'];
  readonly number: number;
  readonly value: Readonly<Record<string, unknown>>;
  /**
   * Whether a previously unknown pull request got commits after it was opened, or after the repository was last seen.
   */
  readonly hasMoved?: boolean;
  /** State to compare instead of that of `value`, if Reeve has written in the meantime. */
  readonly settled?: ItemSnapshot;
  /** Activities according to the timeline, for an item that is not among those kept. */
  readonly found?: readonly string[];
};

/**
 * A change that happened while Reeve was stopped: the event type of its delivery, and the payload without the
 * repository.
 */
export type MissedEvent = {
  readonly eventType: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Identity of the change, which is the same each time it is found. */
  readonly key: string;
};

/**
 * Time by which consecutive polls overlap. A forge shows a change when its transaction ends, with the time at which it
 * began: a slow one appears after changes with a later time.
 */
export const overlapMs = 30_000;

/** Maximum number of items kept per repository, which are the latest ones. */
const maxItems = 1_000;

/** Returns the snapshot of an issue or pull request in a response of the forge; undefined if fields are missing. */
export function toItemSnapshot(value: unknown, kind: ItemSnapshot['kind']): ItemSnapshot | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { state, updated_at, labels, title, body, head, base } = value as Readonly<Record<string, unknown>>;
  if (typeof state !== 'string' || typeof updated_at !== 'string') return undefined;
  const commit = readMember(head, 'sha');
  return {
    kind,
    state,
    updated: updated_at,
    labels: (Array.isArray(labels) ? labels : [])
      .map((label) => String(readMember(label, 'name')))
      .sort()
      .join('\n'),
    text: joinText({
      title: String(title ?? ''),
      base: String(readMember(base, 'ref') ?? ''),
      body: textDigest(String(body ?? '')),
    }),
    ...(typeof commit === 'string' && commit !== '' ? { head: commit } : {}),
  };
}

/** Parts of `ItemSnapshot.text`. `body` is a digest. */
export type TextParts = { readonly title: string; readonly base: string; readonly body: string };

function joinText({ title, base, body }: TextParts): string {
  return `${title}\n${base}\n${body}`;
}

/** Neither the name of a branch nor the digest has a line break. */
function splitText(text: string): TextParts {
  const parts = text.split('\n');
  return { title: parts.slice(0, -2).join('\n'), base: parts.at(-2) ?? '', body: parts.at(-1) ?? '' };
}

/** Returns a digest that detects a changed text: its length and a 32-bit checksum. */
export function textDigest(text: string): string {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return `${text.length}:${sum}`;
}

/** Maximum number of repositories that are remembered as having a snapshot. */
const maxKnown = 10_000;
/** Maximum number of notes in memory, for one repository and for all. Beyond it, notes are written to the snapshots. */
const maxNotes = 100;
const maxUnstored = 2_000;
/** Number of snapshots written concurrently. They share a transaction, and other writes run in between. */
const savedAtOnce = 16;
/** Age at which the notes in memory are written when the next one is added. */
const saveAfterMs = 30_000;

/** Last known state of each repository. It is advanced by catch-up and by settled deliveries. */
export class Snapshots {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #notes: EventNotes;
  readonly #known = new BoundedMap<number, true>(maxKnown);
  #savedAtMs: number;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#notes = store.isShared ? new SharedNotes(store) : new NotesInMemory();
    this.#savedAtMs = clock.monotonicMs();
  }

  async read(id: number): Promise<RepositorySnapshot | undefined> {
    // Notes are read first, because a note that is moved into the snapshot in the meantime is then applied twice rather
    // than lost.
    const noted = await this.#notes.read(id);
    return applyAll(await this.#store.recall(keyOf(id)), noted);
  }

  /** Replaces a snapshot with the result of `change`. All notes up to then are applied. */
  async edit(
    id: number,
    change: (seen: RepositorySnapshot | undefined) => RepositorySnapshot | undefined,
  ): Promise<void> {
    const noted = await this.#notes.read(id);
    await this.#store.revise(keyOf(id), (value) => {
      const before = applyAll(value, noted);
      const after = change(before);
      if (after === undefined || after === value) return value;
      const kept = { ...after, items: latest(after.items) };
      // A poll that finds nothing writes nothing.
      return before === value && isSame(before, kept) ? value : kept;
    });
    await this.#notes.drop(id, noted);
  }

  /** Applies a handled event, so that catch-up does not find it again. */
  async note(event: Event): Promise<void> {
    const id = event.repository?.id;
    const note = noteOf(event, this.#clock.now());
    if (id !== undefined && note !== undefined) await this.add(id, note);
  }

  /** Applies a note to the snapshot of a repository, if there is one. */
  async add(id: number, note: EventNote): Promise<void> {
    // An unseen repository has no baseline yet. The first catch-up creates it.
    if (!this.#known.has(id) && (await this.#store.recall(keyOf(id))) === undefined) return;
    this.#known.set(id, true);
    const count = await this.#notes.add(id, note);
    if (count >= maxNotes) await this.#fold(id);
    if (this.#notes.countUnstored() > maxUnstored) await this.#fold(this.#notes.unstored()[0] ?? id);
    if (this.#clock.monotonicMs() - this.#savedAtMs > saveAfterMs) await this.save();
  }

  /**
   * Writes the notes that only this process has. If a crash prevents it, changes that are found again have no effect.
   */
  async save(): Promise<void> {
    this.#savedAtMs = this.#clock.monotonicMs();
    await mapConcurrently(this.#notes.unstored(), savedAtOnce, (id) => this.#fold(id));
  }

  #fold(id: number): Promise<void> {
    return this.edit(id, (seen) => seen);
  }
}

/** Returns whether two snapshots are equal, except for the time of the last poll. */
function isSame(one: RepositorySnapshot | undefined, other: RepositorySnapshot): boolean {
  if (one?.polled === undefined || other.polled === undefined) return false;
  return isDeepStrictEqual({ ...one, polled: { ...one.polled, readAt: other.polled.readAt } }, other);
}

function keyOf(repositoryId: number): string {
  return `seen ${repositoryId}`;
}

/** Store boundary: only the code above writes values under these keys. */
function applyAll(value: unknown, notes: readonly KeptNote[]): RepositorySnapshot | undefined {
  let seen = value as RepositorySnapshot | undefined;
  for (const { note } of notes) seen = seen && applyNote(seen, note);
  return seen;
}

function latest(items: RepositorySnapshot['items']): RepositorySnapshot['items'] {
  const entries = Object.entries(items);
  if (entries.length <= maxItems) return items;
  return Object.fromEntries(
    entries.toSorted(([, a], [, b]) => Date.parse(b.updated) - Date.parse(a.updated)).slice(0, maxItems),
  );
}

/** A note, and the name by which it is deleted. */
type KeptNote = { readonly name: string; readonly note: EventNote };

/** Changes from handled events, by repository, that occurred since its snapshot was written, in order. */
interface EventNotes {
  /** Adds a note and returns the number of notes of the repository. */
  add(repositoryId: number, note: EventNote): Promise<number>;
  read(repositoryId: number): Promise<readonly KeptNote[]>;
  /** Deletes notes that have been applied to the snapshot. */
  drop(repositoryId: number, notes: readonly KeptNote[]): Promise<void>;
  /** Returns the repositories whose notes would be lost with this process, longest list first. */
  unstored(): readonly number[];
  /** Returns the number of notes that would be lost with this process. */
  countUnstored(): number;
}

/** Maximum number of notes of a repository kept in memory while the store refuses them. The newest are kept. */
const maxKept = 1_000;

/** Notes in memory, for a process with exclusive use of the store, so that a note costs no write. */
class NotesInMemory implements EventNotes {
  readonly #kept = new Map<number, readonly KeptNote[]>();
  #count = 0;

  async add(id: number, note: EventNote): Promise<number> {
    const notes = [...(this.#kept.get(id) ?? []), { name: randomUUID(), note }].slice(-maxKept);
    this.#keep(id, notes);
    return notes.length;
  }

  async read(id: number): Promise<readonly KeptNote[]> {
    return this.#kept.get(id) ?? [];
  }

  async drop(id: number, notes: readonly KeptNote[]): Promise<void> {
    this.#keep(id, without(this.#kept.get(id) ?? [], notes));
  }

  unstored(): readonly number[] {
    return [...this.#kept.keys()];
  }

  countUnstored(): number {
    return this.#count;
  }

  #keep(id: number, notes: readonly KeptNote[]): void {
    this.#count += notes.length - (this.#kept.get(id)?.length ?? 0);
    if (notes.length === 0) this.#kept.delete(id);
    else this.#kept.set(id, notes);
  }
}

/**
 * Notes in a shared store, because different processes handle deliveries of one branch or issue, and a catch-up pass in
 * any process needs the handled events of all.
 */
class SharedNotes implements EventNotes {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async add(id: number, note: EventNote): Promise<number> {
    const added = { name: randomUUID(), note };
    return notesIn(await this.#store.revise(notesKey(id), (value) => [...notesIn(value), added])).length;
  }

  async read(id: number): Promise<readonly KeptNote[]> {
    return notesIn(await this.#store.recall(notesKey(id)));
  }

  async drop(id: number, notes: readonly KeptNote[]): Promise<void> {
    if (notes.length === 0) return;
    await this.#store.revise(notesKey(id), (value) => {
      const left = without(notesIn(value), notes);
      return left.length === 0 ? undefined : left;
    });
  }

  unstored(): readonly number[] {
    return [];
  }

  countUnstored(): number {
    return 0;
  }
}

function notesKey(repositoryId: number): string {
  return `seen notes ${repositoryId}`;
}

/** Store boundary: only the code above writes values under these keys. */
function notesIn(value: unknown): readonly KeptNote[] {
  return (value ?? []) as readonly KeptNote[];
}

function without(notes: readonly KeptNote[], gone: readonly KeptNote[]): readonly KeptNote[] {
  const names = new Set(gone.map(({ name }) => name));
  return notes.filter(({ name }) => !names.has(name));
}

/**
 * Fields of an item that each activity carries. Other activities (a comment, an assignment) carry no fields that are
 * kept.
 */
const told: Readonly<Record<string, readonly (keyof ItemSnapshot)[]>> = {
  closed: ['state'],
  reopened: ['state'],
  synchronized: ['head'],
  edited: ['text'],
  label_updated: ['labels'],
  label_cleared: ['labels'],
};

/**
 * A change that Reeve made to a value. It explains the value only if nothing else has changed it before: if the value
 * was `from`, or whatever it was if `from` is absent.
 */
type OwnEdit = { readonly from?: string; readonly to: string };

/** A change that Reeve made, so that polling does not find it. */
export type OwnNote =
  | {
      readonly own: 'item';
      readonly index: number;
      /** The item before the write. It is used if the item is not among those kept. */
      readonly first?: ItemSnapshot;
      /** Labels that the write added and removed. */
      readonly added?: readonly string[];
      readonly removed?: readonly string[];
      /** All labels after the write, in place of those that it added and removed. */
      readonly labels?: readonly string[];
      readonly state?: OwnEdit;
      readonly text?: Partial<Readonly<Record<keyof TextParts, OwnEdit>>>;
    }
  | { readonly own: 'comment'; readonly id: number; readonly updated: string }
  | { readonly own: 'status'; readonly sha: string; readonly context: string; readonly id: number };

/** A compact change of a repository from an event or a write, of an item, a branch or a tag. It is plain data. */
type EventNote =
  | OwnNote
  | {
      readonly item: ItemSnapshot;
      readonly index: number;
      readonly activity: string;
      /** The delivered comment or review: its key among those that are known, and its time. */
      readonly act?: { readonly key: string; readonly at: string };
    }
  | {
      readonly ref: string;
      readonly isTag: boolean;
      /** The current commit; absent if the branch or tag was deleted. */
      readonly commit?: string;
      /** Commit before a push. */
      readonly from?: string;
    };

/** Returns the change that an event makes to a repository; undefined if it makes no change that is kept. */
export function noteOf(event: Event, now: Date): EventNote | undefined {
  const { family, activity, payload, subject } = event;
  if (family === 'push' || family === 'create' || family === 'delete') {
    if (subject?.ref === undefined) return undefined;
    const isTag = payload.ref_type === 'tag' || String(payload.ref).startsWith('refs/tags/');
    const commit = family === 'create' ? payload.sha : family === 'push' ? payload.after : undefined;
    return {
      ref: subject.ref,
      isTag,
      ...(typeof commit === 'string' && !isDeleted(commit) ? { commit } : {}),
      ...(family === 'push' ? { from: String(payload.before) } : {}),
    };
  }
  const item = toItemSnapshot(payload.pull_request, 'pull_request') ?? toItemSnapshot(payload.issue, 'issue');
  if (item === undefined || subject?.index === undefined) return undefined;
  const act = actOf(event, subject.index, now);
  return { item, index: subject.index, activity, ...(act ? { act } : {}) };
}

/** Returns the comment or review that a delivery announces. */
function actOf({ family, payload, sender }: Event, index: number, now: Date) {
  const [id, updated] = [readMember(payload.comment, 'id'), readMember(payload.comment, 'updated_at')];
  if (id !== undefined && typeof updated === 'string') return { key: String(id), at: updated };
  if (family !== 'pull_request_review') return undefined;
  // A delivery does not name its review, and the time of its pull request may be that before the review.
  const type = String(readMember(payload.review, 'type'));
  return { key: deliveredReviewKey(index, sender?.id, type), at: now.toISOString() };
}

/** Key, among known acts, of the latest delivered review of a pull request by account and type. */
export const deliveredReviewKey = (index: number, account: number | undefined, type: string): string =>
  `review of ${index} by ${account} ${type}`;

/**
 * Returns the snapshot of a repository after a handled event. Only the fields that the event carries advance: the
 * payload shows the whole item, which may include an earlier missed push that still has to be found. A note may be
 * applied twice.
 */
export function applyNote(snapshot: RepositorySnapshot, note: EventNote): RepositorySnapshot {
  if ('ref' in note) return withRef(snapshot, note);
  if ('own' in note) return withOwn(snapshot, note);
  const { item, index, activity, act } = note;
  const known = snapshot.items[index];
  const after = known === undefined ? firstOf(snapshot, item, activity) : merged(known, item, activity);
  const noted = act === undefined ? snapshot : withAct(snapshot, act);
  return after === undefined || after === known
    ? noted
    : { ...noted, items: { ...noted.items, [index]: after } };
}

function withAct(
  snapshot: RepositorySnapshot,
  { key, at }: { readonly key: string; readonly at: string },
): RepositorySnapshot {
  const { heard } = snapshot;
  const known = heard?.comments.seen[key];
  if (heard === undefined || (known !== undefined && Date.parse(known) >= Date.parse(at))) return snapshot;
  const seen = { ...heard.comments.seen, [key]: at };
  return { ...snapshot, heard: { ...heard, comments: { ...heard.comments, seen } } };
}

/**
 * Returns the first snapshot of an unknown item, if this event announces that it was opened or reopened. Otherwise,
 * this happened while Reeve was stopped, and catch-up still has to find it.
 */
function firstOf(
  { items }: RepositorySnapshot,
  item: ItemSnapshot,
  activity: string,
): ItemSnapshot | undefined {
  // If there are more items than are kept, this one may have been known before.
  const isFull = Object.keys(items).length >= maxItems;
  return isFull || activity === 'opened' || activity === 'reopened' ? item : undefined;
}

function merged(known: ItemSnapshot, item: ItemSnapshot, activity: string): ItemSnapshot {
  // Deliveries may be handled out of order; the comments of a pull request belong to its issue.
  if (Date.parse(known.updated) > Date.parse(item.updated) || known.kind !== item.kind) return known;
  const fields = told[activity] ?? [];
  const after = { ...known, ...Object.fromEntries(fields.map((field) => [field, item[field]])) };
  const isWhole = (['state', 'labels', 'text', 'head'] as const).every(
    (field) => after[field] === item[field],
  );
  return isWhole ? item : after;
}

function withRef(
  snapshot: RepositorySnapshot,
  { ref, isTag, commit, from }: Extract<EventNote, { ref: string }>,
): RepositorySnapshot {
  const before = isTag ? snapshot.tags : snapshot.refs;
  // Tags that were never read have no baseline yet. The first catch-up creates it.
  if (before === undefined) return snapshot;
  const known = before[ref];
  const refs = { ...before };
  if (commit === undefined) {
    delete refs[ref];
  } else {
    const follows =
      from === undefined || (known === undefined ? isDeleted(from) : known === from || known === commit);
    // A push that does not start at our snapshot follows a push that was missed.
    if (!isTag && !follows) return snapshot;
    refs[ref] = commit;
  }
  return { ...snapshot, [isTag ? 'tags' : 'refs']: refs };
}

function isDeleted(commit: string): boolean {
  return /^0+$/.test(commit);
}

function withOwn(snapshot: RepositorySnapshot, note: OwnNote): RepositorySnapshot {
  const { polled } = snapshot;
  if (note.own === 'item') {
    const { first } = note;
    // An item that was updated before the last reading, and is not kept, has not changed since.
    const isOld = first !== undefined && Date.parse(first.updated) < Date.parse(snapshot.at) - overlapMs;
    const known = snapshot.items[note.index] ?? (isOld ? first : undefined);
    if (known === undefined) return snapshot;
    return { ...snapshot, items: { ...snapshot.items, [note.index]: withOwnEdits(known, note) } };
  }
  if (polled === undefined) return snapshot;
  if (note.own === 'comment') {
    const seen = { ...polled.comments.seen, [note.id]: note.updated };
    return { ...snapshot, polled: { ...polled, comments: { ...polled.comments, seen } } };
  }
  const known = polled.statuses[note.sha];
  // Only heads of open pull requests are kept; all statuses of a head that was never read are known later.
  if (known === undefined || known === null) return snapshot;
  const statuses = { ...polled.statuses, [note.sha]: { ...known, [note.context]: note.id } };
  return { ...snapshot, polled: { ...polled, statuses } };
}

/**
 * Returns the item with the changes of Reeve alone. What others changed before the write is not part of it, so that the
 * next poll finds that.
 */
function withOwnEdits(
  item: ItemSnapshot,
  { added = [], removed = [], labels: all, state, text = {} }: Extract<OwnNote, { own: 'item' }>,
): ItemSnapshot {
  const labels = new Set(all ?? (item.labels === '' ? [] : item.labels.split('\n')));
  for (const label of added) labels.add(label);
  for (const label of removed) labels.delete(label);
  const parts = splitText(item.text);
  const edited = (name: keyof TextParts): string =>
    text[name] !== undefined && explains(text[name], parts[name]) ? text[name].to : parts[name];
  return {
    ...item,
    labels: [...labels].sort().join('\n'),
    text: joinText({ title: edited('title'), base: edited('base'), body: edited('body') }),
    state: state !== undefined && explains(state, item.state) ? state.to : item.state,
  };
}

function explains({ from }: OwnEdit, value: string): boolean {
  return from === undefined || from === value;
}
