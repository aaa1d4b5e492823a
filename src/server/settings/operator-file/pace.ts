import { type Retention, standardRetention } from '../../../store/retention-limits.ts';
import { parseDurationMs } from '../duration.ts';
import { parseSize } from '../size.ts';
import type { OperatorFile } from './operator-file.ts';

/** How deliveries are taken, worked on and kept. */
export type Pace = {
  /** Lifetime of deliveries. */
  readonly backoff: { readonly lifetimeMs?: number | undefined };
  readonly concurrency?: number | undefined;
  /** Largest body of a delivery in bytes. */
  readonly maxBodyBytes?: number | undefined;
  readonly retention: Retention;
};

/** Returns what the operator file says of that; what it leaves out is absent, but for the retention. */
export function readPace(file: OperatorFile | undefined): Pace {
  const lifetimeMs = parseDurationMs(file?.['delivery-lifetime'] ?? '');
  const maxBodyBytes = parseSize(file?.['max-body'] ?? '');
  const { settled = '', dead = '', 'max-size': maxSize = '' } = file?.retention ?? {};
  return {
    backoff: { lifetimeMs },
    concurrency: file?.concurrency,
    maxBodyBytes,
    retention: {
      settledMs: parseDurationMs(settled) ?? standardRetention.settledMs,
      deadMs: parseDurationMs(dead) ?? standardRetention.deadMs,
      maxBytes: parseSize(maxSize) ?? standardRetention.maxBytes,
    },
  };
}
