import { afterEach, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { eventAbout } from '../../src/rules/sources/admission.ts';
import { createRuleSource } from '../../src/rules/sources/rule-source.ts';
import { cloneRepository } from '../support/git-client.ts';
import {
  acme,
  at,
  authorization,
  type Harness,
  people,
  repositoryScopes,
  secret,
  startHarness,
} from '../support/harness.ts';

let harness: Harness;
afterEach(() => harness.close());

const shared = { owner: acme, repo: '.reeve' };
const organizations = [{ name: acme, rules: `${acme}/.reeve` }];
const packOf = (label: string): string => `version: 1
params: { label: { type: string, default: ${label} } }
rules: { add: { on: issues.opened, steps: [{ uses: set-labels, with: { add: ["\${{ params.label }}"] } }] } }
`;
const including = (entry: string): string => `version: 1\ninclude: [{ ${entry} }]\n`;

/** Writes a file and waits until the bot has received the push, because a server announces pushes later than issues. */
async function putFile(
  where: { owner: string; repo: string },
  filepath: string,
  text: string,
): Promise<void> {
  const params = { ...where, filepath };
  const content = Buffer.from(text).toString('base64');
  const live = await harness.root.call(operations.getContents, { params }).catch(() => undefined);
  const sha = live === undefined || Array.isArray(live) ? undefined : live.sha;
  const body = { content, message: 'x' };
  await harness.waitForPush(() =>
    sha
      ? harness.root.call(operations.updateFile, { params, body: { ...body, sha } })
      : harness.root.call(operations.createFile, { params, body }),
  );
}

async function removeFile(where: { owner: string; repo: string }, filepath: string): Promise<void> {
  const params = { ...where, filepath };
  const live = await harness.root.call(operations.getContents, { params });
  const sha = Array.isArray(live) ? '' : (live.sha ?? '');
  await harness.waitForPush(() =>
    harness.root.call(operations.deleteFile, { params, body: { message: 'x', sha } }),
  );
}

async function makeShared(isPrivate = false): Promise<void> {
  await harness.root.call(operations.createOrganizationRepository, {
    params: { org: acme },
    body: { name: '.reeve', auto_init: true, default_branch: 'main', private: isPrivate },
  });
  await harness.root.call(operations.createHook, {
    params: shared,
    body: {
      type: 'gitea',
      active: true,
      events: ['push'],
      config: { url: `${harness.server.url}/webhook`, content_type: 'json', secret },
      authorization_header: authorization,
    },
  });
}

async function openIssue(
  title: string,
  where: { owner: string; repo: string } = at,
): Promise<{ labels: readonly string[]; run: Run }> {
  await harness.idle();
  const seen = harness.runs.length;
  const { number: index } = await harness.ada.call(operations.createIssue, {
    params: where,
    body: { title },
  });
  const run = await harness.waitForRun(
    (one) => harness.runs.indexOf(one) >= seen && one.trigger.activity === 'opened',
  );
  await harness.idle();
  const labels = await harness.ada.call(operations.listIssueLabels, { params: { ...where, index } });
  return { labels: labels.map(({ name }) => name), run };
}

it("an organization's pack takes effect in a repository that includes it, and a change or removal of the pack at the next event", async () => {
  harness = await startHarness({ rules: including('name: greet'), server: { organizations } });
  await makeShared();
  await putFile(shared, 'rules/packs/greet.yml', packOf('kept'));

  const observed = await openIssue('the include does not say enforce');
  expect(observed.labels).toEqual([]);
  expect(observed.run.rules).toMatchObject([
    { rule: `${acme}/demo/.reeve.yml#greet/add`, verdict: 'matched' },
  ]);
  expect(observed.run.changes).toMatchObject([{ observed: true }]);

  await harness.setRules(including('name: greet, mode: enforce'));
  expect((await openIssue('with the default')).labels).toEqual(['kept']);

  await putFile(shared, 'rules/packs/greet.yml', packOf('area/code'));
  expect((await openIssue('with the new default')).labels).toEqual(['area/code']);

  await removeFile(shared, 'rules/packs/greet.yml');
  const without = await openIssue('without the pack');
  expect(without.labels).toEqual([]);
  expect(without.run.rules[0]).toMatchObject({ verdict: 'failed', source: `${acme}/demo/.reeve.yml` });
  expect(without.run.rules[0]?.reason).toContain('there is no pack "greet"');

  await putFile(shared, 'rules/packs/greet.yml', packOf('kept'));
  expect((await openIssue('the pack is back')).labels).toEqual(['kept']);
});

it('a pack that three repositories include, one of them through another pack, is changed by one push, and takes effect in all at the next event', async () => {
  const others = [
    { owner: acme, repo: 'second' },
    { owner: acme, repo: 'third' },
  ] as const;
  const [second, third] = others;
  const rules = including('name: greet, mode: enforce');
  harness = await startHarness({
    rules,
    hook: 'organization',
    server: { organizations, repositories: others.map(({ repo }) => `${acme}/${repo}`) },
  });
  for (const other of others) {
    await harness.root.call(operations.createOrganizationRepository, {
      params: { org: acme },
      body: { name: other.repo, auto_init: true, default_branch: 'main' },
    });
    await harness.root.call(operations.putCollaborator, {
      params: { ...other, collaborator: people.bot },
      body: { permission: 'write' },
    });
    for (const name of ['kept', 'area/code'])
      await harness.root.call(operations.createLabel, { params: other, body: { name, color: 'ff0000' } });
  }
  await makeShared();
  await putFile(shared, 'rules/packs/greet.yml', packOf('kept'));
  await putFile(shared, 'rules/packs/outer.yml', including('name: inner, file: greet.yml, mode: enforce'));
  await putFile(second, '.reeve.yml', rules);
  await putFile(third, '.reeve.yml', including('name: outer, mode: enforce'));
  const labelsInAll = async (title: string) => [
    (await openIssue(title)).labels,
    (await openIssue(title, second)).labels,
    (await openIssue(title, third)).labels,
  ];
  expect(await labelsInAll('before')).toEqual([['kept'], ['kept'], ['kept']]);
  const from = harness.proxy.passed.length;
  expect(await labelsInAll('cached')).toEqual([['kept'], ['kept'], ['kept']]);
  const filesAsked = (since: number): readonly string[] =>
    harness.proxy.passed
      .slice(since)
      .flatMap(({ path }) => /\/repos\/[^/]+\/([^/]+\/contents\/[^?]*)/.exec(path)?.[1] ?? []);
  expect(filesAsked(from)).toEqual([]);

  const clone = await cloneRepository(harness.cloneFrom(people.root, `${acme}/.reeve`));
  try {
    await clone.commit({ 'rules/packs/greet.yml': packOf('area/code') });
    await harness.waitForPush(() => clone.git('push', '--quiet', 'origin', 'main'));
  } finally {
    clone.remove();
  }

  const since = harness.proxy.passed.length;
  expect(await labelsInAll('after')).toEqual([['area/code'], ['area/code'], ['area/code']]);
  // Each file is read once for all repositories that include it.
  const asked = filesAsked(since).filter((path) => path.startsWith('.reeve/'));
  expect(asked).toContain('.reeve/contents/rules/packs/greet.yml');
  expect(new Set(asked).size).toBe(asked.length);
});

it("an organization's file can include its packs for all of its repositories", async () => {
  harness = await startHarness({ server: { organizations } });
  await makeShared();
  await putFile(
    shared,
    'rules/all.yml',
    including('name: g, file: packs/greet.yml, with: { label: kept }, mode: enforce'),
  );
  await putFile(shared, 'rules/packs/greet.yml', packOf('area/code'));

  const { labels, run } = await openIssue('one');

  expect(labels).toEqual(['kept']);
  expect(run.rules.map(({ rule }) => rule)).toEqual([`${acme}/.reeve/rules/all.yml#g/add`]);
});

it('the report to a repository names the pack, but shows no text of a pack that some of its readers cannot read', async () => {
  harness = await startHarness({
    rules: including('name: greet'),
    scopes: repositoryScopes,
    server: { organizations },
  });
  await makeShared(true);
  await harness.root.call(operations.putCollaborator, {
    params: { ...shared, collaborator: people.bot },
    body: { permission: 'read' },
  });
  await putFile(shared, 'rules/packs/greet.yml', packOf('kept').replace('uses', 'confidential'));

  const { run } = await openIssue('one');

  expect(run.rules[0]?.reason).toContain('the pack "greet" cannot be included');
  expect(run.rules.map(({ reason }) => reason).join()).not.toContain('confidential');
});

it('every process uses a changed pack within ten seconds of the push', async () => {
  harness = await startHarness({ rules: including('name: greet, mode: enforce') });
  await makeShared();
  await putFile(shared, 'rules/packs/greet.yml', packOf('kept'));
  const stored = new Map<string, unknown>();
  const pins = {
    recall: async (key: string) => stored.get(key),
    remember: async (key: string, value: unknown) => void stored.set(key, value),
    async revise(key: string, edit: (value: unknown) => unknown) {
      stored.set(key, edit(stored.get(key)));
      return stored.get(key);
    },
  };
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const start = () =>
    createRuleSource({ client: harness.root, operatorRules: [], organizations, pins, clock });
  const [first, second] = [start(), start()];
  const repositoryOf = async ({ owner, repo }: { owner: string; repo: string }) => {
    const live = await harness.root.call(operations.getRepository, { params: { owner, repo } });
    return { id: live.id, owner: live.owner.login, name: live.name };
  };
  const place = await repositoryOf(at);
  const full = (name: string, id: number) => ({ id, full_name: name, default_branch: 'main' });
  const opened = parseEvent('issues', {
    action: 'opened',
    number: 1,
    issue: { number: 1 },
    repository: full(`${at.owner}/${at.repo}`, place.id),
  });
  const event = eventAbout(opened, opened.subject ?? { kind: 'issue' }, place);
  const labelsOf = async (source: typeof first): Promise<unknown> => {
    const { rules, broken } = await source.rulesFor(event);
    expect(broken).toEqual([]);
    return rules.rules.flatMap(({ steps }) => steps.map((step) => step.arguments.written));
  };
  expect([await labelsOf(first), await labelsOf(second)]).toEqual([[{ add: ['kept'] }], [{ add: ['kept'] }]]);
  nowMs += 60_000;
  expect(await labelsOf(second)).toEqual([{ add: ['kept'] }]);

  await putFile(shared, 'rules/packs/greet.yml', packOf('area/code'));
  const { id } = await repositoryOf(shared);
  const pushed = { ref: 'refs/heads/main', before: '0', after: '1', repository: full(`${acme}/.reeve`, id) };
  first.noteUnserved(parseEvent('push', pushed));

  expect(await labelsOf(first)).toEqual([{ add: ['area/code'] }]);
  nowMs += 10_000;
  expect(await labelsOf(second)).toEqual([{ add: ['area/code'] }]);
});
