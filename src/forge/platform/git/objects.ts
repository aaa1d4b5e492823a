import { ReeveError } from '../../../platform/errors.ts';
import type { LaunchedProgram } from './launched-program.ts';
import type { Git } from './process.ts';

type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';
type ObjectInfo = { readonly id: string; readonly type: ObjectType; readonly size: number };
/** A complete object; its bytes are shared between readers and must not be changed. */
export type GitObject = ObjectInfo & { readonly content: Buffer };

/** Reads objects of one repository. */
export interface ObjectReader {
  /**
   * Returns type and size of the object that a ref or id names; undefined if the object does not exist or the name is
   * ambiguous.
   */
  info(name: string): Promise<ObjectInfo | undefined>;
  /** Returns the complete object. Call `info` first to check the size if it may be large. */
  read(name: string): Promise<GitObject | undefined>;
}

type Question = {
  readonly wantsContent: boolean;
  readonly resolve: (answer: GitObject | undefined) => void;
  readonly reject: (reason: ReeveError) => void;
};

/**
 * Creates a reader that uses one `git cat-file --batch-command` process, which starts with the first request and is
 * restarted if it dies. `close` ends the process; pending requests fail.
 */
export function createObjectReader(git: Git, folder: string): ObjectReader & { close(): void } {
  let child: LaunchedProgram | undefined;
  let questions: Question[] = [];

  const drop = (dead: LaunchedProgram, reason: string): void => {
    if (child !== dead) return;
    child = undefined;
    const unanswered = questions;
    questions = [];
    for (const { reject } of unanswered) reject(new ReeveError('git-failed', `git cat-file ${reason}`));
  };

  const open = (): LaunchedProgram => {
    const opened = git.start(['cat-file', '--batch-command'], { folder });
    const parse = createAnswerParser(() => questions.shift());
    opened.stdout.on('data', (piece: Buffer) => {
      if (child === opened) parse(piece);
    });
    opened.stderr.resume();
    opened.stdin.on('error', () => {});
    opened.on('error', (error) => drop(opened, `did not start: ${error.message}`));
    opened.on('close', () => drop(opened, 'ended before it answered'));
    return opened;
  };

  const ask = (wantsContent: boolean, name: string): Promise<GitObject | undefined> => {
    // A line feed would start a second request, and a NUL would truncate the name; no ref or id contains either.
    if (/[\0\n]/.test(name)) return Promise.resolve(undefined);
    const { promise, resolve, reject } = Promise.withResolvers<GitObject | undefined>();
    child ??= open();
    questions.push({ wantsContent, resolve, reject });
    child.stdin.write(`${wantsContent ? 'contents' : 'info'} ${name}\n`);
    return promise;
  };

  return {
    info: (name) => ask(false, name),
    read: (name) => ask(true, name),
    close() {
      if (child === undefined) return;
      const closing = child;
      drop(closing, 'was closed');
      closing.kill();
    },
  };
}

/** Parses the process's responses, which arrive in request order: one line, followed by the content if requested. */
function createAnswerParser(nextQuestion: () => Question | undefined): (piece: Buffer) => void {
  let rest: Buffer[] = [];
  let length = 0;
  let pending: { question: Question; info: ObjectInfo } | undefined;

  const take = (bytes: number): Buffer => {
    const whole = rest.length === 1 && rest[0] ? rest[0] : Buffer.concat(rest);
    rest = bytes < whole.length ? [whole.subarray(bytes)] : [];
    length = whole.length - bytes;
    return whole.subarray(0, bytes);
  };
  const lineEnd = (): number => {
    let before = 0;
    for (const piece of rest) {
      const at = piece.indexOf(10);
      if (at >= 0) return before + at;
      before += piece.length;
    }
    return -1;
  };

  return (piece) => {
    rest.push(piece);
    length += piece.length;
    for (;;) {
      if (pending) {
        if (length < pending.info.size + 1) return;
        const content = Buffer.from(take(pending.info.size + 1).subarray(0, -1));
        pending.question.resolve({ ...pending.info, content });
        pending = undefined;
        continue;
      }
      const end = lineEnd();
      if (end < 0) return;
      const info = parseInfo(take(end + 1).toString('utf8'));
      const question = nextQuestion();
      if (question === undefined) return;
      if (info !== undefined && question.wantsContent) pending = { question, info };
      else question.resolve(info === undefined ? undefined : { ...info, content: Buffer.alloc(0) });
    }
  };
}

function parseInfo(line: string): ObjectInfo | undefined {
  const match = /^([0-9a-f]+) (commit|tree|blob|tag) (\d+)\n$/.exec(line);
  if (!match?.[1]) return undefined;
  // The regular expression matches only these four words.
  return { id: match[1], type: match[2] as ObjectType, size: Number(match[3]) };
}
