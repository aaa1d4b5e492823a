import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import type { Subject, SubjectKind } from '../../src/contract/events/subject.ts';
import type { Access, ScopeCategory } from '../../src/contract/operation.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import type { Fact, FactOccasion } from '../../src/facts/fact.ts';
import { facts } from '../../src/facts/facts.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type ReadingSetup, startReadingSetup } from '../support/reading-setup.ts';

/** One situation in which a fact is read. */
type Reading = {
  readonly kind: SubjectKind;
  readonly about?: (setup: ReadingSetup) => Partial<Subject>;
  readonly argument?: (setup: ReadingSetup) => string;
  readonly occasion?: (setup: ReadingSetup) => FactOccasion;
  /** Account that reads the fact, if it differs from the declared access. */
  readonly as?: Access;
  /** True if the reading needs the access that the fact declares for only some cases (`sometimes`). */
  readonly sometimes?: true;
};

const person = ({ id, name }: { id: number; name: string }) => ({ id, login: name, ownsRepository: false });
const said = (comment: { id: number } | undefined, setup: ReadingSetup): FactOccasion => ({
  event: {
    family: 'issue_comment',
    activity: 'created',
    payload: comment ? { comment: { ...comment, body: '/say hello' } } : {},
    sender: person(setup.ada),
  } as never,
  now: new Date(),
});

const onIssue = ({ comments }: ReadingSetup) => ({ comment: comments.issue });
const pushed = ({ range }: ReadingSetup) => ({ range });
const onPull = ({ comments }: ReadingSetup) => ({ comment: comments.pull });
const byComment: readonly Reading[] = [
  { kind: 'issue', about: onIssue },
  { kind: 'pull_request', about: onPull },
];

/** Facts that are read in other situations than once per subject kind. */
const special: Readonly<Record<string, readonly Reading[]>> = {
  comment: byComment,
  command: byComment.map((one) => ({
    ...one,
    argument: () => 'say',
    occasion: (setup) => said({ id: 0 }, setup),
  })),
  attachments: [...byComment, { kind: 'issue' }],
  reactions: [...byComment, { kind: 'issue' }],
  review: [
    { kind: 'pull_request', about: ({ owner }) => ({ review: { reviewer: owner.id, state: 'APPROVED' } }) },
  ],
  sender_permission: [
    ...byComment.map((one) => ({ ...one, occasion: (setup: ReadingSetup) => said(undefined, setup) })),
    { kind: 'repository', occasion: (setup) => said(undefined, setup) },
  ],
  // Only a push has files and commits.
  files: [{ kind: 'pull_request' }, { kind: 'branch', about: pushed }],
  commits: [{ kind: 'pull_request' }, { kind: 'branch', about: pushed }],
  // Members of the organization see teams without access to the repository.
  codeowners: [{ kind: 'pull_request' }, { kind: 'pull_request', as: 'member' }],
  approvals: [
    { kind: 'pull_request' },
    { kind: 'pull_request', about: ({ pulls }) => ({ index: pulls.open }), sometimes: true },
  ],
};

/** Arguments of the facts that take one. */
const argumentsOf: Readonly<Record<string, (setup: ReadingSetup) => string>> = {
  compare: () => 'main...work',
  changed_since: (made) => pushed(made).range?.before ?? '',
  commit_diff: () => 'work',
  contents: () => 'CODEOWNERS',
  named_branch: () => 'work',
  permission_of: ({ at }) => at.owner,
  file_at: () => 'main:CODEOWNERS',
  file_of: ({ at }) => `${at.owner}/${at.repo}:CODEOWNERS@main`,
  workflow_runs: () => 'deploy.yml>0',
  wiki: () => 'Home',
  open_pull: () => 'main...work',
  own_issues: ({ at }) => `${at.owner}/${at.repo}`,
  team: ({ at }) => `${at.owner}/release`,
  team_members: () => 'release',
  team_repositories: () => 'deploy',
  unread_notifications: () => '2099-12-31T00:00:00Z',
};

/** A lower access level; undefined if there is none. `self` without an account is anonymous. */
const lessThan: Readonly<Partial<Record<Access, Access | 'outsider' | 'anonymous'>>> = {
  reader: 'outsider',
  member: 'outsider',
  self: 'anonymous',
  writer: 'reader',
  admin: 'writer',
};

let setup: ReadingSetup;
beforeAll(async () => {
  setup = await startReadingSetup();
});
afterAll(() => setup.close());

it.each(facts.map((fact) => [fact.name, fact] as const))(
  '%s can be read with its declared access and scopes, but not with less',
  async (_, fact) => {
    const { scopes } = fact.needs;
    const unneeded = new Set<ScopeCategory>(scopes);
    for (const reading of readingsOf(fact)) {
      const access = accessFor(fact, reading);
      const read = (client: Client, holder = access) => ask(fact, reading, { client, holder });
      const value = await read(await setup.clientOf(access, scopes));
      expect(value, describeReading(reading)).toHaveProperty('value');

      const less = lessThan[access];
      // Every account can see an organization.
      if (less !== undefined && !(reading.kind === 'organization' && access === 'reader')) {
        expect(
          await read(await clientOf(less, scopes)),
          `${describeReading(reading)} as ${less}`,
        ).not.toEqual(value);
      }
      for (const scope of scopes) {
        const others = scopes.filter((one) => one !== scope);
        const narrower = await read(await setup.clientOf(access, others));
        if (JSON.stringify(narrower) !== JSON.stringify(value)) unneeded.delete(scope);
      }
    }
    expect([...unneeded], 'scopes that no reading needs').toEqual([]);
  },
);

async function clientOf(
  holder: Access | 'outsider' | 'anonymous',
  scopes: readonly ScopeCategory[],
): Promise<Client> {
  return holder === 'anonymous' ? createClient({ url: setup.url }) : setup.clientOf(holder, scopes);
}

function readingsOf(fact: Fact): readonly Reading[] {
  return special[fact.name] ?? fact.of.map((kind) => ({ kind }));
}

/** Returns the required access. For an organization, an owner corresponds to a repository administrator. */
function accessFor({ needs }: Fact, { kind, as: other, sometimes }: Reading): Access {
  if (other) return other;
  const access = sometimes && needs.sometimes ? needs.sometimes : needs.access;
  return kind === 'organization' && access === 'admin' ? 'owner' : access;
}

function describeReading({ kind, about }: Reading): string {
  return `of a ${kind} ${JSON.stringify(about?.(setup) ?? {})}`;
}

async function ask(
  { name }: Fact,
  { kind, about, argument = argumentsOf[name], occasion }: Reading,
  { client, holder }: { readonly client: Client; readonly holder: Access },
): Promise<{ value: unknown } | { error: string }> {
  const subject: Subject = { ...(await setup.subjectOf(kind, holder)), ...about?.(setup) };
  const made = createFacts({
    client,
    subject,
    memory: createFactMemory(systemClock),
    clock: systemClock,
    occasion: occasion?.(setup),
  });
  try {
    return { value: await made.ask(argument ? { name, argument: argument(setup) } : { name }) };
  } catch (error) {
    return { error: String(error) };
  }
}
