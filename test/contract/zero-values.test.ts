import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { fillPath, type Operation } from '../../src/contract/operation.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { unwrapShape } from '../../src/forge/platform/http/binding.ts';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

const yearOne = '0001-01-01T00:00:00Z';
const config = { url: 'http://localhost:9/', content_type: 'json' };
const units = ['repo.code'];

/** Input of a call: required or significant fields, and its specific path parameters. */
type Call = { readonly body: object; readonly params?: Readonly<Record<string, string | number>> };

/** Returns the zero value that a Go client sends for an unset field. */
function zeroOf(schema: z.ZodType, name: string): unknown {
  if (schema instanceof z.ZodObject) return zerosOf(schema, name === 'dates');
  if (schema instanceof z.ZodBoolean) return false;
  if (schema instanceof z.ZodNumber) return 0;
  if (!(schema instanceof z.ZodString || schema instanceof z.ZodEnum)) return null;
  return /^(due_date|due_on|created)$/.test(name) ? yearOne : '';
}

function zerosOf(schema: z.ZodObject, areDates = false): Record<string, unknown> {
  const members = Object.entries(schema.shape).map(([name, member]) => {
    const zero = areDates ? yearOne : zeroOf(unwrapShape(member as z.ZodType), name);
    return [name, zero] as const;
  });
  return Object.fromEntries(members);
}

/** Returns a valid name for a variable or secret. */
function variableName(): string {
  return freshName('v').replace('-', '_');
}

