import { readFile, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Client } from '../client/client.ts';
import { createUnlimitedMeter } from '../patterns/meter.ts';
import { createTtlCache } from '../platform/cache/caches.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { isInScope } from '../rules/match.ts';
import type { LoadedRule } from '../rules/rule.ts';
import type { Store } from '../store/store.ts';
import { readSight } from '../work/alarms/rule-sight.ts';
import { readKnownRunners } from '../work/alarms/runner-sight.ts';
import type { Reeve } from '../work/reeve.ts';
import { readAboutItem } from '../work/runs/about-item.ts';
import { readServed } from '../work/served.ts';
import { readDrift } from '../work/sweeps/drift.ts';
import {
  describeProgress,
  type SweepCheckpoint,
  type SweepResult,
  SweepStore,
} from '../work/sweeps/progress.ts';
import { createCron } from '../work/sweeps/schedule/cron.ts';
import { describeSchedule } from '../work/sweeps/schedule/cron-words.ts';
import {
  keyOfSchedule,
  type Scheduled,
  type Scheduler,
  type ScheduleState,
} from '../work/sweeps/schedule/schedule.ts';
import { scheduledRules } from '../work/sweeps/sweeps.ts';
import type { ServedBy } from '../work/sweeps/targets/repositories.ts';
import type { DashboardData, ForgeHealth, RuleRow, ScheduleRow, SweepRow } from './dashboard/data.ts';
import type { MetricData } from './dashboard/metrics.ts';
import type { RuleCoverage } from './rule-coverage.ts';

/**
 * Returns the data on rules, sweeps and runners for metrics and pages, so that the dashboard need not import the
 * modules that provide the data. Rule files are shown by their path in `folder`.
 */
export function createDashboardData(
  { store, rules, clock, client, served }: Reeve,
  {
    folder = '',
    scheduler,
    refusals,
    forge,
    forgeUrl,
    coverage,
  }: {
    readonly forgeUrl: string;
    readonly forge: () => ForgeHealth;
    readonly refusals: DashboardData['refusals'];
    readonly folder?: string | undefined;
    readonly scheduler: Scheduler;
    /** Absent: rule tests are not run. */
    readonly coverage?: RuleCoverage | undefined;
  },
): DashboardData & MetricData {
  const sweeps = new SweepStore(store);
  const short = (path: string): string => {
    const within = folder === '' ? path : relative(folder, path);
    return within.startsWith('..') ? path : within;
  };
  const operator = (): readonly LoadedRule[] => rules.operator();
  const servedNames = createTtlCache<'served', ServedNames>({ maxAgeMs: 60_000, maxEntries: 1, clock });

  return {
    store,
    now: () => clock.now(),
    forgeUrl: forgeUrl.replace(/\/+$/, ''),
    forge,
    refusals,
    rules: () => operator().map((rule) => ({ ...rowOf(rule, short), coverage: coverage?.of(rule) })),
    async ruleSource(id) {
      const rule = operator().find((one) => one.id === id);
      if (rule === undefined) return undefined;
      try {
        const { size } = await stat(rule.source);
        return size > maxSourceBytes ? undefined : await readFile(rule.source, 'utf8');
      } catch {
        return undefined;
      }
    },
    async reach(id) {
      const rule = operator().find((one) => one.id === id);
      if (rule === undefined) return { repositories: [], served: 0, isWhole: true };
      try {
        const { names, isWhole } = await servedNames.get('served', () => readServedNames(client, served));
        const meter = createUnlimitedMeter();
        const isIn = (fullName: string): boolean => {
          const [owner = '', name = ''] = fullName.split('/');
          return isInScope(rule, { kind: 'repository', repository: { id: 0, owner, name } }, meter);
        };
        return { repositories: names.filter(isIn), served: names.length, isWhole };
      } catch (error) {
        return { error: messageOf(error) };
      }
    },
    async incidents() {
      const found = await store.listIncidents();
      return found.map((one) => (one.level === 'operator' ? { ...one, key: short(one.key) } : one));
    },
    sight: () => readSight(operator(), store),
    async runners() {
      const known = await readKnownRunners(operator(), store, clock.now());
      return known.map(({ since, changes, ...record }) => ({
        ...record,
        since: new Date(since),
        flaps: changes.length,
      }));
    },
    async drift() {
      const found = await readDrift(store);
      return found.map((one) => ({ ...one, rule: short(one.rule), since: new Date(one.since) }));
    },
    aboutItem: (item) =>
      readAboutItem(item, { store, schedules: scheduledRules(operator()), now: clock.now() }),
    async sweeps() {
      const found = [];
      for (const { id, schedules } of operator()) {
        const result = schedules.length > 0 ? await sweeps.readResult(id) : undefined;
        if (result) found.push({ ...result, rule: short(id), endedAt: new Date(result.endedAt) });
      }
      return found;
    },
    async schedules() {
      const rows: ScheduleRow[] = [];
      const states = await scheduler.status();
      for (const entry of scheduledRules(operator()))
        rows.push(await readSchedule(entry, { store, sweeps, states, clock, short }));
      return rows;
    },
  };
}

