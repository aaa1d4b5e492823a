import { expect } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import type { Access, ScopeCategory } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import type { PullRequest } from '../../src/contract/resources/pulls.ts';
import { type Account, type ContractForge, freshName, startEmbedded } from './contract-forge.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

/** Writes of the embedded forge are slow on a busy machine, so only a hanging request should reach this limit. */
const timeoutMs = 120_000;

type Needs = { readonly access: Access; readonly scopes: readonly ScopeCategory[] };
type Person = Account & { readonly id: number; readonly client: Client };

/**
 * Repository of an organization on the embedded forge. It has an open pull request by ada, an issue, and objects that
 * no rule names. One account has exactly the access and the token scopes that an action declares.
 */
export type PrivilegeSetup = {
  readonly at: { readonly owner: string; readonly repo: string };
  readonly owner: Person;
  readonly ada: Person;
  /** Account with exactly the declared access and scopes. */
  readonly holder: Person;
  /** Account with the declared scopes and the next lower access level. */
  readonly underprivileged: Person;
  /** Client with the declared access and read-only tokens. */
  readonly readOnlyClient: Client;
  readonly pull: PullRequest;
  readonly issue: number;
  readonly subjects: Readonly<Record<'repository' | 'pull_request' | 'issue' | 'organization', Subject>>;
  /** Requests of all accounts of this setup that passed through the proxy. */
  readonly requests: FaultProxy['passed'];
  /** Reads all objects that no rule of a scenario names. */
  unrelatedState(): Promise<{ readonly settings: Readonly<Record<string, unknown>> }>;
};

const steps: readonly Access[] = ['anyone', 'reader', 'writer', 'admin', 'owner'];
const allScopes: readonly ScopeCategory[] = ['repository', 'issue', 'organization', 'user', 'notification'];

/** Starts one forge for many setups, by default the embedded one. */
export async function startPrivilegeForge(start: () => Promise<ContractForge> = startEmbedded): Promise<{
  /** Address of the forge. */
  readonly url: string;
  make(needs: Needs): Promise<PrivilegeSetup>;
  close(): Promise<void>;
}> {
  const forge = await start();
  const proxy = await startFaultProxy(forge.url);
  return {
    url: forge.url,
    make: (needs) => makePrivilegeSetup(forge, proxy, needs),
    async close() {
      await proxy.close();
      await forge.close();
    },
  };
}

async function makePrivilegeSetup(
  forge: ContractForge,
  proxy: FaultProxy,
  needs: Needs,
): Promise<PrivilegeSetup> {
  const person = async (scopes?: readonly string[]): Promise<Person> => {
    const account = await forge.makeUser();
    const token = scopes ? await makeToken(forge, account, scopes) : account.token;
    const client = createClient({ timeoutMs, url: proxy.url, credentials: { token } });
    const self = await createClient({
      timeoutMs,
      url: forge.url,
      credentials: { token: account.token },
    }).call(operations.getSelf, {});
    return { ...account, id: self.id, client };
  };
  const writing = [
    ...allScopes.map((name) => `read:${name}`),
    ...needs.scopes.map((name) => `write:${name}`),
  ];
  const [owner, ada] = [await person(), await person()];
  const [holder, lesser] = [await person(writing), await person(writing)];
  const organization = await forge.makeOrganization(needs.access === 'owner' ? holder : owner);
  const maker = needs.access === 'owner' ? holder : owner;
  const full = await forge.makeRepository(maker, {
    in: organization,
    private: true,
    auto_init: true,
    default_branch: 'main',
  });
  const [, repo = ''] = full.split('/');
  const at = { owner: organization, repo };
  const share = (who: Account, permission: string) => forge.share(full, maker, { with: who, permission });
  await share(ada, 'write');
  if (needs.access !== 'owner') await share(owner, 'admin');
  const permission: Partial<Record<Access, string>> = { reader: 'read', writer: 'write', admin: 'admin' };
  const held = permission[needs.access];
  if (held) await share(holder, held);
  const less = permission[steps[steps.indexOf(needs.access) - 1] ?? 'anyone'];
  if (less) await share(lesser, less);

  const admin = createClient({ timeoutMs, url: forge.url, credentials: { token: maker.token } });
  const adaDirect = createClient({ timeoutMs, url: forge.url, credentials: { token: ada.token } });
  await addFile(adaDirect, at, 'work', 'src/a.ts');
  const pull = await adaDirect.call(operations.createPull, {
    params: at,
    body: { title: 'Work', head: 'work', base: 'main' },
  });
  const issue = await adaDirect.call(operations.createIssue, { params: at, body: { title: 'Broken' } });
  const live = await admin.call(operations.getRepository, { params: at });
  const repository = { id: live.id, owner: at.owner, name: at.repo };
  const bystanders = await arrangeBystanders(admin, adaDirect, at, pull, issue.number);
  return {
    at,
    owner: maker === holder ? holder : owner,
    ada,
    holder,
    underprivileged: lesser,
    readOnlyClient: createClient({
      timeoutMs,
      url: proxy.url,
      credentials: {
        token: await makeToken(
          forge,
          holder,
          allScopes.map((name) => `read:${name}`),
        ),
      },
    }),
    pull,
    issue: issue.number,
    subjects: {
      repository: { kind: 'repository', repository },
      pull_request: { kind: 'pull_request', repository, index: pull.number },
      issue: { kind: 'issue', repository, index: issue.number },
      organization: { kind: 'organization', organization },
    },
    requests: proxy.passed,
    unrelatedState: bystanders,
  };
}

