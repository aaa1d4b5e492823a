import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { runRules } from '../../src/engine/run.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { loadRuleFiles } from '../../src/rules/sources/folder.ts';
import { reeve, reeveProcess } from '../support/command.ts';
import { acme, at, type Harness, people, repositoryScopes, startHarness } from '../support/harness.ts';

const rules = `version: 1
rules:
  mark:
    on: issues.opened
    if: event.issue.title != "quiet"
    steps:
      - uses: set-labels
        with: { add: [area/docs], remove: [kept], sync: { area/code: 'event.issue.title.contains("code")' } }
      - uses: comment
        with: { key: hello, text: Welcome. }
`;

let harness: Harness;
let folder: string;
let environment: Harness['environment'];
beforeAll(async () => {
  harness = await startHarness({ rules, scopes: repositoryScopes });
  folder = await mkdtemp(join(tmpdir(), 'reeve-take-back-'));
  environment = harness.environment;
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await harness.close();
});

async function openIssue(title: string): Promise<{ index: number; run: Run }> {
  const seen = harness.runs.length;
  const { number } = await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  const run = await harness.waitForRun(
    (one) => harness.runs.indexOf(one) >= seen && one.trigger.activity === 'opened',
  );
  await harness.idle();
  return { index: number, run };
}

/** Runs the rules of a folder once against the repository, as the server would. */
async function enforce(rulesIn: string): Promise<Run> {
  const files = await loadRuleFiles([rulesIn]);
  expect(files.flatMap(({ problems }) => problems)).toEqual([]);
  const { id } = await harness.root.call(operations.getRepository, { params: at });
  const event = parseEvent('repository', {
    action: 'created',
    repository: { id, full_name: `${acme}/demo`, owner: { id: 1 } },
    sender: { id: 1, login: people.root },
  });
  const client = harness.bot.counted();
  const subject = event.subject ?? { kind: 'repository' as const };
  const { run } = await runRules({
    id: 'protections',
    mode: 'enforce',
    trigger: { door: 'webhook', kind: 'repository', activity: 'created', at: new Date().toISOString() },
    rules: createRuleSet(files.flatMap((file) => file.rules)),
    event,
    facts: createFacts({ client, subject, memory: createFactMemory(systemClock), clock: systemClock }),
    client,
    now: new Date(),
    clock: systemClock,
  });
  return run;
}

const commentsOf = async (index: number): Promise<number> =>
  (await harness.ada.call(operations.listComments, { params: { ...at, index } })).length;

describe('revert', () => {
  it('undoes a run while the server runs, and finds nothing to undo the second time', async () => {
    const { index, run } = await openIssue('some code');
    expect(await harness.labelsOf(index)).toEqual(['area/code', 'area/docs']);
    expect(await commentsOf(index)).toBe(1);
    expect(run.changes.find(({ target }) => target === 'label:area/code')?.reason).toBe(
      'event.issue.title.contains("code") holds',
    );

    const shown = await reeve(['revert', '--plan', run.id], { environment });
    expect(shown.status).toBe(0);
    expect(await harness.labelsOf(index)).toHaveLength(2);
    const done = await reeveProcess(['revert', run.id, '--json'], { environment });

    expect(done.error).toBe('');
    expect(done.status).toBe(0);
    expect(JSON.parse(done.out).outcomes.map(({ status }: { status: string }) => status)).toEqual([
      'applied',
      'applied',
      'applied',
    ]);
    expect(await harness.labelsOf(index)).toEqual([]);
    expect(await commentsOf(index)).toBe(0);
    const again = await reeve(['revert', run.id], { environment });
    expect(again.status).toBe(1);
    expect(again.out).toContain('changed since');
  });

  it('leaves later changes alone, and reverts the rest', async () => {
    const { index, run } = await openIssue('more code');
    const labels = await harness.ada.call(operations.listIssueLabels, { params: { ...at, index } });
    const docs = labels.find(({ name }) => name === 'area/docs')?.id ?? 0;
    await harness.ada.call(operations.removeIssueLabel, { params: { ...at, index, id: docs } });

    const { status, out } = await reeve(['revert', run.id], { environment });

    expect(status).toBe(1);
    expect(out).toContain('label:area/docs');
    expect(out).toContain('changed since: the value is false now');
    expect(await harness.labelsOf(index)).toEqual([]);
  });

  it('restores the previous settings of protections, and deletes those that were created', async () => {
    const params = { ...at, collaborator: people.bot };
    await harness.root.call(operations.putCollaborator, { params, body: { permission: 'admin' } });
    const body = {
      rule_name: 'main',
      required_approvals: 1,
      enable_push: true,
      dismiss_stale_approvals: false,
    };
    await harness.root.call(operations.createBranchProtection, { params: at, body });
    const folderOfRules = await mkdtemp(join(tmpdir(), 'reeve-protections-'));
    await writeFile(
      join(folderOfRules, 'p.yml'),
      `version: 1
rules:
  protect:
    on: repository
    steps:
      - uses: sync-branch-protections
        with:
          protections:
            - { rule_name: main, required_approvals: 2, enable_push_whitelist: true, dismiss_stale_approvals: true }
            - { rule_name: release/*, required_approvals: 3, enable_push: false }
      - uses: protect-tags
        with: { tags: [{ name_pattern: "v*", whitelist_usernames: [${people.ada}] }] }
`,
    );
    const read = async () => ({
      branches: (await harness.root.call(operations.listBranchProtections, { params: at })).map((one) => ({
        name: one.rule_name,
        approvals: one.required_approvals,
        whitelist: one.enable_push_whitelist,
        push: one.enable_push,
        stale: one.dismiss_stale_approvals,
      })),
      tags: (await harness.root.call(operations.listTagProtections, { params: at })).map(
        ({ name_pattern }) => name_pattern,
      ),
    });
    const before = await read();
    const run = await enforce(folderOfRules);
    expect(run.outcomes.map(({ status, error }) => error ?? status)).not.toContain('failed');
    expect(await read()).not.toEqual(before);
    await harness.server.store.appendRuns([run]);

    const { status, out } = await reeve(['revert', run.id], { environment });

    expect([status, out]).toEqual([0, expect.not.stringContaining('refused')]);
    expect(await read()).toEqual(before);
    await rm(folderOfRules, { recursive: true });
  });

  it('reports an unknown run', async () => {
    const { status, error } = await reeve(['revert', 'none'], { environment });

    expect(status).toBe(2);
    expect(error).toContain('there is no run or delivery "none"');
  });
});

