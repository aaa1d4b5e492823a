import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { asWritten } from '../contract/written-texts.ts';
import { optionalRequestOf, requestOf } from '../facts/fact.ts';
import { head } from '../facts/head.ts';
import { statuses } from '../facts/statuses.ts';
import { repositoryParams } from '../facts/where.ts';
import { condition, defineAction, template } from './action.ts';
import { type ForgeObject, pathParams, readItems } from './inverses/forms.ts';
import type { Inverse } from './inverses/inverse.ts';
import { askWritten } from './marker.ts';
import type { PlanContext } from './plan-context.ts';

const states = ['pending', 'success', 'error', 'failure', 'warning', 'skipped'] as const;
const said = {
  description: template().max(255).optional().meta({ description: 'One line beside it.' }),
  target_url: template()
    .max(2_000)
    .regex(/^(https?:\/\/|\$\{\{)/, 'an address begins with http:// or https://')
    .optional()
    .meta({ description: 'Where its details are.' }),
};
const SetStatus = z.strictObject({
  context: z.string().min(1).max(255).optional().meta({
    description: 'Name of the status; default, and always in rule files of repositories: `reeve/RULE`.',
  }),
  state: z.enum(states).default('success').meta({ description: 'State of the status.' }),
  ...said,
  when: condition().optional().meta({
    description: 'The status is `state` while this condition holds, and `otherwise` while it does not.',
  }),
  otherwise: z
    .strictObject({ state: z.enum(states), ...said })
    .optional()
    .meta({
      description: 'Default: failure if `state` is success, success for any other state, no description.',
    }),
});
type SetStatus = z.output<typeof SetStatus>;
type StatusState = SetStatus['state'];

const headFact = requestOf(head);
const statusesFact = optionalRequestOf(statuses);

const undoStatus: Inverse = async (change, client) => {
  const params = pathParams(change);
  const name = change.target.slice('status:'.length);
  const all = await readItems(client, operations.listStatuses, { params });
  const newest = all
    .filter(({ context }) => context === name)
    .toSorted((a, b) => Number(b.id) - Number(a.id))[0];
  const { status: state, description, target_url } = newest ?? {};
  return {
    value:
      newest === undefined ? null : { state, description: description ?? '', target_url: target_url ?? '' },
    undo: () =>
      change.before === null
        ? 'a status cannot be taken back, and there was none before'
        : {
            operation: operations.createStatus,
            input: { params, body: { context: name, ...(change.before as ForgeObject) } },
          },
  };
};

/**
 * Sets this status on the subject's newest commit. If another commit is pushed after the evaluation,
 * the status is set on the evaluated one. A status is never deleted: forges cannot do that.
 */
export const setStatus = defineAction<SetStatus>({
  name: 'set-status',
  meaning:
    'Sets this status with `context` on the newest commit of the subject. With `when`, the status depends on the condition. Rule files of repositories write only the context `reeve/RULE`, so that they cannot imitate other checks.',
  example: `uses: set-status
with:
  state: success
  description: The description says what was tested.
  when: repository.description.contains("tested")
  otherwise: { state: failure, description: Please say what was tested. }
`,
  arguments: SetStatus,
  of: ['pull_request', 'branch', 'repository'],
  needs: { access: 'writer', scopes: ['repository'] },
  protects: true,
  describesState: true,
  granted: true,
  visibleTo: 'code',
  inverses: { [operations.createStatus.id]: undoStatus },
  adoption: undefined,
  facts: () => [headFact, statusesFact],
  async plan(given, facts, context) {
    const name = contextOf(given, context);
    const wanted = wantedOf(given);
    // Checked after templates are filled in: users click on this URL.
    if (!/^(https?:\/\/|$)/i.test(wanted.target_url)) {
      throw new Error(`target_url must begin with http:// or https://, not "${wanted.target_url}"`);
    }
    const { sha } = await facts.ask(headFact);
    const all = await askWritten(facts, statusesFact);
    const live = all.find((status) => status.context === name);
    const before = live === undefined ? null : shown(live.status, live.description, live.target_url);
    const already = before !== null && JSON.stringify(before) === JSON.stringify(wanted);
    return [
      {
        action: 'set-status',
        operation: operations.createStatus.id,
        input: { params: { ...repositoryParams(facts.subject), sha }, body: { context: name, ...wanted } },
        target: `status:${name}`,
        value: wanted,
        before,
        after: wanted,
        reason: already ? 'the commit already has this status' : statusReason(given, live?.status),
        reads: [statusesFact],
        ...(isGreen(before?.state) && !isGreen(wanted.state) ? { protects: 'tightens' } : {}),
        ...(already ? { already } : {}),
      },
    ];
  },
});

/** A user who can push to a default branch must not be able to imitate another check. */
function contextOf({ context: name }: SetStatus, { rule, level }: PlanContext): string {
  return level === 'operator' && name !== undefined ? asStatus('context', name) : `reeve/${rule}`;
}

/** Whether forges let a pull request be merged with a required status of this state. */
function isGreen(state: string | undefined): boolean {
  return state === 'success' || state === 'skipped' || state === 'warning';
}

function wantedOf(given: SetStatus) {
  const isMain = given.when ?? true;
  const { state, description, target_url } = isMain
    ? given
    : (given.otherwise ?? { state: opposite(given.state) });
  return shown(state, asStatus('description', description ?? ''), asStatus('target_url', target_url ?? ''));
}

function asStatus(member: string, text: string): string {
  return asWritten(operations.createStatus, member, text);
}

function opposite(state: StatusState): StatusState {
  return state === 'success' ? 'failure' : 'success';
}

function shown(
  state: string | null | undefined,
  description: string | null | undefined,
  address: string | null | undefined,
) {
  return { state: state ?? '', description: description ?? '', target_url: address ?? '' };
}

function statusReason({ when }: SetStatus, live: string | null | undefined): string {
  const why =
    when === undefined ? 'the rule wants it' : when ? 'its condition holds' : 'its condition does not hold';
  return live ? `${why}, and the status is ${live}` : `${why}, and the commit has no such status`;
}
