import { type Client, createClient } from '../../src/client/client.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import type { Access, ScopeCategory } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { type Account, type ContractForge, freshName, startEmbedded } from './contract-forge.ts';
import { addFile } from './privilege-setup.ts';

type Person = Account & { readonly id: number; readonly client: Client };

/** Account for each access level that a fact can declare. `outsider` has no access. */
type Holder = Access | 'outsider';

/** Private repository of an organization in which every fact has a unique value. */
export type ReadingSetup = {
  /** Address of the forge. */
  readonly url: string;
  readonly at: { readonly owner: string; readonly repo: string };
  readonly ada: Person;
  readonly owner: Person;
  /** Pull requests with an approval. `work` targets a protected branch, `open` an unprotected branch. */
  readonly pulls: { readonly work: number; readonly open: number };
  /** Commits of a push to `work`. */
  readonly range: { readonly before: string; readonly after: string };
  readonly comments: { readonly issue: number; readonly pull: number };
  subjectOf(kind: Subject['kind'], holder: Holder): Promise<Subject>;
  /** Returns a client of the account with this access level. Its token may read only these categories. */
  clientOf(holder: Holder, scopes: readonly ScopeCategory[]): Promise<Client>;
  close(): Promise<void>;
};

export async function startReadingSetup(): Promise<ReadingSetup> {
  const forge = await startEmbedded();
  const person = async (): Promise<Person> => {
    const account = await forge.makeUser();
    const client = createClient({ url: forge.url, credentials: { token: account.token } });
    return { ...account, id: (await client.call(operations.getSelf, {})).id, client };
  };
  const [owner, ada, outsider] = [await person(), await person(), await person()];
  const [reader, writer, admin, member] = [await person(), await person(), await person(), await person()];
  const organization = await forge.makeOrganization(owner);
  const full = await forge.makeRepository(owner, {
    in: organization,
    private: true,
    auto_init: true,
    default_branch: 'main',
  });
  const at = { owner: organization, repo: full.slice(full.indexOf('/') + 1) };
  for (const [who, permission] of [
    [ada, 'write'],
    [reader, 'read'],
    [writer, 'write'],
    [admin, 'admin'],
  ] as const) {
    await forge.share(full, owner, { with: who, permission });
  }
  await arrangeOrganization(owner.client, at, [ada, member]);
  const arranged = await arrangeRepository({ owner, ada, readers: [reader], at });
  const { id } = await owner.client.call(operations.getRepository, { params: at });
  const repository = { id, owner: at.owner, name: at.repo };
  const people: Readonly<Record<Holder, Person>> = {
    outsider,
    anyone: outsider,
    'signed-in': outsider,
    // An account's own notifications and hooks, read by an account that may read the repository.
    self: reader,
    reader,
    member,
    author: ada,
    writer,
    admin,
    owner,
    site: owner,
  };
  const subjects: Readonly<Record<Exclude<Subject['kind'], 'notification'>, Subject>> = {
    repository: { kind: 'repository', repository },
    pull_request: { kind: 'pull_request', repository, index: arranged.pulls.work },
    issue: { kind: 'issue', repository, index: arranged.issue },
    branch: { kind: 'branch', repository, ref: 'work' },
    milestone: { kind: 'milestone', repository, milestone: arranged.milestone },
    organization: { kind: 'organization', organization },
    runner: { kind: 'runner', repository },
  };
  const { pulls, comments, range } = arranged;
  return {
    url: forge.url,
    at,
    ada,
    owner,
    pulls,
    comments,
    range,
    async subjectOf(kind, holder) {
      if (kind !== 'notification') return subjects[kind];
      const [thread] = await people[holder].client.call(operations.listNotifications, {});
      // A thread belongs to one account, so accounts without a thread use the id of the reader's thread.
      const [known] = await reader.client.call(operations.listNotifications, {});
      return { kind, repository, index: pulls.work, thread: (thread ?? known)?.id ?? 0 };
    },
    async clientOf(holder, scopes) {
      const token = await makeToken(forge, people[holder], scopes);
      return createClient({ url: forge.url, credentials: { token } });
    },
    close: () => forge.close(),
  };
}

async function makeToken(
  forge: ContractForge,
  { name, password }: Account,
  categories: readonly ScopeCategory[],
): Promise<string> {
  const basic = createClient({ url: forge.url, credentials: { user: name, password } });
  // A token without any scope is refused. The scope `read:misc` covers nothing that a fact reads.
  const scopes = ['read:misc', ...categories.map((category) => `read:${category}`)];
  const made = await basic.call(operations.createToken, {
    params: { username: name },
    body: { name: freshName('reading'), scopes },
  });
  return made.sha1 ?? '';
}

