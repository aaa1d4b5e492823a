import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { operations } from '../../src/contract/operations.ts';
import { type Account, basic, describeContract } from '../support/contract-forge.ts';

/** Fields that Gitea omits if they are not set. Every other field is always present, null or not. */
const omittedWhenUnset = new Set([
  ...[
    'parent',
    'default_target_branch',
    'internal_tracker',
    'external_tracker',
    'external_wiki',
    'repo_transfer',
  ],
  ...['permissions', 'review_comments', 'additions', 'deletions', 'changed_files'],
  ...[
    'last_commit_sha',
    'last_commit_message',
    'last_committer_date',
    'last_author_date',
    'lfs_oid',
    'lfs_size',
  ],
]);

/** Returns the paths of schema fields that a response lacks. */
function missingMembers(schema: z.ZodType, value: unknown, path = ''): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return missingMembers(schema.unwrap() as z.ZodType, value, path);
  }
  if (schema instanceof z.ZodPipe) return missingMembers(schema.in as z.ZodType, value, path);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, at) => missingMembers(schema.element as z.ZodType, item, `${path}[${at}]`));
  }
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return [];
  return Object.entries(schema.shape).flatMap(([name, member]) => {
    const isThere = Object.hasOwn(value, name);
    if (!isThere) return omittedWhenUnset.has(name) ? [] : [`${path}.${name}`];
    return missingMembers(member as z.ZodType, (value as Record<string, unknown>)[name], `${path}.${name}`);
  });
}

describeContract('responses', (forge) => {
  let ada: Account;
  let organization: string;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    organization = await forge.makeOrganization(ada);
    repository = await forge.makeRepository(ada, { in: organization, auto_init: true });
    const write = (path: string, body: object) =>
      forge.ask('POST', `/repos/${repository}${path}`, { as: ada, body });
    const hook = { type: 'gitea', config: { url: 'http://localhost:9/', content_type: 'json' } };
    const label = { name: 'bug', color: 'fff' };
    const { id } = (await write('/labels', label)).json;
    const milestone = (await write('/milestones', { title: 'v1' })).json.id;
    await write('/issues', { title: 'full', assignees: [ada.name], milestone, labels: [id] });
    await write('/issues', { title: 'bare' });
    await write('/issues/1/comments', { body: 'hm' });
    await write('/hooks', hook);
    await forge.ask('POST', '/user/hooks', { as: ada, body: hook });
    await forge.ask('POST', `/orgs/${organization}/hooks`, { as: ada, body: hook });
    await forge.ask('POST', `/orgs/${organization}/labels`, { as: ada, body: label });
    await forge.ask('PUT', `/user/starred/${repository}`, { as: ada });
    await forge.share(repository, ada, { with: await forge.makeUser(), permission: 'read' });
  });

  it.each([
    ['getVersion', '/version'],
    ['getApiSettings', '/settings/api'],
    ['getSelf', '/user'],
    ['getUser', '/users/ADA'],
    ['listTokens', '/users/ADA/tokens'],
    ['getOrganization', '/orgs/ORG'],
    ['getRepository', '/repos/REPO'],
    ['listOrganizationRepositories', '/orgs/ORG/repos'],
    ['listOwnRepositories', '/user/repos'],
    ['listStarred', '/users/ADA/starred'],
    ['listCollaborators', '/repos/REPO/collaborators'],
    ['getPermission', '/repos/REPO/collaborators/ADA/permission'],
    ['listLabels', '/repos/REPO/labels'],
    ['listOrganizationLabels', '/orgs/ORG/labels'],
    ['listIssueLabels', '/repos/REPO/issues/1/labels'],
    ['listIssues', '/repos/REPO/issues'],
    ['getIssue', '/repos/REPO/issues/1'],
    ['listComments', '/repos/REPO/issues/1/comments'],
    ['listMilestones', '/repos/REPO/milestones'],
    ['listHooks', '/repos/REPO/hooks'],
    ['listUserHooks', '/user/hooks'],
    ['listOrganizationHooks', '/orgs/ORG/hooks'],
    ['listBranches', '/repos/REPO/branches'],
  ] as const)('of %s have every field of the contract', async (name, path) => {
    const filled = path.replace('ADA', ada.name).replace('ORG', organization).replace('REPO', repository);
    const { response } = operations[name];

    const answer = await forge.ask('GET', filled, { headers: basic(ada.name, ada.password) });

    expect(answer.status).toBe(200);
    expect(missingMembers(response, answer.json)).toEqual([]);
    expect(response.safeParse(answer.json).error).toBeUndefined();
    if (Array.isArray(answer.json)) expect(answer.json).not.toHaveLength(0);
  });
});
