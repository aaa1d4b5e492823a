import { merge } from '../../../actions/merge.ts';
import { queueMerge } from '../../../actions/queue-merge.ts';
import type { Subject } from '../../../contract/events/subject.ts';
import { approvals, rejections } from '../../../facts/approvals.ts';
import { createFactMemory, createFacts } from '../../../facts/ask.ts';
import { permissionOf, senderPermission } from '../../../facts/collaborators.ts';
import { findHiddenTeams } from '../../../facts/write-access.ts';
import { createUnlimitedMeter } from '../../../patterns/meter.ts';
import { systemClock } from '../../../platform/clock.ts';
import { isInScope } from '../../../rules/match.ts';
import { requestsOfRule } from '../../../rules/needs.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { maxExamined } from '../../../work/served.ts';
import { toRepositoryRef } from '../../../work/sweeps/targets/repositories.ts';
import { count } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning } from '../finding.ts';
import type { Examination } from './examination.ts';

const readers: ReadonlySet<string> = new Set(
  [senderPermission, permissionOf, approvals, rejections, merge, queueMerge].map(({ name }) => name),
);

/** Returns whether a rule depends on who may write. */
function asksForWriters(rule: LoadedRule): boolean {
  const names = [...requestsOfRule(rule), ...rule.steps.map(({ action }) => action)];
  return names.some(({ name }) => readers.has(name));
}

/**
 * Checks that the account sees the members of the teams that decide who may write, in the served repositories that it
 * administers. Where it is no administrator, the forge shows it no permissions at all.
 */
export async function checkTeams({ client, served, rules }: Examination): Promise<Finding> {
  const wanted = (await rules()).flatMap((file) => file.rules).filter(asksForWriters);
  if (wanted.length === 0) return skipped('no rule of the operator depends on who may write');
  const repositories = (await served()).repositories
    .filter(({ permissions }) => permissions?.admin)
    .slice(0, maxExamined);
  if (repositories.length === 0) return skipped('the account administers no served repository');
  const hidden: { readonly repository: string; readonly teams: readonly string[]; readonly rule: string }[] =
    [];
  for (const live of repositories) {
    const subject: Subject = { kind: 'repository', repository: toRepositoryRef(live) };
    const rule = wanted.find((one) => isInScope(one, subject, createUnlimitedMeter()));
    if (rule === undefined) continue;
    const memory = createFactMemory(systemClock);
    const facts = createFacts({ client, subject, memory, clock: systemClock });
    const teams = await findHiddenTeams(facts, client);
    if (teams.length > 0) hidden.push({ repository: live.full_name, teams, rule: rule.name });
  }
  const [first, ...others] = hidden;
  if (first === undefined)
    return ok(`the account can see who may write in ${count(repositories.length, 'repository')}`);
  const more = others.length === 0 ? '' : `; ${others.length} more`;
  return warning(
    `in ${first.repository} the account does not see the members of ${count(first.teams.length, 'team')} with write access (${first.teams.slice(0, 3).join(', ')}), on which rule ${first.rule} depends: approvals and commands of these people do not count${more}`,
    'make the account a member of these teams, with a token that has read:organization; docs/forges.md, "Write access through teams", has other ways',
  );
}