async function makeToken(forge: ContractForge, account: Account, scopes: readonly string[]): Promise<string> {
  const basic = { user: account.name, password: account.password };
  const made = await createClient({ timeoutMs, url: forge.url, credentials: basic }).call(
    operations.createToken,
    {
      params: { username: account.name },
      body: { name: freshName('scoped'), scopes: [...new Set(scopes)] },
    },
  );
  return made.sha1 ?? '';
}

/** Commits a file to a branch. If the branch does not exist, it is created from main. */
export async function addFile(
  client: Client,
  at: PrivilegeSetup['at'],
  branch: string,
  filepath: string,
  text = filepath,
): Promise<void> {
  const known = await client.call(operations.getBranch, { params: { ...at, branch } }).catch(() => undefined);
  const on = known ? { branch } : { branch: 'main', new_branch: branch };
  const content = Buffer.from(text).toString('base64');
  await client.call(operations.createFile, {
    params: { ...at, filepath },
    body: { ...on, content, message: `Add ${filepath}` },
  });
}

/**
 * Waits until the timeline of a pull request has the push of its head, and the forge has checked whether it can be
 * merged. A real server does both after the push.
 */
export async function untilPushListed(
  client: Client,
  { owner, repo, index, branch }: PrivilegeSetup['at'] & { readonly index: number; readonly branch: string },
  from: PrivilegeSetup['at'] = { owner, repo },
): Promise<void> {
  const params = { owner, repo, index };
  const isListed = async (): Promise<boolean> => {
    const { commit } = await client.call(operations.getBranch, { params: { ...from, branch } });
    const { head, mergeable } = await client.call(operations.getPull, { params });
    const entries = await client.call(operations.listTimeline, { params, query: { limit: 50 } });
    const push = entries.findLast(({ type }) => type === 'pull_push');
    return mergeable === true && head?.sha === commit?.id && (push?.body ?? '').includes(commit?.id ?? '-');
  };
  await expect.poll(isListed, { timeout: timeoutMs }).toBe(true);
}

/**
 * Creates objects that look like the results of rules but that no rule names. Returns a function that reads these
 * objects.
 */
async function arrangeBystanders(
  admin: Client,
  ada: Client,
  at: PrivilegeSetup['at'],
  pull: PullRequest,
  issue: number,
): Promise<PrivilegeSetup['unrelatedState']> {
  const index = pull.number;
  const label = await admin.call(operations.createLabel, {
    params: at,
    body: { name: 'kept', color: 'aaaaaa' },
  });
  await ada.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels: [label.id] } });
  // The text is the same as a rule would write, but another account writes it.
  const body = '<!-- reeve:tidy/main -->\nnot ours';
  const comment = await ada.call(operations.createComment, { params: { ...at, index }, body: { body } });
  await ada.call(operations.editIssue, { params: { ...at, index: issue }, body: { body } });
  const sha = pull.head?.sha ?? '';
  await ada.call(operations.createStatus, {
    params: { ...at, sha },
    body: { state: 'failure', context: 'kept' },
  });
  await admin.call(operations.createBranchProtection, {
    params: at,
    body: { rule_name: 'kept', required_approvals: 2, block_on_rejected_reviews: true },
  });
  await admin.call(operations.createTagProtection, {
    params: at,
    body: { name_pattern: 'kept*', whitelist_usernames: [(await ada.call(operations.getSelf, {})).login] },
  });
  return async () => ({
    labels: (await admin.call(operations.listIssueLabels, { params: { ...at, index } })).filter(
      ({ id }) => id === label.id,
    ),
    comment: await admin.call(operations.getComment, { params: { ...at, id: comment.id } }),
    issue: withoutCounts(await admin.call(operations.getIssue, { params: { ...at, index: issue } })),
    status: (await admin.call(operations.listStatuses, { params: { ...at, sha } })).filter(
      ({ context }) => context === 'kept',
    ),
    branch: await admin.call(operations.getBranchProtection, { params: { ...at, name: 'kept' } }),
    tag: (await admin.call(operations.listTagProtections, { params: at })).filter(
      ({ name_pattern }) => name_pattern === 'kept*',
    ),
    commit: (await admin.call(operations.getBranch, { params: { ...at, branch: 'work' } })).commit?.id,
    // The owner is not a setting of the repository: a rule may change the organization that owns it.
    settings: withoutCounts({
      ...(await admin.call(operations.getRepository, { params: at })),
      owner: undefined,
    }),
  });
}

/** Removes counts and times that result from events, because they are not settings. */
function withoutCounts(resource: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const left = Object.entries(resource).filter(
    ([name]) => !/(_count|_counter|^comments|^updated_at|^size)$/.test(name),
  );
  return Object.fromEntries(left);
}

/** Lowest cost of password hashing, for test forges, which create thousands of accounts. */
export const passwordCost = 2;
