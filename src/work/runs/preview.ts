import { findAction } from '../../actions/actions.ts';
import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import { makeEventRun } from '../../engine/make-run.ts';
import { createFacts } from '../../facts/ask.ts';
import { permissionOf } from '../../facts/collaborators.ts';
import { type Facts, requestOf } from '../../facts/fact.ts';
import { isWriter } from '../../facts/write-access.ts';
import { count } from '../../platform/count.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { createRuleSet, type ScopedGrant } from '../../rules/rule.ts';
import { type AdmittedEvent, eventAbout } from '../../rules/sources/admission.ts';
import { createGrants, type Grant } from '../../rules/sources/grants.ts';
import { type OrganizationSource, readFilesAt } from '../../rules/sources/organization.ts';
import { postRuleStatus, summaryOf } from '../../rules/sources/report.ts';
import { type RepositoryRules, readFileAt, repositoryPaths } from '../../rules/sources/repository-file.ts';
import type { DeliveryWithBody } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';
import { eventOf } from './route-delivery.ts';

/** Checks an event. If its pull request changes a rule file, the status `reeve/rules` is written on the head. */
export type Preview = (event: AdmittedEvent) => Promise<void>;

const activities = ['opened', 'reopened', 'synchronized'];
const replayed = 20;

/**
 * Creates the preview. The file is read as data at the head's commit and checked, but is not in force. It is also
 * replayed in plan mode for the last deliveries, but only if the author has write access to the repository, and limited
 * to data that users with write access there can see.
 */
export function createPreview(
  { client, account, store, memory, clock, rules: packs, log }: Reeve,
  settings: { readonly grants: readonly Grant[]; readonly organizations: readonly OrganizationSource[] },
): Preview {
  const grants = createGrants(settings.grants);

  const factsOf = (repository: RepositoryRef): Facts =>
    createFacts({ client, subject: { kind: 'repository', repository }, memory, clock });

  const readOwn = (at: RepositoryRef, commit: string, given: readonly ScopedGrant[]) =>
    readFileAt(client, { at, commit, ref: commit }, given, packs.packsFor(at.owner));

  const look = async (at: RepositoryRef, index: number): Promise<void> => {
    const where = { owner: at.owner, repo: at.name };
    const pull = await client.call(operations.getPull, { params: { ...where, index } });
    const sha = pull.head?.sha;
    if (pull.state !== 'open' || !sha) return;
    const shared = settings.organizations.find(
      ({ rules }) => rules.toLowerCase() === `${at.owner}/${at.name}`.toLowerCase(),
    );
    if (!(await touchesRules(client, where, index, shared !== undefined))) return;
    const own = await readOwn(at, sha, grants.ofRepository(at));
    const files = [
      own,
      ...(shared ? await readShared(client, shared, at, sha, grants.ofOrganization(shared.name)) : []),
    ];
    const problems = files.flatMap((file) => file.problems);
    const rules = files.flatMap((file) => file.rules).length;
    const mayReplay = problems.length === 0 && own.rules.length > 0 && (await mayWrite(factsOf(at), pull));
    const told = mayReplay ? `; ${await replay(at, sha, own)}` : '';
    const good = `${count(rules, 'rule')}, no problems${told}`;
    await postRuleStatus(client, at, sha, summaryOf(problems, good));
  };

  const replay = async (at: RepositoryRef, commit: string, own: RepositoryRules): Promise<string> => {
    const actions = grants
      .ofRepository(at)
      .map((grant) => ({ ...grant, names: grant.names.filter((name) => findAction(name)) }));
    const modest = await readOwn(at, commit, actions);
    if (modest.problems.length > 0) return 'not replayed, since it reads facts that were granted';
    const rules = createRuleSet(own.rules);
    const { items } = await store.listDeliveries({ repositoryId: at.id, limit: replayed });
    let changes = 0;
    let deliveries = 0;
    for (const { id, door } of items) {
      const delivery = door === 'webhook' ? await store.readDelivery(id) : undefined;
      const event = delivery && aboutRepository(delivery, at);
      if (event === undefined) continue;
      const request = { mode: 'plan', door: 'cli', delivery: id, rules } as const;
      const { run } = await makeEventRun(event, request, { client, account, memory, clock });
      changes += run.changes.length;
      deliveries += 1;
    }
    return `on the last ${count(deliveries, 'delivery')} it would make ${count(changes, 'change')}`;
  };

  return async (event) => {
    const { repository, subject } = event;
    if (event.family !== 'pull_request' || !activities.includes(event.activity)) return;
    if (subject.index === undefined) return;
    try {
      await look(repository, subject.index);
    } catch (error) {
      // A failed preview does not stop the delivery. If the forge is unreachable, however, everything waits.
      if (error instanceof ReeveError && error.keepsWork) throw error;
      log.warn({ error: messageOf(error) }, 'the rule file of a pull request could not be checked');
    }
  };
}

/** Reads the rule files of an organization at a commit, and those files of its packs that have a problem. */
async function readShared(
  client: Client,
  source: OrganizationSource,
  at: RepositoryRef,
  commit: string,
  grants: readonly ScopedGrant[],
): Promise<readonly RepositoryRules[]> {
  const head = { at, commit, ref: commit, isPrivate: true };
  const found = await readFilesAt(client, source, head, { grants });
  return [...found.files, ...found.brokenPacks];
}

/**
 * Returns the event of a stored delivery that names this repository. Its secret entry covers the claimed name, but the
 * claimed id is not verified. Undefined for other and unreadable deliveries.
 */
function aboutRepository(delivery: DeliveryWithBody, at: RepositoryRef): AdmittedEvent | undefined {
  const claimed = `${at.owner}/${at.name}`.toLowerCase();
  if (delivery.state === 'dead' || delivery.repository?.toLowerCase() !== claimed) return undefined;
  const event = eventOf(delivery);
  return event.subject && eventAbout(event, event.subject, at);
}

async function touchesRules(
  client: Client,
  where: { owner: string; repo: string },
  index: number,
  isShared: boolean,
): Promise<boolean> {
  const isRule = (path: string | null | undefined): boolean =>
    typeof path === 'string' &&
    (repositoryPaths.some((known) => known === path) || (isShared && /^rules\/.+\.yml$/.test(path)));
  for await (const file of client.items(operations.listPullFiles, { params: { ...where, index } })) {
    if (isRule(file.filename) || isRule(file.previous_filename)) return true;
  }
  return false;
}

/**
 * Returns whether the author of the file has write access to the repository. Only administrators can read permissions,
 * and not every account sees the members of teams. Then a branch of the repository itself is proof, because only
 * accounts with write access can push there.
 */
async function mayWrite(facts: Facts, { user, head, base }: PullRequest): Promise<boolean> {
  if (!user || user.id <= 0) return false;
  try {
    const held = await facts.ask(requestOf(permissionOf, user.login));
    return held?.id === user.id && isWriter(held.permission);
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'forge-forbidden') throw error;
    return head?.repo_id !== undefined && head.repo_id === base?.repo_id;
  }
}
