import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createActionMemory } from '../../src/actions/memory.ts';
import type { Client } from '../../src/client/client.ts';
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
    permission: everyone
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

describe('the permission of a commenter', () => {
  const steps = ['first', 'second'].map((key) => `{ uses: comment, with: { key: ${key}, text: ${key} } }`);
  const rules = (permission: string) => {
    const text = `version: 1
rules:
  go:
    on: issue_comment.created
    if: command("go").args == ["now"]
${permission}    steps: [${steps.join(', ')}]
`;
    const file = loadRuleFile({ path: 'x.yml', text, level: 'operator', commit: '', registry });
    return createRuleSet(file.rules);
  };

  /** Runs the rule for a comment by ada; `afterWrite` is called after each write of Reeve. */
  async function go(afterWrite: (of: PrivilegeSetup) => Promise<unknown>, permission = '') {
    const of = await privilegeForge.make({ access: 'admin', scopes: ['repository', 'issue'] });
    const at = { params: { ...of.at, index: of.issue } };
    const made = await of.ada.client.call(operations.createComment, { ...at, body: { body: '/go now' } });
    const user = { id: of.ada.id, login: of.ada.name };
    const event = parseEvent('issue_comment', {
      action: 'created',
      issue: { number: of.issue },
      comment: { id: made.id, body: '/go now', user },
      repository: { id: of.subjects.issue.repository?.id, full_name: `${of.at.owner}/${of.at.repo}` },
      sender: user,
    });
    const { run: ran } = await makeEventRun(
      event,
      {
        door: 'webhook',
        delivery: '1',
        mode: 'enforce',
        rules: rules(permission),
        maxAnnouncedAgeMs: 86_400_000,
      },
      {
        client: watched(of.holder.client, () => afterWrite(of)),
        account: async () => ({ id: of.holder.id }),
        actionMemory: createActionMemory(),
        memory: createFactMemory(systemClock),
        clock: systemClock,
      },
    );
    return ran;
  }

  it('is asked again before each write, so that the rest is not written for someone who lost it', async () => {
    const { rules: judged, outcomes } = await go(({ owner, ada, at }) =>
      owner.client.call(operations.deleteCollaborator, { params: { ...at, collaborator: ada.name } }),
    );

    expect(judged).toMatchObject([{ verdict: 'matched' }]);
    expect(outcomes).toMatchObject([
      { status: 'applied' },
      { status: 'skipped', error: 'the author of the comment no longer has the permission of the rule' },
    ]);
  });

  it('stops the rest if it can no longer be read', async () => {
    const { outcomes } = await go(({ owner, holder, at }) =>
      owner.client.call(operations.putCollaborator, {
        params: { ...at, collaborator: holder.name },
        body: { permission: 'write' },
      }),
    );

    expect(outcomes).toMatchObject([
      { status: 'applied' },
      { status: 'failed', error: expect.stringContaining('administrator access') },
    ]);
  });

  it('is not asked by a rule that obeys everyone', async () => {
    const { outcomes } = await go(
      ({ owner, ada, at }) =>
        owner.client.call(operations.deleteCollaborator, { params: { ...at, collaborator: ada.name } }),
      '    permission: everyone\n',
    );

    expect(outcomes).toMatchObject([{ status: 'applied' }, { status: 'applied' }]);
  });
});

/** Returns a client that calls a function after each write. */
function watched(client: Client, afterWrite: () => Promise<unknown>): Client {
  return new Proxy(client, {
    get(target, key) {
      if (key === 'counted')
        return (options: Parameters<Client['counted']>[0]) => watched(target.counted(options), afterWrite);
      if (key === 'send')
        return async (...given: Parameters<Client['send']>) => {
          const answer = await target.send(...given);
          await afterWrite();
          return answer;
        };
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
