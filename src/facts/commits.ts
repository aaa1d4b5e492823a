import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { CommitEntry } from '../contract/resources/branches.ts';
import { flag, list, resource, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact } from './fact.ts';
import { comparePush } from './files.ts';
import { ways } from './ways.ts';
import { indexParams } from './where.ts';

/** A commit with fields derived from it. */
const FactCommit = CommitEntry.extend({
  verification: resource({ verified: flag }, { reason: text }),
  trailers: list(z.object({ name: text, value: text })),
});
type FactCommit = z.output<typeof FactCommit>;

/** The commits of a pull request, or of a push, newest first. */
export const commits = defineFact({
  name: 'commits',
  meaning:
    'The commits of a pull request, or of a push, newest first. `author` and `committer` are accounts, null if no account has the address; `commit.author` has the name and address that the commit itself gives. `verification.verified` says whether the forge has verified the signature; `trailers` are the lines such as `Signed-off-by: …` at the end of the message.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(FactCommit),
  of: ['pull_request', 'branch'],
  changes: [ways.pushed, ways.retargeted, ways.basePushed],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'commits.all(c, c.trailers.exists(t, t.name == "Signed-off-by"))',
  complete: (written) => (Array.isArray(written) ? written.map(completeCommit) : written),
  async ask(context: AskContext) {
    const { client, subject } = context;
    if (subject.kind === 'branch') {
      const pushed = await comparePush(context);
      if (pushed !== undefined && pushed.commits === undefined)
        throw new ReeveError('forge-not-found', 'the forge cannot list the commits of this push');
      return (pushed?.commits ?? []).map(toFactCommit);
    }
    const found: FactCommit[] = [];
    for await (const commit of client.items(operations.listPullCommits, { params: indexParams(subject) })) {
      found.push(toFactCommit(commit));
    }
    return found;
  },
});

function toFactCommit(commit: CommitEntry): FactCommit {
  const { verified, reason } = commit.commit?.verification ?? {};
  return {
    ...commit,
    // If the forge omits the verification of a signature, the signature is not verified.
    verification: { verified: verified ?? false, reason: reason ?? '' },
    trailers: [...parseTrailers(commit.commit?.message ?? '')],
  };
}

/** Completes a commit in a facts file, which may omit the fields derived from the commit message. */
function completeCommit(written: unknown): unknown {
  if (typeof written !== 'object' || written === null || 'trailers' in written) return written;
  const known = CommitEntry.safeParse(written);
  return known.success ? { ...toFactCommit(known.data), ...written } : written;
}

/** A trailer line at the end of a commit message: `Signed-off-by: Ada <ada@example.org>`. */
type Trailer = { readonly name: string; readonly value: string };

/** Matches a trailer with a name that git accepts: letters, digits and hyphens up to the colon. */
const trailer = /^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*)$/;
/** Lines that git itself writes among the trailers; they need not have the trailer format. */
const generated = /^(?:Signed-off-by: |\(cherry picked from commit )/;

/**
 * Returns the trailers of a commit message as `git interpret-trailers` finds them: in the last paragraph, which must
 * not be the first, if all of its lines are trailers, or if at least a quarter are trailers and git itself wrote one of
 * them. A line with leading white space continues the previous line.
 */
export function parseTrailers(message: string): readonly Trailer[] {
  const paragraphs = paragraphsOf(message);
  const last = paragraphs.at(-1);
  if (last === undefined || paragraphs.length < 2) return [];
  const found: { name: string; value: string }[] = [];
  let [others, isGenerated, isContinued] = [0, false, false];
  for (const line of last) {
    const [, name, value = ''] = trailer.exec(line) ?? [];
    if (generated.test(line)) isGenerated = true;
    const before = found.at(-1);
    if (/^[ \t]/.test(line)) {
      if (isContinued && before) before.value = `${before.value} ${line.trim()}`;
      else others += 1;
    } else if (name !== undefined) {
      found.push({ name, value: value.trim() });
      isContinued = true;
    } else {
      isContinued = false;
      if (!generated.test(line)) others += 1;
    }
  }
  const isBlock = others === 0 || (isGenerated && found.length * 3 >= others);
  return isBlock ? found : [];
}

/** Returns the lines of each paragraph, without comment lines. */
function paragraphsOf(message: string): readonly (readonly string[])[] {
  const paragraphs: string[][] = [];
  let open: string[] | undefined;
  for (const line of message.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    if (line.trim() === '') {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = [];
      paragraphs.push(open);
    }
    open.push(line);
  }
  return paragraphs;
}
