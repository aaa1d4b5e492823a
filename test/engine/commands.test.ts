import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createActionMemory } from '../../src/actions/memory.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import { makeEventRun } from '../../src/engine/make-run.ts';
import { createFactMemory } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { type PrivilegeSetup, startPrivilegeForge } from '../support/privilege-setup.ts';

const ruleText = (mode: string) => `
version: 1
rules:
  say:
    mode: ${mode}
    on: { issue_comment: [created, edited] }
    if: command("say").found
    steps:
      - uses: comment
        with: { key: said, text: "\${{ command(\\"say\\").text }}" }
  also:
    on: issue_comment.created
    if: command("say").found
    steps: [{ uses: report-issue, with: { key: also, title: also } }]
`;

function rulesOf(mode = 'enforce') {
  const file = loadRuleFile({ path: 'x.yml', text: ruleText(mode), level: 'operator', commit: '', registry });
  if (file.problems.length > 0) throw new Error(JSON.stringify(file.problems));
  return createRuleSet(file.rules);
}

let privilegeForge: Awaited<ReturnType<typeof startPrivilegeForge>>;
let setup: PrivilegeSetup;
beforeAll(async () => {
  privilegeForge = await startPrivilegeForge();
  setup = await privilegeForge.make({ access: 'writer', scopes: ['repository', 'issue'] });
});
afterAll(() => privilegeForge.close());

const params = () => ({ ...setup.at, index: setup.issue });
const memory = createActionMemory();

/** A new comment by ada, and the event that announces it. */
async function comment(body: string) {
  const made = await setup.ada.client.call(operations.createComment, { params: params(), body: { body } });
  const user = { id: setup.ada.id, login: setup.ada.name };
  return parseEvent('issue_comment', {
    action: 'created',
    issue: { number: setup.issue },
    comment: { id: made.id, body, user },
    repository: { id: setup.subjects.issue.repository?.id, full_name: `${setup.at.owner}/${setup.at.repo}` },
    sender: user,
  });
}

async function run(
  event: Awaited<ReturnType<typeof comment>>,
  delivery: string,
  more: { mode?: 'plan'; rules?: string } = {},
) {
  const { run: made } = await makeEventRun(
    event,
    {
      door: 'webhook',
      delivery,
      mode: more.mode ?? 'enforce',
      rules: rulesOf(more.rules),
      maxAnnouncedAgeMs: 86_400_000,
    },
    {
      client: setup.holder.client,
      account: async () => ({ id: setup.holder.id }),
      actionMemory: memory,
      memory: createFactMemory(systemClock),
      clock: systemClock,
    },
  );
  return made;
}

const verdicts = (made: Awaited<ReturnType<typeof run>>) => made.rules.map(({ verdict }) => verdict);
const said = async () =>
  (await setup.ada.client.call(operations.listComments, { params: params() }))
    .filter(({ user }) => user?.id === setup.holder.id)
    .map(({ body }) => body?.split('\n').at(-1));

describe('the commands of a comment', () => {
  it('are executed once by each rule, even if the delivery arrives again', async () => {
    const event = await comment('/say hello');
    const first = await run(event, '1');
    expect(verdicts(first)).toEqual(['matched', 'matched']);
    expect(await said()).toEqual(['hello']);
    const [own] = (await setup.ada.client.call(operations.listComments, { params: params() })).filter(
      ({ user }) => user?.id === setup.holder.id,
    );
    await setup.holder.client.call(operations.deleteComment, { params: { ...setup.at, id: own?.id ?? 0 } });

    const again = await run(event, '2');

    expect(verdicts(again)).toEqual(['unmatched', 'unmatched']);
    expect(await said()).toEqual([]);
    expect(JSON.stringify(again.rules)).toContain('"command(\\"say\\").found":false');
  });

  it('match again in later attempts of the same delivery, without a second effect', async () => {
    const event = await comment('/say twice');
    await run(event, '3');

    expect(verdicts(await run(event, '3'))).toEqual(['matched', 'matched']);
    expect(await said()).toEqual(['twice']);
  });

  it('are not used up by a plan or by a rule in observe mode', async () => {
    const event = await comment('/say later');
    await run(event, '4', { mode: 'plan' });
    await run(event, '5', { rules: 'observe' });

    expect(verdicts(await run(event, '6'))).toEqual(['matched', 'unmatched']);
    expect(await said()).toContain('later');
  });

  it('match no rule if the comment contains none', async () => {
    const event = await comment('nothing to do');

    expect(verdicts(await run(event, '7'))).toEqual(['unmatched', 'unmatched']);
  });
});