async function arrangeOrganization(
  owner: Client,
  { owner: org, repo }: ReadingSetup['at'],
  members: readonly Account[],
): Promise<void> {
  await owner.call(operations.createOrganizationLabel, {
    params: { org },
    body: { name: 'shared', color: '00ff00' },
  });
  const team = async (name: string, units: readonly string[]): Promise<number> => {
    const body = { name, permission: 'read' as const, units: [...units] };
    return (await owner.call(operations.createTeam, { params: { org }, body })).id;
  };
  // A team without code and without repositories: its members may read only the organization.
  const release = await team('release', ['repo.wiki']);
  for (const { name: username } of members)
    await owner.call(operations.putTeamMember, { params: { id: release, username } });
  const deploy = await team('deploy', ['repo.code', 'repo.pulls']);
  await owner.call(operations.putTeamMember, { params: { id: deploy, username: members[1]?.name ?? '' } });
  await owner.call(operations.putTeamRepository, { params: { id: deploy, org, repo } });
}

type People = {
  readonly owner: Person;
  readonly ada: Person;
  readonly readers: readonly Person[];
  readonly at: ReadingSetup['at'];
};

async function arrangeRepository({ owner, ada, readers, at }: People) {
  const params = at;
  const codeowners = `.* @${ada.name} @${at.owner}/release\n`;
  await addFile(owner.client, at, 'main', 'CODEOWNERS', codeowners);
  const before = await tipOf(owner.client, at, 'main');
  await addFile(owner.client, at, 'stable', 'stable.txt');
  await owner.client.call(operations.createBranchProtection, {
    params,
    body: {
      rule_name: 'main',
      required_approvals: 1,
      enable_status_check: true,
      status_check_contexts: ['ci'],
    },
  });
  await owner.client.call(operations.createTagProtection, {
    params,
    body: { name_pattern: 'v*', whitelist_usernames: [ada.name] },
  });
  await owner.client.call(operations.createHook, {
    params,
    body: {
      type: 'gitea',
      config: { url: 'https://ci.example.org/', content_type: 'json' },
      events: ['push'],
      active: true,
    },
  });
  await owner.client.call(operations.replaceTopics, { params, body: { topics: ['tidy'] } });
  const page = { title: 'Home', content_base64: Buffer.from('Welcome').toString('base64') };
  await owner.client.call(operations.createWikiPage, { params, body: page });
  const milestone = await owner.client.call(operations.createMilestone, { params, body: { title: 'next' } });
  const label = await owner.client.call(operations.createLabel, {
    params,
    body: { name: 'bug', color: 'ff0000' },
  });
  const work = await openPull(ada.client, owner.client, { at, branch: 'work', base: 'main' });
  const open = await openPull(ada.client, owner.client, { at, branch: 'open', base: 'stable' });
  await ada.client.call(operations.createStatus, {
    params: { ...at, sha: work.head },
    body: { state: 'success', context: 'ci' },
  });
  const issue = await openIssue(ada.client, at, readers);
  const first = await openIssue(ada.client, at, []);
  for (const index of [issue, work.number]) {
    const about = { ...at, index };
    await owner.client.call(operations.editIssue, { params: about, body: { milestone: milestone.id } });
    await owner.client.call(operations.addIssueLabels, { params: about, body: { labels: [label.id] } });
    await owner.client.call(operations.addIssueReaction, { params: about, body: { content: 'eyes' } });
    await ada.client.call(operations.addTime, { params: about, body: { time: 60 } });
    await owner.client.call(operations.addDependency, {
      params: about,
      body: { owner: at.owner, repo: at.repo, index: first },
    });
  }
  const say = async (index: number): Promise<number> =>
    (
      await ada.client.call(operations.createComment, {
        params: { ...at, index },
        body: { body: '/say hello' },
      })
    ).id;
  return {
    issue,
    milestone: milestone.id,
    pulls: { work: work.number, open: open.number },
    comments: { issue: await say(issue), pull: await say(work.number) },
    range: { before, after: work.head },
  };
}

async function openIssue(client: Client, at: ReadingSetup['at'], readers: readonly Person[]) {
  const mentions = readers.map(({ name }) => `@${name}`).join(' ');
  const body = { title: 'Broken', body: `Please look ${mentions}` };
  return (await client.call(operations.createIssue, { params: at, body })).number;
}

async function openPull(
  author: Client,
  reviewer: Client,
  { at, branch, base }: { readonly at: ReadingSetup['at']; readonly branch: string; readonly base: string },
) {
  await addFile(author, at, branch, `${branch}.txt`);
  const made = await author.call(operations.createPull, {
    params: at,
    body: { title: branch, head: branch, base },
  });
  const params = { ...at, index: made.number };
  await reviewer.call(operations.createReview, { params, body: { event: 'APPROVED', body: 'Good.' } });
  return { number: made.number, head: made.head?.sha ?? '' };
}

async function tipOf(client: Client, at: ReadingSetup['at'], branch: string): Promise<string> {
  return (await client.call(operations.getBranch, { params: { ...at, branch } })).commit?.id ?? '';
}
