import type { Verdict } from '../rules/verdict.ts';
import type { Applied } from './apply.ts';
import type { Plan } from './proposal.ts';
import type { Outcome, Run } from './record.ts';
import { asSent, recordChange, recordChanges } from './record-changes.ts';
import type { RunInput } from './run-input.ts';

/** The record of a run whose changes are not made yet. */
type PlannedRun = {
  /** Returns the record with what became of the changes. */
  complete(applied: Applied): Run;
};

/** Records what a run planned, before anything is written: the facts that requests are computed from change with the writes. */
export async function recordRun(options: {
  readonly input: RunInput;
  readonly plan: Plan;
  readonly verdicts: readonly Verdict[];
  /** When the run began, by its monotonic clock. */
  readonly startedMs: number;
}): Promise<PlannedRun> {
  const { input, plan, verdicts, startedMs } = options;
  const { id, mode, trigger, client, clock } = input;
  const shown = await recordChanges(plan.changes, input.facts);
  return {
    complete: ({ outcomes, sent }) => ({
      schema: 1,
      id,
      mode,
      trigger,
      rules: verdicts,
      changes: shown.map((change) => asSent(change, sent.get(change.id))),
      refused: plan.refused.map(({ planned, why, until, account }) => ({
        change: recordChange(planned, planned.change.input),
        why,
        ...(until === undefined ? {} : { until }),
        ...(account === undefined ? {} : { account }),
      })),
      outcomes: plan.changes.map(
        (planned): Outcome =>
          outcomes.find(({ change }) => change === planned.id) ?? { change: planned.id, status: 'planned' },
      ),
      requests: client?.requests ?? 0,
      ...recordRequests(input),
      ms: Math.round(clock.monotonicMs() - startedMs),
    }),
  };
}

/** Characters of the forge's message that are kept with a request. */
const maxErrorLength = 200;

/** Returns the requests of a run so far. A forge may repeat in an error what it was sent: no value of a secret is kept. */
export function recordRequests({
  client,
  secrets,
}: Pick<RunInput, 'client' | 'secrets'>): Pick<Run, 'forgeRequests' | 'forgeRequestsLeftOut'> {
  if (client === undefined) return {};
  const { requests, leftOut } = client.requestList;
  const redact = (text: string): string => secrets?.redact(text) ?? text;
  return {
    forgeRequests: requests.map(({ path, error, ...request }) => ({
      ...request,
      path: redact(path),
      ...(error === undefined ? {} : { error: redact(error).slice(0, maxErrorLength) }),
    })),
    ...(leftOut === 0 ? {} : { forgeRequestsLeftOut: leftOut }),
  };
}
