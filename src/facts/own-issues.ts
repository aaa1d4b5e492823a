import { subjectKinds } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import { Issue } from '../contract/resources/issues.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';

/** The issues that the bot opened in a repository, including closed ones. */
export const ownIssues = defineFact({
  name: 'own_issues',
  meaning:
    'The issues that the bot’s account opened in the named repository (`owner/name`), including closed ones, newest first.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: list(Issue),
  of: subjectKinds,
  needs: { access: 'reader', scopes: ['issue', 'user'] },
  argument: 'owner/name',
  requests: 2,
  example: 'own_issues("acme/ops").filter(i, i.state == "open").size() < 20',
  async ask({ client, memory }, at = '') {
    const [owner = '', repo = ''] = at.split('/');
    const login =
      (memory.get('self/login') as string | undefined) ?? (await client.call(operations.getSelf, {})).login;
    memory.set('self/login', login);
    const found: Issue[] = [];
    const query = { type: 'issues', state: 'all', created_by: login };
    for await (const issue of client.items(operations.listIssues, { params: { owner, repo }, query })) {
      found.push(issue);
    }
    return found;
  },
});
