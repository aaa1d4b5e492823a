import { expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { type SweepStage, setSweepStage } from '../support/sweep-stage.ts';

const demo = { owner: 'acme', repo: 'demo' } as const;
const events = 500;
const rules = `
version: 1
rules:
  triage:
    on: { issues: [opened, edited, reopened, closed] }
    steps:
      - uses: set-labels
        with:
          sync:
            bug: issue.title.contains("crash")
            done: issue.state == "closed"
`;

/** Tells the bot, by catching up, what happened so far. */
const catchUp = async (stage: SweepStage, name: string): Promise<void> => {
  const about = { uuid: `catch-up@${name}`, kind: 'catch-up', lane: 'catch-up', receivedAt: stage.now() };
  await stage.store.enqueue({ door: 'cron', payload: {}, ...about });
  await stage.work();
};

/** Does 500 things to 100 issues, always the same ones; returns labels and states of all issues at the end. */
const play = async (everyStep: number): Promise<readonly string[]> => {
  const stage = await setSweepStage();
  try {
    stage.setRules(rules);
    for (const name of ['bug', 'done']) {
      await stage.bot.call(operations.createLabel, { params: demo, body: { name, color: 'ff0000' } });
    }
    await catchUp(stage, 'baseline');
    for (let step = 0; step < events; step += 1) {
      stage.pass(1);
      const index = (step % 100) + 1;
      const round = Math.floor(step / 100);
      const params = { ...demo, index };
      if (round === 0)
        await stage.root.call(operations.createIssue, { params: demo, body: { title: `Issue ${index}` } });
      else if (round === 1)
        await stage.root.call(operations.editIssue, {
          params,
          body: { title: index % 2 ? 'crash' : 'calm' },
        });
      else if (round === 2)
        await stage.root.call(operations.editIssue, {
          params,
          body: { state: index % 3 ? 'closed' : 'open' },
        });
      else if (round === 3)
        await stage.root.call(operations.editIssue, {
          params,
          body: { state: index % 5 ? 'open' : 'closed' },
        });
      else
        await stage.root.call(operations.editIssue, {
          params,
          body: { title: index % 7 ? 'calm' : 'crash' },
        });
      if (step % everyStep === everyStep - 1) await catchUp(stage, String(step));
    }
    stage.pass(1);
    await catchUp(stage, 'end');
    const found: string[] = [];
    for await (const { number, title, state, labels } of stage.root.items(operations.listIssues, {
      params: demo,
      query: { state: 'all', type: 'issues' },
    })) {
      const names = labels.map(({ name }) => name).toSorted();
      found.push(`${number} ${title} ${state} ${names.join(' ')}`);
    }
    return found.toSorted();
  } finally {
    await stage.close();
  }
};

it('ends up the same after 500 events that nobody heard as when they were looked for all along', async () => {
  const down = await play(events + 1);
  const up = await play(25);

  expect(down).toHaveLength(100);
  expect(down).toEqual(up);
  for (const line of down) {
    expect(line.includes('crash')).toBe(line.includes('bug'));
    expect(line.includes(' closed ')).toBe(line.includes('done'));
  }
}, 120_000);
