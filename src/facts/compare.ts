import { operations } from '../contract/operations.ts';
import { Compare } from '../contract/resources/branches.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/**
 * Returns why a branch is for files of the operator alone: `owner:branch` may be in a repository that only the account of Reeve can
 * read. No branch of a repository has a colon in its name.
 */
export function otherRepositoryReason(branches: string): string | undefined {
  if (!branches.includes(':')) return undefined;
  return 'a branch of another repository (`owner:branch`) is for files of the operator alone; name a branch of this repository';
}

/** Compares two branches or commits, from their merge base. */
export const compare = defineFact({
  name: 'compare',
  meaning:
    'The commits and files of `head` that are not in `base`, from their merge base (`base...head` are branches or commits; `owner:branch` refers to a fork, in rules of the operator alone).',
  // The head may be in a fork of another account.
  shows: 'beyond',
  visibleTo: 'operators',
  shape: Compare,
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'base...head',
  examineBelowOperator: otherRepositoryReason,
  requests: 1,
  example: 'compare("main...develop").total_commits > 0',
  complete: (written) =>
    typeof written === 'object' && written !== null && 'files' in written && Array.isArray(written.files)
      ? { ...written, files: written.files.map(completeFile) }
      : written,
  ask: ({ client, subject }, basehead = '') =>
    client.call(operations.compare, { params: { ...repositoryParams(subject), basehead } }),
});

function completeFile(file: unknown): unknown {
  return typeof file === 'string' ? { filename: file, status: 'changed' } : file;
}
