import { expect } from 'vitest';
import type { Run } from '../../src/engine/record.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { reeve } from './command.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { realServer } from './flow-names.ts';
import type { Harness } from './harness.ts';

/** Event, with the arguments of `reeve plan` for the same event. */
type Compared = { readonly kind: string; readonly activity: string; readonly args: () => readonly string[] };

/** Compares the plans of `reeve plan` with the runs of the webhook. */
export interface PlanComparison {
  /** Rules whose plan and webhook run were compared. */
  readonly compared: ReadonlySet<string>;
  /** Compared rules with at least one change. */
  readonly changed: ReadonlySet<string>;
  readonly environment: () => Record<string, string>;
  /** Returns the runs that `reeve plan … --json` prints. Fails if the command sends a write. */
  plan(args: readonly string[]): Promise<readonly Run[]>;
  /**
   * Performs an action while the server's requests are held back, plans in the meantime, and compares the plan with the
   * run of the webhook.
   */
  compare(doing: () => Promise<unknown>, options: Compared): Promise<void>;
  close(): Promise<void>;
}

/** Starts a comparison for the rules of a harness. `secrets` is added to the environment of the command. */
export async function startPlanComparison(
  harness: Harness,
  { rules, secrets = {} }: { rules: readonly LoadedRule[]; secrets?: Readonly<Record<string, string>> },
): Promise<PlanComparison> {
  // The command bypasses the proxy of the server, because the requests of the server may be held back.
  const between: FaultProxy = await startFaultProxy(harness.forge.url);
  const compared = new Set<string>();
  const changed = new Set<string>();
  const environment = () => ({
    ...harness.environment,
    ...secrets,
    FORGE_URL: between.url,
    REEVE_RULES: harness.rules ?? '',
  });

  const plan = async (args: readonly string[]): Promise<readonly Run[]> => {
    const from = between.passed.length;
    const { out, error } = await reeve(['plan', ...args, '--json'], { environment: environment() });
    expect(between.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
    const lines = out.split('\n').filter((line) => line !== '');
    if (lines.length === 0) throw new Error(`no plan: ${error}`);
    return lines.map((line) => JSON.parse(line));
  };

  const isHeard = ({ kind, activity }: Compared): boolean =>
    rules.some(({ on }) =>
      on.some((one) => one.family === kind && (one.activities?.includes(activity) ?? true)),
    );

  return {
    compared,
    changed,
    environment,
    plan,
    async compare(doing, options) {
      const { kind, activity, args } = options;
      await harness.idle();
      if (!isHeard(options)) {
        await doing();
        return;
      }
      const seen = harness.runs.length;
      const gate = Promise.withResolvers<void>();
      harness.proxy.decide = () => ({ kind: 'pass', before: () => gate.promise });
      let planned: readonly Run[];
      try {
        await doing();
        planned = await plan(args());
      } finally {
        harness.proxy.decide = () => ({ kind: 'pass' });
        gate.resolve();
      }
      const isSame = ({ trigger }: Run): boolean => trigger.kind === kind && trigger.activity === activity;
      const run = await harness.waitForRun(
        (one) =>
          harness.runs.indexOf(one) >= seen &&
          isSame(one) &&
          one.rules.every(({ reason }) => reason !== 'own'),
      );
      await harness.idle();

      const simulated = planned.find(isSame);
      // The plan of a payload also reports the rules that listen to other events.
      const listening = simulated?.rules.filter(({ reason, rule }) => reason !== 'kind' || isOf(run, rule));
      // Forges announce the reviews that they request from code owners before the opening: that event's run has made its changes.
      const earlier = harness.runs.slice(seen, harness.runs.indexOf(run)).flatMap(({ changes }) => changes);
      const made = new Set(earlier.map(({ target }) => target));
      const changes = simulated?.changes.filter(({ target }) => !made.has(target)) ?? [];
      expect(simulated && decided({ ...simulated, changes, rules: listening ?? [] })).toBe(decided(run));
      for (const { rule } of run.rules) compared.add(rule);
      for (const { rules: by } of run.changes) for (const rule of by) changed.add(rule);
    },
    close: () => between.close(),
  };
}

const isOf = ({ rules }: Run, id: string): boolean => rules.some(({ rule }) => rule === id);

/** Returns what a run decided, without ids and times. */
export function decided({ rules, changes, refused }: Run): string {
  const text = JSON.stringify(
    { rules, changes: changes.map(({ id: _id, ...change }) => change), refused },
    undefined,
    1,
  );
  const plain = text.replace(/"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)"/g, '"a time"');
  if (!realServer) return plain;
  // A real forge returns URLs with the address of the request, and the command uses a separate proxy. Ids of messages
  // end with a digest of the message content.
  return plain
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://forge')
    .replace(/"id": "([\w-]{22}\.\d+)\.[\w-]{22}"/g, '"id": "$1"');
}
