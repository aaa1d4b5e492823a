import { operations } from './operations.ts';

/**
 * Trims white space as forges do (Go's `strings.TrimSpace`: Unicode White_Space, including the no-break space).
 * `String.trim` differs: it removes U+FEFF and keeps U+0085.
 */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charAt(start))) start += 1;
  while (end > start && isSpace(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/**
 * Returns whether a UTF-16 unit is white space. All white space is in the Basic Multilingual Plane, so each character
 * is one unit.
 */
function isSpace(unit: string): boolean {
  return /^\p{White_Space}$/u.test(unit);
}

/** Maximum number of columns of a title; the forge shortens longer titles. */
const maxTitle = 255;

const shortened = (text: string): string => shortenToColumns(text, maxTitle);
/** A new title is shortened first, then trimmed. */
const newTitle = (text: string): string => trimSpace(shortened(text));

type TextMembers = Readonly<Record<string, (text: string) => string>>;

const ofNew = { title: newTitle };
const ofEdited = { title: shortened };
const ofHook = { name: trimSpace };

/**
 * Functions that normalize texts in write bodies as forges do, by operation; all other texts are stored as sent.
 * Source: forge `models/git/commit_status.go NewCommitStatus`, `models/issues/issue_update.go NewIssueWithIndex` and
 * `ChangeIssueTitle`, `routers/api/v1/repo/tag.go CreateTagProtection`, `routers/api/v1/utils/hook.go`.
 */
export const writtenTexts: Readonly<Record<string, TextMembers>> = {
  [operations.createStatus.id]: { context: trimSpace, description: trimSpace, target_url: trimSpace },
  [operations.createIssue.id]: ofNew,
  [operations.createPull.id]: ofNew,
  [operations.editIssue.id]: ofEdited,
  [operations.editPull.id]: ofEdited,
  [operations.createTagProtection.id]: { name_pattern: trimSpace },
  [operations.createHook.id]: ofHook,
  [operations.editHook.id]: ofHook,
  [operations.createOrganizationHook.id]: ofHook,
  [operations.editOrganizationHook.id]: ofHook,
  [operations.createUserHook.id]: ofHook,
  [operations.editUserHook.id]: ofHook,
};

/** Returns the text that the forge stores if `text` is sent in this field of the operation's body. */
export function asWritten({ id }: { readonly id: string }, member: string, text: string): string {
  return writtenTexts[id]?.[member]?.(text) ?? text;
}

/**
 * Returns whether a title equals the wanted one, as returned by `asWritten`. Forgejo limits titles by bytes instead of
 * columns. Source: forge (Forgejo) `modules/util/truncate.go SplitStringAtByteN`.
 */
export function isTitle(live: string, wanted: string): boolean {
  return live === wanted || live === shortenToBytes(wanted);
}

function shortenToBytes(text: string): string {
  if (Buffer.byteLength(text) <= maxTitle) return text;
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > maxTitle - Buffer.byteLength('…')) break;
    kept += character;
  }
  return `${kept}…`;
}

/**
 * Shortens a text to a number of columns and adds an ellipsis; a character above U+00FF takes two columns. As in Gitea,
 * a text whose number of bytes does not exceed the limit is unchanged.
 */
export function shortenToColumns(text: string, columns: number): string {
  if (Buffer.byteLength(text) <= columns) return text;
  let used = 0;
  let kept = '';
  for (const character of text) {
    const width = (character.codePointAt(0) ?? 0) > 255 ? 2 : 1;
    if (used + width + 3 <= columns) kept += character;
    used += width;
    if (used > columns) return `${kept}…`;
  }
  return text;
}
