import type { Client, OnWrite } from '../../../client/client.ts';
import { isRecord, readMember } from '../../../contract/events/payload-members.ts';
import type { AnyInput, Operation } from '../../../contract/operation.ts';
import { operations } from '../../../contract/operations.ts';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import { createTtlCache } from '../../../platform/cache/caches.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type OwnNote, type Snapshots, type TextParts, textDigest, toItemSnapshot } from './snapshots.ts';

/**
 * Notes Reeve's own writes in the snapshots, so that polling and catching up find only what others changed. Changes that
 * are found name no account. With polling, a value that Reeve wrote may also contain what a person changed just before,
 * and no event tells: the state before the write is read, and only the difference that the write makes is noted. With
 * hooks, the response alone is noted: the event of the write may not show it, as on Gitea the event of replaced labels.
 */
export interface OwnNotes {
  /** Observes the writes of the client. */
  readonly onWrite: OnWrite;
  /** Keeps the id of a repository. With hooks, writes in other repositories are not noted, so that no id is requested. */
  know(repository: { readonly id: number; readonly owner: string; readonly name: string }): void;
  /** Resolves when the writes that have been sent so far are noted. */
  settled(): Promise<void>;
}

/** How long the id of a repository is cached. A renamed repository refuses writes under its earlier name. */
const maxAgeMs = 10 * 60_000;

const maxKnown = 50_000;

type Place = { readonly owner: string; readonly repo: string };
/** State before a write, the request, and its response. */
type WrittenItem = { readonly before: unknown; readonly input: AnyInput; readonly answer: unknown };

const labelNames = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : []).map((label) => String(readMember(label, 'name')));

function noteOfLabels({ before, input, answer }: WrittenItem): OwnNote | undefined {
  const removedId = input.params?.id;
  // The event of one removed label shows the others.
  if (before === undefined)
    return removedId === undefined ? noteOfItem(input, before, { labels: labelNames(answer) }) : undefined;
  const there = labelNames(readMember(before, 'labels'));
  // The removal of one label has no body.
  const now =
    removedId === undefined
      ? labelNames(answer)
      : ((readMember(before, 'labels') ?? []) as readonly unknown[])
          .filter((label) => readMember(label, 'id') !== removedId)
          .map((label) => String(readMember(label, 'name')));
  return noteOfItem(input, before, {
    added: now.filter((name) => !there.includes(name)),
    removed: there.filter((name) => !now.includes(name)),
  });
}

/** Only the fields in the request are Reeve's: the response also has what others changed in the meantime. */
function noteOfEdit({ before, input, answer }: WrittenItem): OwnNote | undefined {
  const body = isRecord(input.body) ? input.body : {};
  const edits: { -readonly [Name in keyof TextParts]?: { from?: string; to: string } } = {};
  const textOf = (holder: unknown, name: string): string => String(readMember(holder, name) ?? '');
  const editOf = (read: (holder: unknown) => string) => ({
    ...(before === undefined ? {} : { from: read(before) }),
    to: read(answer),
  });
  const baseOf = (holder: unknown): string => textOf(readMember(holder, 'base'), 'ref');
  if (body.title !== undefined) edits.title = editOf((holder) => textOf(holder, 'title'));
  if (body.body !== undefined) edits.body = editOf((holder) => textDigest(textOf(holder, 'body')));
  if (body.base !== undefined && baseOf(answer) && (before === undefined || baseOf(before)))
    edits.base = editOf(baseOf);
  const state = body.state === undefined ? {} : { state: editOf((holder) => textOf(holder, 'state')) };
  return noteOfItem(input, before, { text: edits, ...state });
}

function noteOfItem(
  { params }: AnyInput,
  before: unknown,
  edits: Omit<Extract<OwnNote, { own: 'item' }>, 'own' | 'index' | 'first'>,
): OwnNote {
  const isPull = isRecord(readMember(before, 'pull_request')) || isRecord(readMember(before, 'head'));
  const first = toItemSnapshot(before, isPull ? 'pull_request' : 'issue');
  return { own: 'item', index: Number(params?.index), ...(first === undefined ? {} : { first }), ...edits };
}

