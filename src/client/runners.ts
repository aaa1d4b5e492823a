import { isRecord } from '../contract/events/payload-members.ts';
/**
 * Normalizes an answer about runners to the baseline's form: Forgejo answers a bare
 * list, labels as texts, and `idle` or `active` for a runner that is online.
 */
export function normalizeRunners(answer: unknown): unknown {
  if (Array.isArray(answer)) return { runners: answer.map(normalizeRunner) };
  return isRecord(answer) && 'status' in answer ? normalizeRunner(answer) : answer;
}

function normalizeRunner(runner: unknown): unknown {
  if (!isRecord(runner)) return runner;
  const { status, labels } = runner;
  return {
    ...runner,
    ...((status === 'idle' || status === 'active') && { status: 'online', busy: status === 'active' }),
    ...(Array.isArray(labels) && {
      labels: labels.map((label: unknown) => (typeof label === 'string' ? { name: label } : label)),
    }),
  };
}
