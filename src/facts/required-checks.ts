import { z } from 'zod';
import type { CommitStatus } from '../contract/resources/statuses.ts';
import { list, text } from '../contract/shape.ts';
import { compileForgeGlob } from '../patterns/forge-glob.ts';
import type { Meter } from '../patterns/meter.ts';
import { baseBranch } from './base-branch.ts';
import { defineFact, requestOf } from './fact.ts';
import { statuses as statusesRow } from './statuses.ts';

const RequiredCheck = z.object({
  /** The context that the base branch requires, as it is written there: a glob. */
  context: text,
  state: z.enum(['success', 'pending', 'failure']),
});
type RequiredCheck = z.output<typeof RequiredCheck>;

/** The checks that the base branch requires, with their state on the head. */
export const requiredChecks = defineFact({
  name: 'required_checks',
  meaning:
    'The contexts that the base branch requires, each with its `state` on the head commit: `success`, `pending` or `failure`. A context is a glob and needs at least one status; without one it is pending. Skipped counts as success. If the branch requires checks and names no context, all statuses count, under the context `*`. Empty if the branch requires none.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(RequiredCheck),
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 3,
  example: 'required_checks.all(c, c.state == "success")',
  complete: (written) =>
    typeof written === 'object' && written !== null && !Array.isArray(written)
      ? Object.entries(written).map(([context, state]) => ({ context, state }))
      : written,
  async ask({ ask, meter }) {
    const base = await ask(requestOf(baseBranch));
    if (!base.enable_status_check) return [];
    const contexts = base.status_check_contexts ?? [];
    const all = await ask(requestOf(statusesRow));
    return (contexts.length === 0 ? ['*'] : contexts).map((context) => stateOf(context, all, meter));
  },
});

/** A glob that is broken matches nothing on the forge, and so stays pending. */
function stateOf(context: string, all: readonly CommitStatus[], meter: Meter): RequiredCheck {
  const matches = compileForgeGlob(context, '');
  const found = matches ? all.filter((status) => matches(status.context ?? '', meter)) : [];
  return { context, state: combineChecks(found.map(({ status }) => status ?? '')) };
}

function combineChecks(states: readonly string[]): RequiredCheck['state'] {
  if (states.some((state) => ['error', 'failure', 'warning'].includes(state))) return 'failure';
  const isPassed = states.length > 0 && states.every((state) => state === 'success' || state === 'skipped');
  return isPassed ? 'success' : 'pending';
}
