import type { Client, OnWrite } from '../../../client/client.ts';
import { isRecord, readMember } from '../../../contract/events/payload-members.ts';
import type { AnyInput, Operation } from '../../../contract/operation.ts';
import { operations } from '../../../contract/operations.ts';
import { createTtlCache } from '../../../platform/cache/caches.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type OwnNote, type Snapshots, type TextParts, textDigest, toItemSnapshot } from './snapshots.ts';

/**
 * Notes Reeve's own writes in the snapshots, so that polling finds only what others changed. Polled changes name no
 * account: a value that Reeve wrote may also contain what a person changed just before. Therefore the state before the
 * write is read, and only the difference that the write makes is noted.
 */
export interface OwnNotes {
  /** Observes the writes of the client. */
  readonly onWrite: OnWrite;
  /** Resolves when the writes that have been sent so far are noted. */
  settled(): Promise<void>;
}

/** How long the id of a repository is cached. A renamed repository refuses writes under its earlier name. */
const maxAgeMs = 10 * 60_000;

type Place = { readonly owner: string; readonly repo: string };
/** State before a write, the request, and its response. */
type WrittenItem = { readonly before: unknown; readonly input: AnyInput; readonly answer: unknown };

const labelNames = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : []).map((label) => String(readMember(label, 'name')));

function noteOfLabels({ before, input, answer }: WrittenItem): OwnNote | undefined {
  const there = labelNames(readMember(before, 'labels'));
  const removedId = input.params?.id;
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
  const edits: { -readonly [Name in keyof TextParts]?: { from: string; to: string } } = {};
  const textOf = (holder: unknown, name: string): string => String(readMember(holder, name) ?? '');
  if (body.title !== undefined) edits.title = { from: textOf(before, 'title'), to: textOf(answer, 'title') };
  if (body.body !== undefined) {
    edits.body = { from: textDigest(textOf(before, 'body')), to: textDigest(textOf(answer, 'body')) };
  }
  if (body.base !== undefined) {
    const [from, to] = [before, answer].map((holder) => textOf(readMember(holder, 'base'), 'ref'));
    if (from && to) edits.base = { from, to };
  }
  const state =
    body.state === undefined ? {} : { state: { from: textOf(before, 'state'), to: textOf(answer, 'state') } };
  return noteOfItem(input, before, { text: edits, ...state });
}

function noteOfItem(
  { params }: AnyInput,
  before: unknown,
  edits: Pick<Extract<OwnNote, { own: 'item' }>, 'added' | 'removed' | 'state' | 'text'>,
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
 * Creates the notes. A write whose repository, state before or response cannot be read is not noted: polling then finds
 * it, and rules run once more on the state that they have established.
 */
export function createOwnNotes({
  client,
  snapshots,
  clock,
}: {
  readonly client: Client;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
}): OwnNotes {
  const pending = new Set<Promise<void>>();
  const ids = createTtlCache<string, number>({ maxAgeMs, maxEntries: 2_000, clock });
  const idOf = ({ owner, repo }: Place): Promise<number> =>
    ids.get(`${owner}/${repo}`.toLowerCase(), async () => {
      return (await client.call(operations.getRepository, { params: { owner, repo } })).id;
    });

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
    let read: readonly [repositoryId: number, before: unknown];
    try {
      const params = { owner, repo, index: Number(index) };
      read = await Promise.all([
        idOf({ owner, repo }),
        row.reads === 'issue'
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
        if (note !== undefined) await snapshots.add(repositoryId, note);
      } catch {
        // The store refuses it. The next poll finds the write.
      } finally {
        end();
      }
    };
  };

  return {
    onWrite,
    async settled() {
      await Promise.all(pending);
    },
  };
}
