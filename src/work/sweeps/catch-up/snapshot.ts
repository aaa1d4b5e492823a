import { readMember } from '../../../contract/events/payload-members.ts';
/** An issue or pull request as it was last seen. */
export type ItemSnapshot = {
  readonly kind: 'issue' | 'pull_request';
  readonly state: string;
  /** RFC 3339. */
  readonly updated: string;
  /** Names in order, one a line. */
  readonly labels: string;
  /** Title, text and target branch. */
  readonly text: string;
  /** Commit of a pull request. */
  readonly head?: string;
};

/** A repository as it was last seen, so that what was missed can be found by reading. */
export type RepositorySnapshot = {
  /** The forge's own instant up to which changes are known, RFC 3339. */
  readonly at: string;
  readonly items: Readonly<Record<string, ItemSnapshot>>;
  /** Branch → commit. */
  readonly refs: Readonly<Record<string, string>>;
  /** Tag → commit, or tag object where a delivery named that. Absent: tags were never read. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The repository was created while Reeve was stopped: all of its content was missed. Removed once it has been read. */
  readonly isNew?: true;
};

/** Items kept of a repository: the latest. */
export const maxItems = 1_000;

/** Returns how an issue or pull request looks, from what a forge says of it, or undefined where it says too little. */
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
    text: `${String(title ?? '')}\n${String(readMember(base, 'ref') ?? '')}\n${textDigest(String(body ?? ''))}`,
    ...(typeof commit === 'string' ? { head: commit } : {}),
  };
}

/** Enough to notice that a text is another one: its length and a sum of 32 bits. */
function textDigest(text: string): string {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return `${text.length}:${sum}`;
}
