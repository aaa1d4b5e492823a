import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  findProblems,
  findUnreasoned,
  listGiteaJsOperations,
  listUnserved,
  makePage,
  readCoverage,
  reasons,
} from '../scripts/operations-page.ts';
import { operations } from '../src/contract/operations.ts';
import { operationAt } from './support/record-operations.ts';

const page = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');

describe('the page of operations', () => {
  it('is up to date, and lists a test that calls each operation', () => {
    expect(findProblems(page)).toEqual([]);
  });

  it('is stale as soon as a row changes', () => {
    const changed = page.replace(operations.getIssue.meaning, 'Something else.');

    expect(findProblems(changed)).toContain(
      'docs/operations.md is stale: run node scripts/operations-page.ts',
    );
  });

  it('reports an operation that no test calls', () => {
    const coverage = new Map([...readCoverage(page)].filter(([id]) => id !== 'issue.get'));

    expect(findProblems(makePage(coverage))).toContain('no file of test/contract/ calls issue.get');
  });

  it('reports a test that no longer exists', () => {
    const coverage = new Map([...readCoverage(page), ['issue.get', ['no-such-file']]]);

    expect(findProblems(makePage(coverage))).toContain('no-such-file no longer call issue.get');
  });
});

describe('the operations of gitea-js', () => {
  it('are served, or there is a reason why not', () => {
    expect(findUnreasoned()).toEqual([]);
    // Number of operations in the package's file: a parser that found none would also find no fault.
    expect(listGiteaJsOperations()).toHaveLength(416);
    expect(listUnserved().length).toBeLessThanOrEqual(416 - 390);
    expect(page).toContain(`serves ${416 - listUnserved().length} of the 416 operations of gitea-js`);
  });

  it('are a problem if they are neither served nor have a reason, or if they have both', () => {
    const [unserved = ''] = listUnserved();
    const served = { reason: 'x', isFinal: true, operations: ['GET /version'] };

    expect(findUnreasoned([])).toContain(`${unserved}: not served, and no reason is given`);
    expect(findUnreasoned([...reasons, served])).toEqual([
      'GET /version: is served, although a reason says that it is not',
    ]);
  });
});

it.each([
  ['GET', '/api/v1/repos/a/b/pulls/1', 'pull.get'],
  ['GET', '/api/v1/repos/a/b/pulls/1.diff', 'pull.diff'],
  ['GET', '/api/v1/repos/a/b/pulls/main/feature/x?y=z', 'pull.get-by-branches'],
  ['GET', '/api/v1/repos/a/b/pulls/1/files', 'pull.list-files'],
  ['GET', '/api/v1/repos/a/b/git/commits/0a1b', 'commit.get'],
  ['GET', '/api/v1/repos/a/b/git/commits/v1.2', 'commit.get'],
  ['GET', '/api/v1/repos/a/b/git/commits/v1.2.diff', 'commit.diff'],
  ['GET', '/api/v1/repos/a/b/contents', 'contents.list'],
  ['POST', '/api/v1/repos/a/b/contents', 'contents.change'],
  ['POST', '/api/v1/repos/a/b/contents/x/y', 'contents.create'],
  ['GET', '/a/b', undefined],
])('%s %s is the operation %s', (method, path, id) => {
  expect(operationAt(method, path)?.id).toBe(id);
});
