import type { ActionMemory } from '../../actions/memory.ts';
import { readMember } from '../../contract/events/payload-members.ts';
import type { Subject, SubjectKind } from '../../contract/events/subject.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import { makeItemRun } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import { findHeld, listOpenPulls } from '../../engine/same-commit.ts';
import type { ReeveError } from '../../platform/errors.ts';
import { createRuleSet, type LoadedRule, type RuleSet, subjectKindFor, visits } from '../../rules/rule.ts';
import type { AdmittedEvent } from '../../rules/sources/admission.ts';
import type { Handled } from '../../store/leases.ts';
import type { Delivery } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';
import { isTelling, type LeaveWaiting } from './waiting.ts';

/** Kind of the runs for other pull requests at the same commit. */
const peersKind = 'same-commit';
/** Maximum number of pull requests evaluated for one event. If more share a commit, none of them passes. */
const maxPeers = 51;

/**
 * Evaluates the other pull requests whose head is a commit that an event about a pull request concerns, because their
 * results are part of the statuses of that commit. This happens for every event, regardless of the events that the
 * rules match.
 */
export type JudgePeers = (
  delivery: Delivery,
  event: AdmittedEvent,
  parts: { readonly rules: RuleSet; readonly signal: AbortSignal | undefined },
) => Promise<Handled & { readonly retry?: ReeveError | undefined }>;

/** Creates the function that evaluates other pull requests at the same commit. */
export function createJudgePeers(reeve: Reeve, leaveWaiting: LeaveWaiting): JudgePeers {
  const { client, actionMemory: stored } = reeve;
  return async (delivery, event, { rules: all, signal }) => {
    const { subject, repository } = event;
    const rules = subject.kind === 'pull_request' ? judgingRules(all) : [];
    if (rules.length === 0) return { runs: [] };
    const held = await findHeld(stored, subject);
    const commits = new Set([...commitsOf(event), ...(held ? [held.sha] : [])]);
    if (commits.size === 0) return { runs: [] };
    const open = await listOpenPulls(client.counted({ signal }), subject);
    const peers = [...commits].flatMap((sha) => peersAt(open, sha, subject.index)).slice(0, maxPeers);
    const touched = new Set<string>();
    const actionMemory: ActionMemory = {
      get: (key) => stored.get(key),
      async set(key, value) {
        touched.add(key);
        await stored.set(key, value);
      },
      revise: (key, edit) => stored.revise(key, edit),
    };
    const runs: Run[] = [];
    let deferral: Handled['deferral'];
    for (const { number } of peers) {
      const item = `${repository.owner}/${repository.name}#${number}`;
      const about: Subject = { kind: 'pull_request', repository, index: number };
      const ran = await makeItemRun(
        { key: item, subject: about, value: {}, kind: peersKind },
        {
          mode: 'enforce',
          door: delivery.door,
          delivery: delivery.id,
          rules: createRuleSet(rules),
          signal,
        },
        { ...reeve, actionMemory },
      );
      reeve.metrics.countRun(ran.run, event);
      if (isTelling(ran.run)) runs.push(ran.run);
      await leaveWaiting(ran, { subject: about, job: delivery });
      if (ran.retry) return { runs, retry: ran.retry };
      deferral ??= ran.deferral;
    }
    // Pull requests that are still blocked have been stored again.
    if (held && !touched.has(held.key)) await stored.set(held.key, undefined);
    return { runs, deferral };
  };
}

const reduced = new WeakMap<LoadedRule, LoadedRule>();

/**
 * Returns the rules that decide about commits of pull requests, reduced to the steps that do so, because the other
 * steps are not repeated.
 */
function judgingRules({ rules }: RuleSet): readonly LoadedRule[] {
  return rules.flatMap((rule) => {
    if (rule.mode !== 'enforce' || !isAboutPulls(rule)) return [];
    const known = reduced.get(rule);
    if (known) return [known];
    const steps = rule.steps.filter(({ action }) => action.ofCommit);
    if (steps.length === 0) return [];
    const part = { ...rule, steps };
    reduced.set(rule, part);
    return [part];
  });
}

function isAboutPulls(rule: LoadedRule): boolean {
  const kind: SubjectKind = 'pull_request';
  return visits(rule, kind) || rule.on.some(({ family }) => subjectKindFor(rule, family) === kind);
}

const concerning: readonly string[] = ['opened', 'reopened', 'closed', 'synchronized', 'edited'];

/** Returns the commits whose pull requests are affected by an event. */
function commitsOf({ family, activity, payload }: AdmittedEvent): readonly string[] {
  if (family !== 'pull_request' || !concerning.includes(activity)) return [];
  const { changes, before } = payload;
  // If the edited fields are known, only a changed base affects other pull requests.
  const isEdit = activity === 'edited' && typeof changes === 'object' && changes !== null;
  if (isEdit && readMember(changes, 'ref') === undefined) return [];
  const head = readMember(readMember(payload.pull_request, 'head'), 'sha');
  return [head, activity === 'synchronized' ? before : undefined].filter(isCommit);
}

function isCommit(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(value) && !/^0+$/.test(value);
}

/**
 * Returns the pull requests with this head commit. Returns none if only the event's own pull request has it, because
 * its own rules evaluate that one.
 */
function peersAt(
  open: readonly PullRequest[],
  sha: string,
  index: number | undefined,
): readonly PullRequest[] {
  const found = open.filter(({ head }) => head?.sha === sha);
  return found.some(({ number }) => number !== index) ? found : [];
}
