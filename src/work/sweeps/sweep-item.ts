import { createHash } from 'node:crypto';
import type { ActionMemory } from '../../actions/memory.ts';
import type { Client } from '../../client/client.ts';
import { makeItemRun, type RunSettings } from '../../engine/make-run.ts';
import type { Ran } from '../../engine/run.ts';
import type { FactMemory } from '../../facts/fact.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { RuleSet } from '../../rules/rule.ts';
import type { Target } from './targets/target.ts';
import { pauseAfter429 } from './wait-on-429.ts';

/** What a run over an item is given. */
type ItemParts = {
  readonly parts: {
    readonly client: Client;
    readonly memory: FactMemory;
    readonly actionMemory: ActionMemory;
    readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
    readonly settings?: RunSettings | undefined;
  };
  /** The slot and the job of the sweep that the item belongs to, and the door that asked for it. */
  readonly order: {
    readonly slot?: string | undefined;
    readonly job?: string | undefined;
    readonly door: 'cron' | 'cli';
  };
  /** Default: enforce. */
  readonly mode?: 'enforce' | 'plan';
  readonly rules: RuleSet;
  readonly account: { readonly id: number };
  /** Waits; rejects where the sweep may not go on. */
  readonly pause: (ms: number) => Promise<unknown>;
  /** Ends calls under way, and sends no further change, once it is aborted. */
  readonly signal: AbortSignal;
};

/** Runs an item against the rule; where the forge asks for a pause, waits as long as it says and tries again. */
export async function runItem(target: Target, given: ItemParts): Promise<Ran> {
  for (let pauses = 0; ; pauses += 1) {
    const ran = await runOne(target, given);
    const pauseMs = pauseAfter429(ran.retry, pauses);
    if (pauseMs === undefined) return ran;
    await given.pause(pauseMs);
  }
}

async function runOne(
  target: Target,
  { parts, order, mode = 'enforce', rules, account, signal }: ItemParts,
): Promise<Ran> {
  const { client, memory, clock } = parts;
  const { key, subject, item: value } = target;
  const { slot, job, door } = order;
  // The instant of the run is a part of its id.
  const now = clock.now();
  const run = makeItemRun(
    { key, subject, value, slot },
    {
      ...parts.settings,
      id: slot === undefined ? undefined : runIdOf(slot, key, now),
      mode,
      door,
      delivery: job,
      rules,
      facts: { client, memory, signal },
      account,
      memory: parts.actionMemory,
      clock: { now: () => now, monotonicMs: () => clock.monotonicMs() },
    },
  );
  return run.catch((error: unknown) => {
    throw new ReeveError('internal', `${key}: ${messageOf(error)}`, { cause: error });
  });
}

/** Of the form that all ids of runs have, and never the same for two. */
function runIdOf(slot: string, item: string, now: Date): string {
  const hex = createHash('sha256').update(`${slot}\n${item}\n${now.toISOString()}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
