import type { RepeatedChoice } from '../../../engine/bounds/refusals.ts';
import { type Budgets, budgets } from '../../../engine/budget/budgets.ts';
import type { Grant } from '../../../rules/sources/grants.ts';
import type { OrganizationSource } from '../../../rules/sources/organization.ts';
import type { ReportProblems } from '../../../rules/sources/report.ts';
import type { OperatorFile } from './operator-file.ts';

/** What rules may do, and what is done about those that cannot be used. */
export type RuleGrants = {
  /** Organizations with rules of their own. */
  readonly organizations: readonly OrganizationSource[];
  /** What files of repositories and organizations may use beyond the small set. */
  readonly grants: readonly Grant[];
  readonly budgets: Budgets;
  /** Check the rule files of pull requests that touch them. */
  readonly preview: boolean;
  readonly reportProblems: ReportProblems;
  /** What becomes of a delivery that repeats an earlier one. */
  readonly repeated: RepeatedChoice;
};

/** Returns what the operator file says of that, with everything it leaves out filled in. */
export function readGrants(file: OperatorFile | undefined): RuleGrants {
  const limits = file?.limits ?? {};
  return {
    organizations: Object.entries(file?.organizations ?? {}).map(([name, { rules, id }]) => ({
      name,
      rules,
      id,
    })),
    grants: (file?.grants ?? []).map((grant) => ({
      repositories: grant.repositories ?? [],
      organizations: grant.organizations ?? [],
      in: grant.in,
      names: [...(grant.use ?? []), ...(grant.actions ?? []), ...(grant.facts ?? [])],
      branches: grant.branches,
      forks: grant.forks,
    })),
    budgets: {
      delivery: {
        all: limits.delivery ?? budgets.delivery.all,
        repository: limits['repository-delivery'] ?? budgets.delivery.repository,
      },
      hour: {
        all: limits.hour ?? budgets.hour.all,
        repository: limits['repository-hour'] ?? budgets.hour.repository,
      },
    },
    preview: file?.preview ?? false,
    reportProblems: file?.['report-problems'] ?? 'status',
    repeated: file?.repeated ?? 'run',
  };
}
