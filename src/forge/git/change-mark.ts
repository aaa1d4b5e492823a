import { createHash } from 'node:crypto';
import { isObjectId } from './names.ts';
import type { GitRepository } from './repository.ts';

/** Most bytes of a difference that are compared. Beyond, a change counts as another one after every push. */
const maxBytes = 64 * 1024 * 1024;

const newline = 0x0a;
/** First bytes of `index …` and `@@ …`: object ids and positions move with the base. Changed lines start with + or -. */
const movingLines: readonly (number | undefined)[] = [0x69, 0x40];

/**
 * Returns a digest of the changed lines between two commits, whatever they are based on: equal before and after a plain
 * rebase, different when one changed line differs. It decides whether a review has become stale. The difference is read
 * piece by piece: a small push can unpack to one of gigabytes.
 */
export async function markOfChange(repository: GitRepository, from: string, to: string): Promise<string> {
  for (const id of [from, to]) if (!isObjectId(id)) throw new TypeError(`"${id}" is no object id`);
  const hash = createHash('sha256');
  const filter = createLineFilter((kept) => hash.update(kept));
  let bytes = 0;
  const command = ['diff-tree', '-r', '-p', '-U0', '--no-renames', from, to, '--'];
  await repository.git.run(command, {
    folder: repository.folder,
    onOutput: (piece) => {
      bytes += piece.length;
      filter(piece);
      return bytes <= maxBytes;
    },
  });
  return bytes <= maxBytes ? hash.digest('hex') : `${from}..${to}`;
}

/** Creates a function that takes text piece by piece and passes on its lines, bar those that move with the base. */
function createLineFilter(pass: (kept: Buffer) => void): (piece: Buffer) => void {
  let isLineStart = true;
  let isKept = true;
  return (piece) => {
    let keptFrom = 0;
    for (let at = 0; at < piece.length; ) {
      if (isLineStart) {
        const wasKept = isKept;
        isKept = !movingLines.includes(piece[at]);
        if (wasKept && !isKept) pass(piece.subarray(keptFrom, at));
        if (!wasKept && isKept) keptFrom = at;
      }
      const end = piece.indexOf(newline, at);
      isLineStart = end >= 0;
      at = isLineStart ? end + 1 : piece.length;
    }
    if (isKept) pass(piece.subarray(keptFrom));
  };
}
