import { type RuleResults, ruleResultsOf } from '../engine/incidents/incident.ts';
import type { Run } from '../engine/record.ts';
import { ReeveError } from '../platform/errors.ts';
import type { SqlRow } from './sql.ts';
import {
  type Delivery,
  type DeliveryState,
  type DeliveryWithBody,
  type Door,
  deliveryStates,
  type EventSummary,
  type NewJob,
  type Routing,
} from './store.ts';

/** The columns that `deliveryOf` reads. */
export const deliveryColumns = `deliveries.id, door, uuid, event_type, entry, content_type, received_at, state, bytes, lane,
  repository_id, repository, attempts, crashes, failing_since, retry_at, settled_at, reason, copy_of, repeat_of, checkpoint,
  redriven_at, redriven_by, summary`;

/** Returns a stored row as a delivery. */
export function deliveryOf(row: SqlRow): Delivery {
  return {
    id: String(row.id),
    door: doorOf(row.door),
    uuid: String(row.uuid),
    eventType: String(row.event_type),
    entry: String(row.entry),
    contentType: String(row.content_type),
    receivedAt: new Date(String(row.received_at)),
    state: stateOf(row.state),
    bytes: Number(row.bytes),
    lane: optionalText(row.lane),
    repositoryId: row.repository_id === null ? undefined : Number(row.repository_id),
    repository: optionalText(row.repository),
    attempts: Number(row.attempts),
    crashes: Number(row.crashes),
    failingSince: dateOf(row.failing_since),
    retryAt: dateOf(row.retry_at),
    settledAt: dateOf(row.settled_at),
    reason: optionalText(row.reason),
    copyOf: optionalText(row.copy_of),
    repeatOf: optionalText(row.repeat_of),
    checkpoint: row.checkpoint === null ? undefined : JSON.parse(String(row.checkpoint)),
    redrivenAt: dateOf(row.redriven_at),
    redrivenBy: optionalText(row.redriven_by),
    summary: summaryOf(row.summary),
  };
}

/** Returns a stored row, which includes the column `body`, as a delivery with its bytes. */
export function deliveryWithBodyOf(row: SqlRow): DeliveryWithBody {
  return { ...deliveryOf(row), body: row.body instanceof Uint8Array ? row.body : new Uint8Array() };
}

/** Returns a stored run, which is plain data written by this program or an earlier version. */
export function runOf(row: SqlRow): Run {
  return JSON.parse(String(row.run)) as Run;
}

/** Returns a stored summary, which this program or another version has encoded. */
function summaryOf(value: unknown): EventSummary | undefined {
  return typeof value === 'string' ? (JSON.parse(value) as EventSummary) : undefined;
}

/** Returns the summary of a routing as stored; null if there is none. */
export function encodeSummary(routing: Routing): string | null {
  return 'summary' in routing && routing.summary !== undefined ? JSON.stringify(routing.summary) : null;
}

function doorOf(value: unknown): Door {
  return value === 'cron' || value === 'cli' ? value : 'webhook';
}

function stateOf(value: unknown): DeliveryState {
  return deliveryStates.find((state) => state === value) ?? 'dead';
}

function optionalText(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

function dateOf(value: unknown): Date | undefined {
  return typeof value === 'string' ? new Date(value) : undefined;
}

/**
 * Returns the group of a lane for round-robin. All lanes of a repository share one group, so that a busy repository
 * cannot starve the others.
 */
export function turnOf(lane: string): string {
  const end = lane.indexOf('#');
  return end === -1 ? lane : lane.slice(0, end);
}

/** Returns the body of a job, which is its payload as JSON. Throws `internal` for a job that cannot be stored. */
export function encodeJob(job: NewJob): Buffer {
  if (job.lane === '') throw new ReeveError('internal', `job ${job.kind} has no lane`);
  const text = JSON.stringify(job.payload ?? null);
  if (text === undefined)
    throw new ReeveError('internal', `the payload of job ${job.kind} is not plain data`);
  return Buffer.from(text);
}

/**
 * An encoded run. Runs are encoded outside the transaction, so that a run that is not plain data fails before any
 * write.
 */
export type EncodedRun = {
  readonly id: string;
  readonly startedAt: string;
  readonly json: string;
  readonly item: string | undefined;
  readonly results: RuleResults;
};

/** Encodes runs for storage. */
export function encodeRuns(runs: readonly Run[], repositoryId?: number): readonly EncodedRun[] {
  return runs.map((run) => ({
    id: run.id,
    startedAt: run.trigger.at,
    json: JSON.stringify(run),
    item: run.trigger.item,
    results: ruleResultsOf(run, { repositoryId }),
  }));
}

/** Maximum number of deliveries that a search without an index examines per call. */
export const searchStretch = 50_000;

/** Maximum number of items of a page. */
export const maxPageSize = 500;

/** Returns the page size: the requested one, up to the maximum. */
export function pageSizeOf(limit: number | undefined): number {
  return Math.min(Math.max(Math.trunc(limit ?? 50), 1), maxPageSize);
}

/** Returns the row number of an id. An id that is not a number matches no row. */
export function rowNumberOf(id: string): number {
  return /^\d{1,15}$/.test(id) ? Number(id) : -1;
}
