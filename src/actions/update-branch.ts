import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { requestOf } from '../facts/fact.ts';
import { behind as behindRow, pullRequest } from '../facts/pull-request.ts';
import { ways } from '../facts/ways.ts';
import { indexParams } from '../facts/where.ts';
import { count } from '../platform/count.ts';
import { condition, defineAction } from './action.ts';
import { irreversible } from './inverses.ts';
import { sidesOf, waiting } from './merging.ts';

const UpdateBranch = z.strictObject({
  when: condition().optional().meta({ description: 'It is updated only while this condition holds.' }),
  how: z.enum(['merge', 'rebase']).default('merge').meta({ description: 'How the base gets into the head.' }),
  forks: z.boolean().default(false).meta({
    description:
      'Updates heads in forks as well. The forge may then run workflows of the fork with the rights of Reeve’s account: see the security page.',
  }),
});
type UpdateBranch = z.output<typeof UpdateBranch>;

const pullFact = requestOf(pullRequest);
const behindFact = requestOf(behindRow);

/** Brings the head branch of the pull request up to date with its base. */
export const updateBranch = defineAction<UpdateBranch>({
  name: 'update-branch',
  meaning:
    'Brings the head branch of the open pull request up to date with its base while it is behind and not in conflict. A head in a fork is updated only with `forks: true`, and for rule files of repositories and organizations only if the grant says `forks: true` as well.',
  example: `uses: update-branch
with:
  when: pull_request.labels.exists(l, l.name == "keep-updated")
  how: rebase
`,
  arguments: UpdateBranch,
  of: ['pull_request'],
  ways: { writes: [], after: [ways.basePushed] },
  needs: { access: 'writer', scopes: ['repository'] },
  describesState: true,
  granted: false,
  visibleTo: 'pulls',
  awaitsChecks: true,
  inverses: {
    [operations.updatePull.id]: irreversible('the update of a branch cannot be reverted'),
  },
  adoption: undefined,
  facts: (given) => (given.when === false ? [] : [pullFact]),
  async plan(given, facts) {
    if (given.when === false) return [];
    const pull = await facts.ask(pullFact);
    if (pull.state !== 'open' || pull.merged) return [];
    const { head, base, isFork } = sidesOf(pull);
    const behind = await facts.ask(behindFact);
    const change = {
      action: 'update-branch',
      operation: operations.updatePull.id,
      input: { params: indexParams(facts.subject), query: { style: given.how } },
      target: `update:#${pull.number}`,
      value: { how: given.how },
      before: { head, behind },
      after: { behind: 0 },
      branch: base,
      causes: {
        event: 'updated',
        number: pull.number,
        head,
        ...(isFork || !pull.head?.ref ? {} : { branch: pull.head.ref }),
      },
      ...(isFork ? ({ fork: true } as const) : {}),
      reads: [pullFact, behindFact],
    } as const;
    if (behind === 0) return [{ ...change, already: true, reason: 'it is up to date with its base' }];
    if (isFork && !given.forks) {
      return [waiting(change, 'its head is in a fork, and forks: true is not set')];
    }
    if (pull.mergeable === false) {
      return [waiting(change, 'it conflicts with its base, or the forge has not checked that yet', true)];
    }
    return [{ ...change, reason: `it is ${count(behind, 'commit')} behind ${base}` }];
  },
});