describe('explain', () => {
  it('shows the conditions with the values seen, by run, by delivery, and for the newest run', async () => {
    const { run } = await openIssue('quiet');
    const byRun = await reeve(['explain', run.id], { environment });

    expect(byRun.status).toBe(0);
    expect(byRun.out).toContain('mark: unmatched');
    expect(byRun.out).toContain('no: event.issue.title != "quiet"   [event.issue.title = quiet]');
    expect(byRun.out).toContain(`${acme}/demo/.reeve.yml:`);
    const byDelivery = await reeve(['explain', run.trigger.delivery ?? '', '--json'], { environment });
    expect(JSON.parse(byDelivery.out)).toEqual(run);
    expect((await reeve(['explain', 'last'], { environment })).out).toContain(run.id);
    expect((await reeve(['explain', 'nothing'], { environment })).status).toBe(2);
    // The label change is an event as well, and no rule may react to it.
    const { run: changing } = await openIssue('loud');
    await harness.waitForRun(
      ({ rules }) => rules.length > 0 && rules.every(({ reason }) => reason === 'own'),
    );
    await harness.idle();
    expect((await reeve(['explain', 'last'], { environment })).out).toContain(changing.id);
  });
});

describe('replay', () => {
  it('evaluates a stored delivery with the current rules and writes nothing', async () => {
    const { index, run } = await openIssue('plain');
    const before = harness.proxy.passed.length;
    const other = join(folder, 'other.yml');
    await writeFile(other, rules.replace('add: [area/docs]', 'add: [kept]').replace(', remove: [kept]', ''));
    const now = await reeve(['replay', run.trigger.delivery ?? '', '--json'], { environment });
    const tried = await reeve(['replay', run.trigger.delivery ?? '', '--rules', other], { environment });

    expect(JSON.parse(now.out)).toMatchObject({ mode: 'plan', changes: [] });
    expect(tried.out).toContain('+ label:kept');
    expect(await harness.labelsOf(index)).toEqual(['area/docs']);
    expect(harness.proxy.passed.slice(before).filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('evaluates a recorded payload file with rules, without a forge', async () => {
    const recorded = join(folder, 'recorded.json');
    const payload = {
      action: 'opened',
      number: 1,
      issue: { number: 1, title: 'x', labels: [] },
      repository: { id: 1, full_name: `${acme}/demo` },
      sender: { id: 2, login: 'ada' },
    };
    await writeFile(recorded, JSON.stringify({ eventType: 'issues', payload }));
    const path = join(folder, 'labels.yml');
    await writeFile(
      path,
      'version: 1\nrules: { a: { on: issues, steps: [{ uses: set-labels, with: { add: [x] } }] } }\n',
    );
    const { status, out } = await reeve(['replay', recorded, '--rules', path], {});

    expect(status).toBe(0);
    expect(out).toContain('+ label:x');
  });

  it('compares old and new rules on stored deliveries', async () => {
    const path = join(folder, 'new.yml');
    await writeFile(
      path,
      'version: 1\nrules: { new: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [kept] } }] } }\n',
    );
    const { status, out } = await reeve(['replay', '--since', '1h', '--rules', path], { environment });

    expect(status).toBe(0);
    expect(out).toContain('mark: matched → not considered');
    expect(out).toContain('new: not considered → matched');
    expect(out).toMatch(/different: \d+ of \d+ (?:delivery|deliveries) of the last 1h/);
    expect((await reeve(['replay', '--since', 'yesterday'], { environment })).status).toBe(2);
    expect((await reeve(['replay'], { environment })).status).toBe(2);
  });
});

describe('redrive', () => {
  it('restarts a dead delivery while the server runs, and records who did it', async () => {
    const body = JSON.stringify({ action: 'opened', number: 1, issue: { number: 1 } });
    const { id } = await harness.server.store.accept({
      uuid: 'dead',
      eventType: 'issues',
      entry: 'test',
      contentType: 'application/json',
      receivedAt: new Date(),
      body: Buffer.from(body),
    });
    await expect.poll(async () => (await harness.server.store.readDelivery(id))?.state).toBe('dead');
    const { status, out } = await reeve(['redrive', id], { environment });

    expect([status, out]).toEqual([0, '1 delivery will be tried again\n']);
    const after = await harness.server.store.readDelivery(id);
    expect(after?.redrivenBy).toContain('by reeve redrive');
    await expect.poll(async () => (await harness.server.store.readDelivery(id))?.state).toBe('dead');
    expect(JSON.parse((await reeve(['redrive', '--all', '--json'], { environment })).out).redriven).toBe(1);
    expect((await reeve(['redrive', '999999'], { environment })).status).toBe(1);
    expect((await reeve(['redrive'], { environment })).status).toBe(2);
  });
});
