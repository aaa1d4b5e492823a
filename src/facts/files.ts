import { operations } from '../contract/operations.ts';
import { ChangedFile } from '../contract/resources/branches.ts';
import { list } from '../contract/shape.ts';
import { type AskContext, defineFact } from './fact.ts';
import { comparePush } from './push-range.ts';
import { indexParams } from './where.ts';

/** The changed files of a pull request or a push. */
export const files = defineFact({
  name: 'files',
  meaning:
    'The changed files of a pull request (compared with its merge base) or of a push (between its two commits, in both directions: what the push takes out counts as well); a renamed file has `previous_filename`. If the commit before a push is gone, or the forge does not list all changes, every file of the new tree is there, with the status `unknown`. In a facts file, paths are enough.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(ChangedFile),
  of: ['pull_request', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
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
  for await (const file of client.items(operations.listPullFiles, { params: indexParams(subject) }))
    found.push(file);
  return found;
}

async function ofPush(context: AskContext): Promise<ChangedFile[]> {
  return [...((await comparePush(context))?.files ?? [])];
}
