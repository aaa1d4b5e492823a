import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../../test/support/fault-proxy.ts';
import type { ProxiedInstallation } from '../installation/proxied-installation.ts';

export interface Faults {
  /** Resolves when the last one has passed. */
  readonly done: Promise<void>;
  restarts(): number;
}

/** Where in a cycle which fault is; the rest of it is fine. Of ten requests that pass then, `of10` meet it. */
const phases: readonly { from: number; to: number; of10: number; fault: Fault }[] = [
  { from: 0.35, to: 0.45, of10: 1, fault: { kind: 'answer', status: 500, body: '{"message":"oops"}' } },
  { from: 0.45, to: 0.55, of10: 10, fault: { kind: 'pass', before: () => pause(300) } },
  { from: 0.55, to: 0.6, of10: 1, fault: { kind: 'reset' } },
  { from: 0.6, to: 0.65, of10: 1, fault: { kind: 'lose' } },
];
const restartAt = 0.7;
const awayMs = 1_000;

/** Lets the forge fail in each cycle: errors, slow answers, broken connections, lost answers, and a restart. */
export function causeFaults(
  { proxy, restartForge }: ProxiedInstallation,
  { cycleMs, isOver }: { readonly cycleMs: number; readonly isOver: () => boolean },
): Faults {
  const startMs = performance.now();
  const position = (): number => ((performance.now() - startMs) / cycleMs) % 1;
  let [requests, restarts] = [0, 0];
  proxy.decide = () => {
    requests += 1;
    const at = position();
    const phase = phases.find(({ from, to }) => at >= from && at < to);
    return phase !== undefined && requests % 10 < phase.of10 && !isOver() ? phase.fault : { kind: 'pass' };
  };
  const done = (async () => {
    let cycle = -1;
    while (!isOver()) {
      await pause(50);
      const now = Math.floor((performance.now() - startMs) / cycleMs);
      if (position() < restartAt || now === cycle) continue;
      cycle = now;
      await restartForge(awayMs);
      restarts += 1;
    }
  })();
  return { done, restarts: () => restarts };
}
