import type { LoadedRule, Schedule } from '../../../rules/rule.ts';
import type { Store } from '../../../store/store.ts';
import type { Scheduled } from './slots.ts';

/** Key of the store under which the list is kept. */
const listKey = 'schedules of repositories and organizations';

/** A rule with one of its schedules. */
type RuleSchedule = { readonly id: string; readonly schedule: Schedule };

/**
 * The schedules of the rules of repositories and organizations, as of their last reading. They are kept in the store: the process
 * that reads the rules need not be the one that enqueues what is due.
 */
interface ScheduleList {
  save(rules: readonly LoadedRule[]): Promise<void>;
  read(): Promise<readonly Scheduled[]>;
}

/** Creates the list on a store of plain data. */
export function createScheduleList(store: Pick<Store, 'recall' | 'revise'>): ScheduleList {
  return {
    async save(rules) {
      const list: readonly RuleSchedule[] = rules.flatMap(({ id, schedules }) =>
        schedules.map((schedule) => ({ id, schedule })),
      );
      const json = JSON.stringify(list);
      await store.revise(listKey, (kept) => (JSON.stringify(kept ?? []) === json ? kept : list));
    },
    async read() {
      // The border to the store: what is under this key was written by `save` alone.
      const list = ((await store.recall(listKey)) ?? []) as readonly RuleSchedule[];
      return list.map(sweepOf);
    },
  };
}

/** Returns the entry of the scheduler for a schedule of a rule. */
export function sweepOf({ id, schedule }: RuleSchedule): Scheduled {
  return { id, schedule, kind: 'sweep', payload: { rule: id } };
}