function noteOfComment({ answer }: WrittenItem): OwnNote | undefined {
  const [id, updated] = [readMember(answer, 'id'), readMember(answer, 'updated_at')];
  return typeof id === 'number' && typeof updated === 'string' ? { own: 'comment', id, updated } : undefined;
}

function noteOfStatus({ input, answer }: WrittenItem): OwnNote | undefined {
  const [id, context] = [readMember(answer, 'id'), readMember(answer, 'context')];
  const sha = String(input.params?.sha);
  return typeof id === 'number' && typeof context === 'string'
    ? { own: 'status', sha, context, id }
    : undefined;
}

/** Writes that are noted, by operation id: the read of the state before, and the note. */
const notedWrites: Readonly<
  Record<
    string,
    {
      readonly reads?: 'issue' | 'pull_request';
      readonly noteOf: (written: WrittenItem) => OwnNote | undefined;
    }
  >
> = {
  [operations.replaceIssueLabels.id]: { reads: 'issue', noteOf: noteOfLabels },
  [operations.addIssueLabels.id]: { reads: 'issue', noteOf: noteOfLabels },
  [operations.removeIssueLabel.id]: { reads: 'issue', noteOf: noteOfLabels },
  [operations.editIssue.id]: { reads: 'issue', noteOf: noteOfEdit },
  [operations.editPull.id]: { reads: 'pull_request', noteOf: noteOfEdit },
  [operations.createComment.id]: { noteOf: noteOfComment },
  [operations.editComment.id]: { noteOf: noteOfComment },
  [operations.createStatus.id]: { noteOf: noteOfStatus },
};

/**
 * Creates the notes. `isPolling`: no hook announces changes. A write whose repository, state before or response cannot be
 * read is not noted: it is found, and rules run once more on the state that they have established.
 */
export function createOwnNotes({
  client,
  snapshots,
  clock,
  isPolling,
}: {
  readonly client: Client;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly isPolling: boolean;
}): OwnNotes {
  const pending = new Set<Promise<void>>();
  const known = new BoundedMap<string, number>(maxKnown);
  const ids = createTtlCache<string, number>({ maxAgeMs, maxEntries: 2_000, clock });
  const idOf = async ({ owner, repo }: Place): Promise<number | undefined> => {
    const name = `${owner}/${repo}`.toLowerCase();
    if (!isPolling) return known.get(name);
    return ids.get(name, async () => {
      return (await client.call(operations.getRepository, { params: { owner, repo } })).id;
    });
  };

  const onWrite = async ({ id }: Operation, input: AnyInput) => {
    const row = notedWrites[id];
    const { owner, repo, index } = input.params ?? {};
    if (row === undefined || typeof owner !== 'string' || typeof repo !== 'string') return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    pending.add(promise);
    const end = (): void => {
      pending.delete(promise);
      resolve();
    };
    let read: readonly [repositoryId: number | undefined, before: unknown];
    try {
      const params = { owner, repo, index: Number(index) };
      read = await Promise.all([
        idOf({ owner, repo }),
        !isPolling
          ? undefined
          : row.reads === 'issue'
            ? client.call(operations.getIssue, { params })
            : row.reads === 'pull_request'
              ? client.call(operations.getPull, { params })
              : undefined,
      ]);
    } catch {
      end();
      return undefined;
    }
    return async (answer?: unknown, isRefused = false): Promise<void> => {
      const [repositoryId, before] = read;
      // The removal of a label is answered without a body.
      const isAnswered = answer !== undefined || id === operations.removeIssueLabel.id;
      try {
        const note = isRefused || !isAnswered ? undefined : row.noteOf({ before, input, answer });
        if (note !== undefined && repositoryId !== undefined) await snapshots.add(repositoryId, note);
      } catch {
        // The store refuses it. The next poll finds the write.
      } finally {
        end();
      }
    };
  };

  return {
    onWrite,
    know: ({ id, owner, name }) => void known.set(`${owner}/${name}`.toLowerCase(), id),
    async settled() {
      await Promise.all(pending);
    },
  };
}
