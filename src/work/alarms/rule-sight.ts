import type { Incident } from '../../engine/incidents/incident.ts';
import { failedChangesOf, type Run } from '../../engine/record.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { FolderFile } from '../../rules/sources/folder.ts';
import { lastValidWords } from '../../rules/sources/last-valid.ts';
import type { IncidentRows, MemoryRows } from '../../store/store.ts';
import { lastSightOf, SweepStore } from '../sweeps/progress.ts';
import { secretUses } from './secret-tests.ts';

/** Keys under which the store keeps the instants of the latest evaluations and of the latest failures. */
const evaluatedKey = 'rules evaluated';
const failedKey = 'rules failed';
/** Maximum number of rules that are kept per key; those with the oldest instants are dropped. */
const maxKept = 2_000;
/** A newer instant is stored only after this time, so that a busy rule does not cause a write every minute. */
const leastStepMs = 60_000;

/** Records when each rule of the operator was evaluated last, and when it failed last. */
export class RuleEvaluations {
  readonly #evaluated = new LatestInstants(evaluatedKey);
  readonly #failed = new LatestInstants(failedKey);

  /**
   * Records the evaluations of a run, in memory. A skipped rule does not count. A rule failed if it could not be
   * evaluated, or if a change failed that it wanted.
   */
  note(run: Run): void {
    if (run.mode === 'plan') return;
    const { at } = run.trigger;
    for (const { rule, verdict, level = 'operator', source } of run.rules) {
      if (verdict === 'skipped' || level !== 'operator' || rule === source) continue;
      this.#evaluated.note(rule, at);
      if (verdict === 'failed' || failedChangesOf(run, rule).length > 0) this.#failed.note(rule, at);
    }
  }

  /** Stores what is newer than the stored instants. Other processes store theirs under the same keys. */
  async save(store: MemoryRows): Promise<void> {
    await this.#evaluated.save(store);
    await this.#failed.save(store);
  }
}

/** The latest instants by rule, of which those in the store are under one key. */
class LatestInstants {
  readonly #key: string;
  readonly #seen = new Map<string, string>();
  readonly #saved = new Map<string, string>();

  constructor(key: string) {
    this.#key = key;
  }

  note(rule: string, at: string): void {
    if ((this.#seen.get(rule) ?? '') < at) this.#seen.set(rule, at);
  }

  async save(store: MemoryRows): Promise<void> {
    const newer = [...this.#seen].filter(
      ([rule, at]) => Date.parse(at) - (Date.parse(this.#saved.get(rule) ?? '') || 0) >= leastStepMs,
    );
    if (newer.length === 0) return;
    await store.revise(this.#key, (value) => {
      const kept = new Map(Object.entries(instantsIn(value)));
      for (const [rule, at] of newer) if ((kept.get(rule) ?? '') < at) kept.set(rule, at);
      const latest = [...kept].toSorted(([, a], [, b]) => (a < b ? 1 : -1)).slice(0, maxKept);
      return Object.fromEntries(latest);
    });
    for (const [rule, at] of newer) this.#saved.set(rule, at);
  }
}

/** Store boundary: only `LatestInstants` writes the values under these keys. */
function instantsIn(value: unknown): Readonly<Record<string, string>> {
  return (value ?? {}) as Readonly<Record<string, string>>;
}

/** Returns the paths of the invalid rule files of the operator whose last valid version a server has in force. */
export async function findLastValid(
  files: readonly Pick<FolderFile, 'path' | 'problems'>[],
  incidentRows: Pick<IncidentRows, 'listIncidents'>,
): Promise<readonly string[]> {
  const incidents = await incidentRows.listIncidents();
  return files
    .filter(({ path, problems }) => {
      const incident = incidents.find(({ kind, key }) => kind === 'file-broken' && key === path);
      return problems.length > 0 && incident?.reason.startsWith(lastValidWords(''));
    })
    .map(({ path }) => path);
}

/** When a rule could last run and failed last, and what it cannot see or do. */
export type RuleSight = {
  readonly id: string;
  readonly name: string;
  /** Latest evaluation, or end of the latest sweep that could see something; undefined if there was none. */
  readonly lastRunAt: Date | undefined;
  /** Whether its latest sweep could see nothing. */
  readonly isBlind: boolean;
  /**
   * Latest run in which it could not be evaluated, or a change failed that it wanted; undefined if none is known. A later
   * success does not remove it.
   */
  readonly lastFailureAt: Date | undefined;
  readonly limits: readonly SightLimit[];
};

/** What a rule cannot see or do, and since when. */
export type SightLimit = { readonly text: string; readonly since: Date };

const ruleKinds: ReadonlySet<Incident['kind']> = new Set(['rule-blind', 'rule-hindered', 'sweep-failed']);

/** Reads the sight of these rules from the store. Sends no request to the forge. */
export async function readSight(
  rules: readonly LoadedRule[],
  store: MemoryRows & Pick<IncidentRows, 'listIncidents'>,
): Promise<readonly RuleSight[]> {
  const evaluated = instantsIn(await store.recall(evaluatedKey));
  const failed = instantsIn(await store.recall(failedKey));
  const incidents = await store.listIncidents();
  const sweeps = new SweepStore(store);
  const found: RuleSight[] = [];
  for (const rule of rules) {
    const { id, name, schedules } = rule;
    const secrets = new Set(secretUses([rule]).map((use) => use.name));
    const result = schedules.length > 0 ? await sweeps.readResult(id) : undefined;
    const swept = result && lastSightOf(result);
    // Failures from before this was stored are known from their incident.
    const incident = incidents.find(({ kind, key }) => kind === 'rule-failed' && key === id);
    const limits = incidents
      .filter(({ kind, key }) =>
        kind === 'secret-unusable' ? secrets.has(key) : ruleKinds.has(kind) && key === id,
      )
      .map(({ reason, firstAt }) => ({ text: reason, since: firstAt }));
    const lastRunAt = latestOf([evaluated[id], swept]);
    const lastFailureAt = latestOf([failed[id], incident?.lastAt.toISOString()]);
    found.push({ id, name, lastRunAt, isBlind: result?.isBlind ?? false, lastFailureAt, limits });
  }
  return found;
}

function latestOf(instants: readonly (string | undefined)[]): Date | undefined {
  const last = instants
    .filter((at) => at !== undefined)
    .toSorted()
    .at(-1);
  return last === undefined ? undefined : new Date(last);
}
