import type { Incident } from '../../engine/incidents/incident.ts';
import type { Run } from '../../engine/record.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { FolderFile } from '../../rules/sources/folder.ts';
import { lastValidWords } from '../../rules/sources/last-valid.ts';
import type { IncidentRows, MemoryRows } from '../../store/store.ts';
import { SweepStore } from '../sweeps/progress.ts';
import { secretUses } from './secret-tests.ts';

/** Key under which the store keeps the instants of the latest evaluations. */
const evaluatedKey = 'rules evaluated';
/** Maximum number of rules that are kept; the longest unevaluated ones are dropped. */
const maxKept = 2_000;
/** A newer instant is stored only after this time, so that a busy rule does not cause a write every minute. */
const leastStepMs = 60_000;

/** Records when each rule of the operator was evaluated last. */
export class RuleEvaluations {
  readonly #seen = new Map<string, string>();
  readonly #saved = new Map<string, string>();

  /** Records the evaluations of a run, in memory. A skipped rule does not count. */
  note({ rules, trigger, mode }: Run): void {
    if (mode === 'plan') return;
    for (const { rule, verdict, level = 'operator', source } of rules) {
      if (verdict === 'skipped' || level !== 'operator' || rule === source) continue;
      if ((this.#seen.get(rule) ?? '') < trigger.at) this.#seen.set(rule, trigger.at);
    }
  }

  /** Stores what is newer than the stored instants. Other processes store theirs under the same key. */
  async save(store: MemoryRows): Promise<void> {
    const newer = [...this.#seen].filter(
      ([rule, at]) => Date.parse(at) - (Date.parse(this.#saved.get(rule) ?? '') || 0) >= leastStepMs,
    );
    if (newer.length === 0) return;
    await store.revise(evaluatedKey, (value) => {
      const kept = new Map(Object.entries(evaluationsIn(value)));
      for (const [rule, at] of newer) if ((kept.get(rule) ?? '') < at) kept.set(rule, at);
      const latest = [...kept].toSorted(([, a], [, b]) => (a < b ? 1 : -1)).slice(0, maxKept);
      return Object.fromEntries(latest);
    });
    for (const [rule, at] of newer) this.#saved.set(rule, at);
  }
}

/** Store boundary: only `RuleEvaluations` writes the value under this key. */
function evaluationsIn(value: unknown): Readonly<Record<string, string>> {
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

/** When a rule could last run, and what it cannot see or do. */
export type RuleSight = {
  readonly id: string;
  readonly name: string;
  /** Latest evaluation, or end of the latest sweep; undefined if there was none. */
  readonly lastRunAt: Date | undefined;
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
  const evaluated = evaluationsIn(await store.recall(evaluatedKey));
  const incidents = await store.listIncidents();
  const sweeps = new SweepStore(store);
  const found: RuleSight[] = [];
  for (const rule of rules) {
    const { id, name, schedules } = rule;
    const secrets = new Set(secretUses([rule]).map((use) => use.name));
    const swept = schedules.length > 0 ? (await sweeps.readResult(id))?.endedAt : undefined;
    const last = [evaluated[id], swept]
      .filter((at) => at !== undefined)
      .toSorted()
      .at(-1);
    const limits = incidents
      .filter(({ kind, key }) =>
        kind === 'secret-unusable' ? secrets.has(key) : ruleKinds.has(kind) && key === id,
      )
      .map(({ reason, firstAt }) => ({ text: reason, since: firstAt }));
    found.push({ id, name, lastRunAt: last === undefined ? undefined : new Date(last), limits });
  }
  return found;
}
