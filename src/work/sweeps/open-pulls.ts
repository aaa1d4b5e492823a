import type { Subject } from '../../contract/events/subject.ts';
import { createSweepMeter } from '../../rules/expressions/budget.ts';
import { isInScope } from '../../rules/match.ts';
import { budgetSourceOf, createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import type { HandleJob } from '../../store/leases.ts';
import type { Reeve } from '../reeve.ts';
import type { LeaveWaiting } from '../runs/waiting.ts';
import { createLeash } from './leash.ts';
import { isOfHome } from './sweep.ts';
import { refusedAsFailure, type Target } from './targets/repositories.ts';
import { createRunnerMemory } from './targets/runner-memory.ts';
import { eachTarget } from './targets/targets.ts';
import { createWaitingClient, itemsAtOnce, mapConcurrently, runItem } from './walk.ts';

/** Kind of the job that evaluates open pull requests. */
export const openPullsKind = 'open-pulls';

/**
 * Creates the handler that, once after a start, evaluates every open pull request for the rules that merge or update,
 * because changes that became possible while the process was stopped have no event.
 */
export function createOpenPullsHandler(reeve: Reeve, leaveWaiting: LeaveWaiting): HandleJob {
  const { clock, log, store } = reeve;
  return async (job, _payload, lease) => {
    const rules = (await reeve.everyRule()).filter(
      ({ mode, steps }) => mode === 'enforce' && steps.some(({ action }) => action.awaitsChecks),
    );
    const [anyRule] = rules;
    if (anyRule === undefined) return { runs: [], reason: 'no rule merges or updates pull requests' };
    const { signal } = lease;
    const { check, pause } = createLeash(lease, clock);
    const meters = new Map(rules.map((rule) => [rule, createSweepMeter(budgetSourceOf(rule))] as const));
    const rulesFor = (subject: Subject): readonly LoadedRule[] =>
      [...meters].flatMap(([rule, meter]) =>
        isOfHome(rule, subject) && isInScope(rule, subject, meter) ? [rule] : [],
      );
    await reeve.account();
    const asked = { slot: openPullsKind, job: job.id, door: 'cron', mode: 'enforce', pause, signal } as const;
    const takeOne = async (target: Target): Promise<void> => {
      check();
      const { subject } = target;
      const ran = await runItem(target, { ...asked, rules: createRuleSet(rulesFor(subject)) }, reeve);
      reeve.metrics.countSweepRun(ran.run);
      if (ran.retry?.isHostFailure) throw ran.retry;
      await leaveWaiting(ran, { subject, job });
      const { outcomes, rules: verdicts } = ran.run;
      if (outcomes.length === 0 && !verdicts.some(({ verdict }) => verdict === 'failed')) return;
      const about = subject.repository === undefined ? {} : { repositoryId: subject.repository.id };
      await lease.advance({ runs: [ran.run], ...about, checkpoint });
    };
    let checkpoint: unknown = job.checkpoint ?? null;
    const pages = eachTarget([{ kind: 'pull_request', state: 'open' }], {
      client: createWaitingClient(reeve.client.counted({ signal }), pause),
      served: reeve.served,
      // Any rule will do, because it is used only for lists of organizations.
      rule: anyRule,
      isInScope: (subject) => rulesFor(subject).length > 0,
      runners: createRunnerMemory(store),
      now: clock.now(),
      from: job.checkpoint ?? undefined,
    });
    for await (const page of refusedAsFailure(pages)) {
      check();
      for (const { item, error } of page.failures ?? []) {
        log.warn({ item, error: error.message }, 'open pull requests could not be listed');
      }
      await mapConcurrently(page.targets, itemsAtOnce, takeOne);
      checkpoint = page.next;
      await lease.advance({ runs: [], checkpoint });
    }
    return { runs: [] };
  };
}