/** Maximum size of a rule file on a page. */
const maxSourceBytes = 256 * 1024;
/** Maximum number of served repositories that are listed for a page, and the time for it. */
const maxServed = 2_000;
const servedTimeoutMs = 10_000;

type ServedNames = { readonly names: readonly string[]; readonly isWhole: boolean };

/** Returns the full names of the served repositories, sorted. */
async function readServedNames(client: Client, served: ServedBy): Promise<ServedNames> {
  const counted = client.counted({ signal: AbortSignal.timeout(servedTimeoutMs), tries: 1 });
  const { repositories, isWhole } = await readServed(counted, served.listed, {
    max: maxServed,
    login: served.login,
  });
  return { names: repositories.map(({ owner, name }) => `${owner.login}/${name}`).toSorted(), isWhole };
}

/** Returns the row of one schedule. */
async function readSchedule(
  entry: Scheduled,
  {
    store,
    sweeps,
    states,
    clock,
    short,
  }: {
    readonly store: Store;
    readonly sweeps: SweepStore;
    readonly states: ReadonlyMap<string, ScheduleState>;
    readonly clock: Clock;
    readonly short: (path: string) => string;
  },
): Promise<ScheduleRow> {
  const { id, schedule } = entry;
  const state = states.get(keyOfSchedule(entry));
  const result = await sweeps.readResult(id);
  const job = state?.job === undefined ? undefined : await store.describeDelivery(state.job);
  const checkpoint = job?.checkpoint as SweepCheckpoint | null | undefined;
  const isUnderWay = job !== undefined && !['settled', 'dead', 'deferred'].includes(job.state);
  return {
    rule: short(id),
    clock: clockOf(schedule),
    next: createCron(schedule).next(clock.now()),
    lastSlot: state?.lastSlot === undefined ? undefined : new Date(state.lastSlot),
    missed: state?.missed ?? 0,
    overlaps: state?.overlaps ?? 0,
    job: job?.id,
    underWay: isUnderWay && checkpoint ? describeProgress(checkpoint.progress) : undefined,
    result: result && sweptOf(result),
  };
}

function sweptOf(result: SweepResult): SweepRow {
  const { endedAt, isComplete, drift, failures } = result;
  return { endedAt: new Date(endedAt), sentence: describeProgress(result), isComplete, drift, failures };
}

function rowOf(rule: LoadedRule, short: (path: string) => string): RuleRow {
  const { id, name, source, line, isLastValid, mode, description, on, schedules, each } = rule;
  const over = each === undefined ? '' : ` over ${each.map(({ kind }) => kind).join(' and ')}`;
  const events = on.flatMap(({ family, activities }) =>
    activities === undefined ? [family] : activities.map((activity) => `${family}.${activity}`),
  );
  const times = schedules.map((schedule) => `${describeSchedule(schedule)}${over}`);
  const clocks = schedules.map(clockOf);
  return {
    id,
    name,
    file: short(source),
    line,
    isLastValid,
    mode,
    each: each?.map(({ kind }) => kind),
    description,
    listensTo: [...events, ...times],
    clocks,
  };
}

function clockOf({ cron, timezone }: { cron: string; timezone: string }): string {
  return `${cron} ${timezone}`;
}
