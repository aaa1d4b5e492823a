import { operations } from '../contract/operations.ts';
import { CommitEntry, type Compare } from '../contract/resources/branches.ts';
import { list } from '../contract/shape.ts';
import { type AskContext, defineFact } from './fact.ts';
import { comparePush } from './push-range.ts';
import { indexParams } from './where.ts';

/** The commits of a pull request, or of a push, newest first. */
export const commits = defineFact({
  name: 'commits',
  meaning: 'The commits of a pull request, or of a push, newest first.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(CommitEntry),
  of: ['pull_request', 'branch'],
  requests: 1,
  example: 'commits.all(c, c.commit.message.contains("Signed-off-by: "))',
  async ask(context: AskContext) {
    const { client, subject } = context;
    if (subject.kind === 'branch')
      return ((await comparePush(context)) as Compare | undefined)?.commits ?? [];
    const found: CommitEntry[] = [];
    for await (const commit of client.items(operations.listPullCommits, { params: indexParams(subject) })) {
      found.push(commit);
    }
    return found;
  },
});