describeContract('fields that a Go client leaves unset', (forge) => {
  let ada: Account;
  let friend: Account;
  let organization: string;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    friend = await forge.makeUser();
    organization = await forge.makeOrganization(ada);
    repository = await forge.makeRepository(ada, { auto_init: true });
    await ask('POST', '/issues', { title: 'one' });
    await ask('POST', '/contents/a.txt', { content: '', message: 'x', new_branch: 'topic' });
    await ask('POST', '/pulls', { title: 'two', head: 'topic', base: 'main' });
  });

  const ask = (method: string, path: string, body?: unknown) =>
    forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });

  async function makeFile(): Promise<{ filepath: string; sha: string }> {
    const filepath = freshName('file');
    const { json } = await ask('POST', `/contents/${filepath}`, { content: '', message: 'x' });
    return { filepath, sha: json.content.sha };
  }

  async function makePull(): Promise<{ head: string; index: number }> {
    const head = freshName('branch');
    await ask('POST', `/contents/${head}`, { content: '', message: 'x', new_branch: head });
    const { json } = await ask('POST', '/pulls', { title: head, head, base: 'main' });
    return { head, index: json.number };
  }

  const calls: Partial<Record<OperationName, () => Promise<Call> | Call>> = {
    createUser: () => {
      const username = freshName('user');
      return { body: { username, email: `${username}@example.org`, password: 'long enough 1' } };
    },
    createOrganization: () => ({ body: { username: freshName('org') } }),
    createOrganizationFor: () => ({ body: { username: freshName('org') } }),
    createTeam: () => ({ body: { name: freshName('team'), permission: 'read', units } }),
    createRepository: () => ({ body: { name: freshName('repo') } }),
    createOrganizationRepository: () => ({ body: { name: freshName('repo') } }),
    createUserRepository: () => ({ body: { name: freshName('repo') } }),
    createBranch: () => ({ body: { new_branch_name: freshName('branch') } }),
    createTag: () => ({ body: { tag_name: freshName('tag') } }),
    createFile: () => ({ body: { content: '' }, params: { filepath: freshName('file') } }),
    updateFile: async () => {
      const { filepath, sha } = await makeFile();
      return { body: { content: 'eA==', sha }, params: { filepath } };
    },
    changeFiles: () => ({ body: { files: [{ operation: 'create', path: freshName('file'), content: '' }] } }),
    deleteFile: async () => {
      const { filepath, sha } = await makeFile();
      return { body: { sha }, params: { filepath } };
    },
    createRelease: () => ({ body: { tag_name: freshName('v') } }),
    createLabel: () => ({ body: { name: freshName('label'), color: 'fff' } }),
    createOrganizationLabel: () => ({ body: { name: freshName('label'), color: 'fff' } }),
    createIssue: () => ({ body: { title: 'x' } }),
    lockIssue: () => ({ body: {} }),
    setIssueDeadline: () => ({ body: {} }),
    createPull: async () => {
      const head = freshName('branch');
      await ask('POST', `/contents/${head}`, { content: '', message: 'x', new_branch: head });
      return { body: { title: head, head, base: 'main' } };
    },
    mergePull: async () => ({
      body: { do: 'merge', Do: 'merge' },
      params: { index: (await makePull()).index },
    }),
    createReview: () => ({ body: { event: 'COMMENT', body: 'x' } }),
    requestReviews: () => ({ body: { reviewers: [friend.name] } }),
    createBranchProtection: () => ({ body: { rule_name: freshName('branch') } }),
    createTagProtection: () => ({ body: { name_pattern: freshName('v'), whitelist_usernames: [ada.name] } }),
    createStatus: async () => {
      const { json } = await ask('GET', '/branches/main');
      return { body: { state: 'success', context: freshName('ci') }, params: { sha: json.commit.id } };
    },
    createHook: () => ({ body: { type: 'gitea', config } }),
    createUserHook: () => ({ body: { type: 'gitea', config } }),
    createOrganizationHook: () => ({ body: { type: 'gitea', config } }),
    createMilestone: () => ({ body: { title: freshName('milestone') } }),
    addTime: () => ({ body: { time: 1 } }),
    createWikiPage: () => ({ body: { title: freshName('Page'), content_base64: 'eA==' } }),
    createOrganizationVariable: () => ({ body: { value: 'x' }, params: { variablename: variableName() } }),
    createRepositoryVariable: () => ({ body: { value: 'x' }, params: { variablename: variableName() } }),
    createUserVariable: () => ({ body: { value: 'x' }, params: { variablename: variableName() } }),
    putUserSecret: () => ({ body: { data: 'x' }, params: { secretname: variableName() } }),
    renderMarkdown: () => ({ body: { Text: 'x' } }),
    renderMarkup: () => ({ body: { Text: 'x' } }),
    createOrgRepository: () => ({ body: { name: freshName('repo') } }),
    createOAuth2Application: () => ({
      body: { name: freshName('app'), redirect_uris: ['http://localhost:9/'] },
    }),
  };

  it.each(Object.entries(calls))('D2: %s accepts zero values for absent fields', async (name, makeCall) => {
    // The keys of the table above are operation names.
    const operation: Operation = operations[name as OperationName];
    const statuses: number[] = [];
    for (const isComplete of [false, true]) {
      const { body, params } = await makeCall();
      const zeros = operation.body instanceof z.ZodObject ? zerosOf(operation.body) : {};
      const answer = await forge.ask(operation.method, pathOf(operation, params), {
        as: operation.access === 'site' ? forge.adminToken : ada,
        body: isComplete ? { ...zeros, ...body } : body,
      });
      statuses.push(answer.status);
    }

    expect(statuses).toEqual([operation.success, operation.success]);
  });

  function pathOf(operation: Operation, params: Call['params'] = {}): string {
    const [owner, repo] = repository.split('/');
    const index = operation.path.includes('/pulls/') ? 2 : 1;
    return fillPath(operation, { owner, repo, org: organization, username: ada.name, index, ...params });
  }

  it('D2: mean the current time as year-one dates in a file write', async () => {
    const start = Date.now() - 60_000;
    const fresh = await forge.makeRepository(ada, { auto_init: true });
    const body = { content: '', message: 'x', dates: { author: yearOne, committer: yearOne } };

    const written = await forge.ask('POST', `/repos/${fresh}/contents/a.txt`, { as: ada, body });
    const branches = await forge.ask('GET', `/repos/${fresh}/branches`, { as: ada });

    expect([written.status, branches.status]).toEqual([201, 200]);
    expect(Date.parse(written.json.commit.author.date)).toBeGreaterThan(start);
    expect(Date.parse(branches.json[0].commit.timestamp)).toBeGreaterThan(start);
  });

  it('D2: do not filter as year-one bounds in a query', async () => {
    const times = await ask('GET', `/issues/1/times?since=${yearOne}&before=${yearOne}`);
    const issues = await ask('GET', `/issues?since=${yearOne}&before=${yearOne}`);

    expect([times.status, issues.status]).toEqual([200, 200]);
    expect(issues.json.length).toBeGreaterThan(0);
  });
});
