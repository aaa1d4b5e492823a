import type { Event } from '../../contract/events/events.ts';
import { isObserved, observedWords } from '../../engine/describe-change.ts';
import type { Run } from '../../engine/record.ts';
import { plain, type Terminal } from './terminal.ts';

/** What differs between a recorded run and the same delivery under the rules of today. */
export type Comparison = {
  readonly delivery: string;
  readonly event: string;
  readonly repository: string;
  /** Rules whose verdict is another now; `before` or `after` is absent where there is no such rule. */
  readonly verdicts: readonly { readonly rule: string; readonly before?: string; readonly after?: string }[];
  /** What today's rules would still change, the forge being as it is now. */
  readonly changes: readonly {
    readonly target: string;
    readonly value: unknown;
    readonly reason: string;
    /** Only rules in `observe` mode want it. */
    readonly observed?: true;
  }[];
  /** Rules that could not be judged. */
  readonly failed: readonly string[];
};

/** Compares the recorded run of a delivery, where there was one, with a replay of it. Rules that were not considered count as absent. */
export function compareRuns(given: {
  id: string;
  event: Event;
  before: Run | undefined;
  after: Run;
}): Comparison {
  const { id, event, before, after } = given;
  const old = verdictsOf(before);
  const now = verdictsOf(after);
  const rules = [...new Set([...old.keys(), ...now.keys()])];
  const { repository } = event;
  return {
    delivery: id,
    event: event.activity === '' ? (event.family ?? '') : `${event.family}.${event.activity}`,
    repository: repository ? `${repository.owner}/${repository.name}` : '',
    verdicts: rules
      .filter((rule) => old.get(rule) !== now.get(rule))
      .map((rule) => {
        const [was, is] = [old.get(rule), now.get(rule)];
        return {
          rule,
          ...(was === undefined ? {} : { before: was }),
          ...(is === undefined ? {} : { after: is }),
        };
      }),
    changes: after.changes.map((change) => {
      const { target, value, reason } = change;
      return { target, value, reason, ...(isObserved(after, change) ? { observed: true as const } : {}) };
    }),
    failed: after.rules.filter(({ verdict }) => verdict === 'failed').map(({ rule }) => rule),
  };
}

function verdictsOf(run: Run | undefined): ReadonlyMap<string, string> {
  const considered = (run?.rules ?? []).filter(({ verdict }) => verdict !== 'skipped');
  return new Map(considered.map(({ rule, verdict }) => [rule, verdict]));
}

/** Prints what differs, delivery by delivery; those without a difference are counted. */
export function printComparison(compared: readonly Comparison[], since: string, terminal: Terminal): void {
  const different = compared.filter(({ verdicts, changes }) => verdicts.length + changes.length > 0);
  for (const { delivery, event, repository, verdicts, changes } of different) {
    terminal.out(terminal.style('bold', plain(`delivery ${delivery}  ${event}  ${repository}`)));
    for (const { rule, before = 'not considered', after = 'not considered' } of verdicts) {
      terminal.out(terminal.style('yellow', plain(`  ~ ${rule}: ${before} → ${after}`)));
    }
    for (const { target, value, reason, observed } of changes) {
      const mark = observed ? `  ${observedWords}` : '';
      terminal.out(
        terminal.style('green', plain(`  + ${target} = ${JSON.stringify(value)}  (${reason})${mark}`)),
      );
    }
  }
  terminal.out(`${different.length} of ${compared.length} deliveries of the last ${since} differ`);
}
