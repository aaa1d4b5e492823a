import { ChangedFile } from '../contract/branches.ts';
import { operations } from '../contract/operations.ts';
import { list } from '../contract/shape.ts';
import { ReeveError } from '../errors.ts';
import { type AskContext, defineFact } from './fact.ts';
import { atIndex, inRepository } from './where.ts';

/** The files that a pull request changes, or that a push changed. */
export const files = defineFact({
  name: 'files',
  meaning:
    'The files that a pull request changes against its merge base, or that a push changed between its two commits; a renamed one has `previous_filename`. A facts file may give paths alone.',
  shows: 'repository',
  shape: list(ChangedFile),
  of: ['pull_request', 'branch'],
  requests: 1,
  example: 'files.exists(f, f.filename.glob("docs/**"))',
  complete: (written) =>
    Array.isArray(written)
      ? written.map((file) => (typeof file === 'string' ? { filename: file, status: 'changed' } : file))
      : written,
  ask: (context) => (context.subject.kind === 'pull_request' ? ofPullRequest(context) : ofPush(context)),
});

async function ofPullRequest({ client, subject }: AskContext): Promise<ChangedFile[]> {
  const found: ChangedFile[] = [];
  for await (const file of client.items(operations.listPullFiles, { params: atIndex(subject) }))
    found.push(file);
  return found;
}

/** The payload's own lists are cut after a few commits, so the two commits are compared. */
async function ofPush({ client, subject, ask }: AskContext): Promise<readonly ChangedFile[]> {
  if (subject.range === undefined) {
    throw new ReeveError('forge-not-found', 'only a push has files: this event names no commits');
  }
  const { before, after } = subject.range;
  if (isNothing(after)) return [];
  const base = isNothing(before) ? await defaultBranch(ask) : before;
  const compared = await client.call(operations.compare, {
    params: { ...inRepository(subject), basehead: `${base}...${after}` },
  });
  return compared.files ?? [];
}

/** A new branch has no commit before: what it brings is what differs from the default branch. */
async function defaultBranch(ask: AskContext['ask']): Promise<string> {
  const repository = (await ask({ name: 'repository' })) as { default_branch?: string | null };
  return repository.default_branch ?? 'main';
}

function isNothing(commit: string): boolean {
  return /^0+$/.test(commit);
}
