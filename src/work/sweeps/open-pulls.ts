import type { Subject } from '../../contract/events/subject.ts';
import { createSweepMeter } from '../../rules/expressions/budget.ts';
import { isInScope } from '../../rules/match.ts';
import { budgetSourceOf, createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import type { HandleJob } from '../../store/leases.ts';
import { mapConcurrently } from './map-concurrently.ts';
import type { SweepParts } from './sweep.ts';
import { runItem } from './sweep-item.ts';
import { isOfHome } from './sweep-job.ts';
import { refusedAsFailure, type Target } from './targets/target.ts';
import { eachTarget } from './targets/targets.ts';
import { createWaitingClient } from './wait-on-429.ts';

/** Kind of the job. */
export const openPullsKind = 'open-pulls';

/**
 * Creates the handler that evaluates, once after a start, every open pull request of the rules that merge or update: what
 * became possible while the process was away has no event any more.
 */
export function createOpenPullsHandler(
  parts: SweepParts,
  everyRule: () => Promise<readonly LoadedRule[]>,
): HandleJob {
  const { clock, log } = parts;
  return async (job, _payload, lease) => {
    const rules = (await everyRule()).filter(
      ({ mode, steps }) => mode === 'enforce' && steps.some(({ action }) => action.awaitsChecks),
    );
    if (rules.length === 0) return { runs: [], reason: 'no rule merges or updates pull requests' };
    const mayGoOn = (): void => {
      if (lease.signal.aborted) throw lease.signal.reason;
      if (lease.stopping.aborted)
        throw lease.giveBack('the process is stopping; it goes on at its checkpoint');
    };
    const stop = AbortSignal.any([lease.signal, lease.stopping]);
    const pause = async (ms: number): Promise<void> => {
      await clock.sleep(ms, stop).catch(() => {}); // Aborted: said below.
      mayGoOn();
    };
    const meters = new Map(rules.map((rule) => [rule, createSweepMeter(budgetSourceOf(rule))] as const));
    const rulesFor = (subject: Subject): readonly LoadedRule[] =>
      [...meters].flatMap(([rule, meter]) =>
        isOfHome(rule, subject) && isInScope(rule, subject, meter) ? [rule] : [],
      );
    const account = await parts.account();
    const takeOne = async (target: Target): Promise<void> => {
      mayGoOn();
      const { subject } = target;
      const ran = await runItem(target, {
        parts,
        order: { slot: openPullsKind, job: job.id, door: 'cron' },
        rules: createRuleSet(rulesFor(subject)),
        account,
        pause,
        signal: lease.signal,
      });
      parts.onRun?.(ran.run);
      if (ran.retry?.isHostFailure) throw ran.retry;
      await parts.leaveWaiting?.(ran, { subject, job });
      const { outcomes, rules: verdicts } = ran.run;
      if (outcomes.length === 0 && !verdicts.some(({ verdict }) => verdict === 'failed')) return;
      const about = subject.repository === undefined ? {} : { repositoryId: subject.repository.id };
      await lease.advance({ runs: [ran.run], ...about, checkpoint });
    };
    let checkpoint: unknown = job.checkpoint ?? null;
    const pages = eachTarget(
      { kind: 'pull_request', state: 'open' },
      {
        client: createWaitingClient(parts.client.counted({ signal: lease.signal }), pause),
        served: parts.served,
        // Any of them: it serves lists of organizations alone.
        rule: rules[0] as LoadedRule,
        isInScope: (subject) => rulesFor(subject).length > 0,
        runners: parts.runners,
        now: clock.now(),
        from: job.checkpoint ?? undefined,
      },
    );
    for await (const page of refusedAsFailure(pages)) {
      mayGoOn();
      for (const { item, error } of page.failures ?? []) {
        log.warn({ item, error: error.message }, 'open pull requests could not be listed');
      }
      await mapConcurrently(page.targets, parts.atOnce ?? 8, takeOne);
      checkpoint = page.next;
      await lease.advance({ runs: [], checkpoint });
    }
    return { runs: [] };
  };
}
