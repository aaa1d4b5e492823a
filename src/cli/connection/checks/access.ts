import type { Access } from '../../../contract/operation.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import {
  accessWants,
  describeOrganizationGap,
  findAccessGaps,
  findOrganizationGaps,
  organizationSpots,
  organizationsAdvice,
  teamSpots,
} from '../../../work/alarms/blind-spots.ts';
import { count, plain } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning, wrong } from '../finding.ts';
import type { Examination } from './examination.ts';

/**
 * Checks that the account has the access that the operator’s rules need: in each served repository, in the organizations
 * that own these, to the organizations that rules visit, and to the teams that expressions name. `listed`: the served
 * repositories of the operator file.
 */
export async function checkAccess(
  loaded: readonly LoadedRule[],
  {
    served,
    client,
    account,
    listed,
  }: Pick<Examination, 'served' | 'client' | 'account'> & { readonly listed: readonly string[] },
): Promise<Finding> {
  if (loaded.length === 0) return skipped('there are no rules of the operator');
  const { repositories, isWhole } = await served();
  if (repositories.length === 0)
    return skipped(`no repository is served, so that this is not compared: ${describeNeededAccess(loaded)}`);
  const gaps = findAccessGaps(loaded, repositories, { possible: false });
  const possible = findAccessGaps(loaded, repositories, { possible: true });
  const owned = await findOrganizationGaps(loaded, repositories, { client, possible: false });
  const by = { login: async () => (await account()).login, listed };
  const unseen = [
    ...(await organizationSpots(loaded, { client, served: by })),
    ...(await teamSpots(loaded, { client, repositories })),
  ];
  if (gaps.length === 0) {
    const more = owned.gaps.length + unseen.length - 1;
    const rest = more > 0 ? `; ${more} more` : '';
    const [gap] = owned.gaps;
    if (gap)
      return wrong(
        `${describeOrganizationGap(gap)}, and rule ${gap.rule.name} needs ${gap.needed} for ${gap.what}${rest}`,
        gap.needed === 'owner'
          ? `add the account to the owners of ${gap.organization}, or restrict the rule with in`
          : organizationsAdvice,
      );
    const [spot] = unseen;
    if (spot) return wrong(plain(`rule ${spot.rule.name} ${spot.text}${rest}`), spot.advice);
  }
  const [first] = gaps.length > 0 ? gaps : possible;
  if (first === undefined) {
    if (owned.assumed.length > 0)
      return skipped(
        `the forge does not say whether the account is a member of ${owned.assumed.join(', ')}; ${describeNeededAccess(loaded)}`,
      );
    const found = `${isWhole ? '' : 'the first '}${count(repositories.length, 'repository')}`;
    const places =
      owned.examined.length === 0 ? found : `${found} and ${count(owned.examined.length, 'organization')}`;
    return ok(`the account has, in ${places}, the access that ${describeNeededAccess(loaded)}`);
  }
  const found = gaps.length > 0 ? wrong : warning;
  const needs = gaps.length > 0 ? 'needs' : 'can need';
  const more = (gaps.length > 0 ? gaps.length + owned.gaps.length + unseen.length : possible.length) - 1;
  return found(
    `in ${first.repository} the account is ${first.held}, and rule ${first.rule.name} ${needs} ${first.needed} for ${first.what}${more > 0 ? `; ${more} more` : ''}`,
    'give the account that permission there, or restrict the rule with in',
  );
}

/** For repositories and for organizations, only the highest needed access is shown, because it includes the others. */
const places: readonly { readonly ranked: readonly Access[]; readonly of: string }[] = [
  { ranked: ['admin', 'writer', 'reader'], of: '' },
  { ranked: ['owner', 'member'], of: ' of the organization' },
];

/** Returns the access that all rules need together, with one rule and its fact or action that needs the access. */
export function describeNeededAccess(rules: readonly LoadedRule[]): string {
  const wants = rules.flatMap((rule) =>
    [...accessWants(rule, { possible: false }), ...accessWants(rule, { possible: true })].map((want) => ({
      ...want,
      rule: rule.name,
    })),
  );
  const most = places.flatMap(({ ranked, of }) => {
    const found = ranked.map((access) => wants.find(({ needed }) => needed === access));
    const first = found.find((one) => one !== undefined);
    return first ? [`${first.needed}${of} (for rule ${first.rule}, ${first.what})`] : [];
  });
  const subject = count(rules.length, 'rule');
  const verb = rules.length === 1 ? 'needs' : 'need';
  return `${subject} ${verb}: ${most.length === 0 ? 'none' : most.join(', and ')}`;
}
