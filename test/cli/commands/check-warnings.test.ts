import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/rules/problem.ts';
import { reeve } from '../../support/command.ts';
import { type Account, type ContractForge, startEmbedded } from '../../support/contract-forge.ts';

let forge: ContractForge;
let bot: Account;
let folder: string;
beforeAll(async () => {
  forge = await startEmbedded();
  bot = await forge.makeUser();
});
afterAll(() => forge.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-warnings-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function check(rules: string, args: readonly string[] = [], environment: Record<string, string> = {}) {
  const path = join(folder, 'rules.yml');
  await writeFile(path, `version: 1\nrules:\n${rules}`);
  const { status, out, error } = await reeve(['check', '--json', ...args, path], { environment });
  const { problems, warnings }: { problems: readonly Problem[]; warnings: readonly Problem[] } = JSON.parse(
    out || '{}',
  );
  return {
    status,
    error,
    problems,
    // The events that a list misses have tests of their own (test/rules/files/automatic-events.test.ts).
    warnings: warnings
      .filter(({ code }) => code !== 'unheard-change')
      .map(({ line, code, message }) => `${line} ${code}: ${message}`),
  };
}

const label = (name: string, key: string, of: string, more = ''): string =>
  `  ${name}: { on: ${of}, ${more} steps: [{ uses: set-labels, with: { ${key}: [bug] } }] }\n`;

it('a rule with on: auto that reads what a rule of another file changes is a warning, where both are in force', async () => {
  const file = (name: string, step: string) =>
    writeFile(
      join(folder, name),
      `version: 1\nrules:\n  ${name.replace('.yml', '')}: { on: auto, steps: [${step}] }\n`,
    );
  await file('labeller.yml', '{ uses: set-labels, with: { sync: { docs: touches("docs/**") } } }');
  await file('gate.yml', '{ uses: set-status, with: { state: success, when: labelled("docs") } }');
  const warnings = async (args: readonly string[], environment: Record<string, string>) => {
    const { out } = await reeve(['check', '--json', ...args], { environment });
    return (JSON.parse(out).warnings as readonly Problem[]).map(({ code, path }) => `${code} ${path}`);
  };

  expect(await warnings([], { REEVE_RULES: folder })).toEqual([`own-change ${join(folder, 'gate.yml')}`]);
  // A pack is not in force by itself.
  await mkdir(join(folder, 'packs'));
  await rename(join(folder, 'labeller.yml'), join(folder, 'packs/labeller.yml'));
  expect(await warnings([], { REEVE_RULES: folder })).toEqual([]);
  expect(await warnings([folder], {})).toEqual([]);
});

it('a path after --repository is refused, with what to write', async () => {
  const environment = { FORGE_URL: forge.url, FORGE_TOKEN: bot.token };
  const rules = label('one', 'remove', 'issues.opened');
  await check(rules);
  const path = join(folder, 'rules.yml');
  const repository = await forge.makeRepository(bot);

  const swallowed = await reeve(['check', '--repository', repository, 'r.yml'], { environment });
  const inFolder = await reeve(['check', '--repository', repository, path], { environment });
  const separated = await reeve(['check', '--repository', repository, '--', path], { environment });

  expect(swallowed).toMatchObject({
    status: 2,
    error: expect.stringContaining('r.yml is not OWNER/NAME; put -- before the paths'),
  });
  expect(inFolder).toMatchObject({ status: 2, error: expect.stringContaining('put -- before the paths') });
  expect(separated).toMatchObject({ status: 0, error: '' });
});

describe('a merge that is less safe than it looks', () => {
  const rules = (when: string, more = '') =>
    `  auto: { on: [pull_request, pull_request_review], steps: [{ uses: merge, with: { when: '${when}' } }] }\n${more}`;
  const gate =
    "  gate: { on: pull_request, steps: [{ uses: set-status, with: { when: '!pull_request.draft' } }] }\n";

  it('causes a warning if its condition counts reviews', async () => {
    const found = await check(rules('reviews.exists(r, r.state == "APPROVED")'));

    expect(found).toMatchObject({ status: 0, problems: [] });
    expect(found.warnings).toEqual([
      expect.stringContaining('3 merge-reviews: a merge should count approvals'),
    ]);
  });

  it.each([
    'reviews.size() > 0',
    'reviews.exists(r, r.state != "REQUEST_CHANGES")',
    'reviews.filter(r, r.state == "APPROVED").size() >= 2',
    '2 <= size(reviews.filter(r, r.state == "APPROVED"))',
    'reviews.all(r, r.state == "APPROVED")',
    'reviews.exists_one(r, r.official)',
    '!(reviews.size() == 0)',
    '!pull_request.draft || !reviews.all(r, r.dismissed)',
    '"APPROVED" in reviews.map(r, r.state)',
  ])('causes a warning with %s', async (when) => {
    expect((await check(rules(when))).warnings).toEqual([expect.stringContaining('merge-reviews')]);
  });

  it.each([
    '!reviews.exists(r, r.state == "REQUEST_CHANGES" && !r.dismissed)',
    'approvals.size() > 0 && !reviews.exists(r, r.state == "REQUEST_CHANGES")',
    'reviews.filter(r, r.state == "REQUEST_CHANGES").size() == 0',
    '!(reviews.filter(r, r.state == "REQUEST_CHANGES").size() > 0)',
    '1 > size(reviews.filter(r, r.state == "REQUEST_CHANGES"))',
    'reviews.all(r, r.state != "REQUEST_CHANGES")',
    'approvals.size() > 0 && reviews.all(r, r.state == "APPROVED" || r.state == "COMMENT")',
    'pull_request.title != "reviews"',
    'approvals.size() > 0 && rejections.size() == 0',
  ])('causes no warning with %s, where more reviews can only block the merge', async (when) => {
    expect(await check(rules(when))).toMatchObject({ status: 0, problems: [], warnings: [] });
  });

  it('causes a warning if only a string literal names the statuses', async () => {
    const found = await check(rules('pull_request.title != "statuses and required_checks"', gate));

    expect(found.warnings).toEqual([expect.stringContaining('3 merge-gate: ')]);
  });

  it('causes a warning if it relies on the status of another rule to hold it back', async () => {
    const found = await check(rules('!pull_request.draft', gate));

    expect(found.warnings).toEqual([
      expect.stringContaining('3 merge-gate: a failed rule blocks only itself: the status of rule gate'),
    ]);
  });

  it('causes no warning if its condition checks the statuses', async () => {
    const found = await check(rules('statuses.all(s, s.status == "success")', gate));

    expect(found.warnings.filter((warning) => warning.includes('merge-'))).toEqual([]);
  });
});

describe('a gate that sees a renamed file only by its new name', () => {
  const gate = (action: string, when: string) =>
    `  gate: { on: pull_request, steps: [{ uses: ${action}, with: { when: '${when}' } }] }\n`;
  const newName = 'files.exists(f, f.filename.glob("src/**"))';
  const both =
    'files.exists(f, f.filename.glob("src/**") || has(f.previous_filename) && f.previous_filename.glob("src/**"))';

  const warned = async (when: string) =>
    (await check(gate('set-status', when))).warnings.filter((warning) => warning.includes('renamed-files'));

  it.each([
    'files.map(f, f.filename).exists(name, name.glob("src/**"))',
    'files.filter(f, f["filename"].startsWith("src/")).size() > 0',
    'files.exists(f, f.filename .glob("src/**"))',
    'files.exists(f, f.filename.endsWith(".sql")) || pull_request.title == "previous_filename"',
    'commits.exists(c, c.files.exists(f, f.filename.matches("^src/")))',
  ])('causes a warning with %s', async (when) => {
    expect(await warned(when)).toHaveLength(1);
  });

  it.each([
    'pull_request.title != "f.filename.glob(x)"',
    'pull_request.title.contains("f.filename.startsWith( and so on")',
    'files.exists(f, f.filename == "CHANGELOG.md")',
    'files.exists(f, [f.filename, has(f.previous_filename) ? f["previous_filename"] : ""].exists(n, n.glob("src/**")))',
  ])('causes no warning with %s', async (when) => {
    expect(await warned(when)).toEqual([]);
  });

  it.each(['set-status', 'merge', 'queue-merge'])('causes a warning in %s', async (action) => {
    const renamed = async (when: string) =>
      (await check(gate(action, when))).warnings.filter((warning) => warning.includes('renamed-files'));

    expect(await renamed(newName)).toEqual([
      expect.stringContaining('3 renamed-files: a renamed file is compared only by its new name: add ||'),
    ]);
    expect(await renamed(both)).toEqual([]);
  });

  it('causes no warning in set-labels, because nothing depends on the label', async () => {
    const rules = `  labels: { on: pull_request, steps: [{ uses: set-labels, with: { sync: { src: '${newName}' } } }] }\n`;
    expect((await check(rules)).warnings).toEqual([]);
  });
});

it('lines of CODEOWNERS that match no file cause a warning if a forge is configured', async () => {
  const account = await forge.makeUser();
  const repository = await forge.makeRepository(account, { auto_init: true });
  const write = (path: string, text: string) =>
    forge.ask('POST', `/repos/${repository}/contents/${path}`, {
      as: account,
      body: { message: path, content: Buffer.from(text).toString('base64') },
    });
  await write('lib/a.ts', 'a\n');
  await write(
    'CODEOWNERS',
    `lib/ @${account.name}\n/lib @${account.name}\nlib/.* @${account.name}\nlib/* @${account.name}\n`,
  );
  await forge.ask('PUT', `/user/starred/${repository}`, { as: account });
  const environment = { FORGE_URL: forge.url, FORGE_TOKEN: account.token };
  const rules = [
    "  one: { on: pull_request, steps: [{ uses: set-status, with: { when: 'codeowners.size() > 0' } }] }\n",
    '  one: { on: pull_request, steps: [{ uses: request-reviewers, with: { from: codeowners } }] }\n',
  ];
  const expected = expect.stringContaining(
    `3 codeowners-line: ${repository}: Of CODEOWNERS, no file matches line 1 (lib/), 2 (lib), 4 (lib/*).`,
  );

  for (const rule of rules) {
    expect((await check(rule, [], environment)).warnings).toContainEqual(expected);
    expect((await check(rule, ['--repository', repository, '--'], environment)).warnings).toContainEqual(
      expected,
    );
    expect((await check(rule)).warnings.filter((one) => one.includes('codeowners-line'))).toEqual([]);
  }
});

describe('C5: two rules that undo each other', () => {
  it('cause a warning, not a failure', async () => {
    const found = await check(label('one', 'add', 'issues') + label('two', 'remove', 'issues.opened'));

    expect(found).toMatchObject({ status: 0, problems: [] });
    expect(found.warnings).toEqual([
      '4 opposing-rules: rule one adds the label "bug" and rule two removes it on the same events: if both apply, neither change is made',
    ]);
  });

  it.each([
    ['other events', label('one', 'add', 'issues.opened') + label('two', 'remove', 'issues.closed')],
    [
      'conditions that may exclude each other',
      label('one', 'add', 'issues', 'if: issue.number > 1,') +
        label('two', 'remove', 'issues', 'if: issue.number < 2,'),
    ],
  ])('cause no warning with %s', async (_, rules) => {
    expect((await check(rules)).warnings).toEqual([]);
  });
});

describe('two steps of a rule that undo each other', () => {
  const steps = (...list: readonly string[]) =>
    `  one: { on: issues, if: issue.number > 1, steps: [${list.map((step) => `{ ${step} }`).join(', ')}] }\n`;
  const neither = 'if both apply, neither change is made';

  it.each([
    [
      'uses: set-labels, with: { add: [bug] }',
      'uses: set-labels, with: { remove: [bug] }',
      `step 1 set-labels adds the label "bug" and step 2 set-labels removes it: ${neither}`,
    ],
    [
      'name: off, uses: set-labels, with: { remove: [bug] }',
      'name: on, if: issue.number > 5, uses: set-labels, with: { add: [bug] }',
      `step on adds the label "bug" and step off removes it: ${neither}`,
    ],
    [
      'uses: set-labels, with: { add: [bug] }',
      'uses: set-labels, with: { sync: { bug: issue.number > 5 } }',
      `step 1 set-labels adds the label "bug" and step 2 set-labels removes it: ${neither}`,
    ],
    [
      'uses: set-issue, with: { state: closed }',
      'uses: set-issue, with: { state: open, when: issue.number > 5 }',
      `step 1 set-issue sets state to "closed" and step 2 set-issue sets it to "open": ${neither}`,
    ],
    [
      'uses: set-issue, with: { assignees: { add: [Ada] } }',
      'uses: set-issue, with: { assignees: { remove: [ada] } }',
      `step 1 set-issue assigns Ada and step 2 set-issue unassigns them: ${neither}`,
    ],
    [
      'uses: comment, with: { text: hi }',
      'uses: comment, with: { text: bye, when: issue.number > 5 }',
      `step 1 comment writes the comment with the key "main" and step 2 comment writes it differently: ${neither}`,
    ],
  ])('cause a warning: %s / %s', async (first, second, message) => {
    expect(await check(steps(first, second))).toMatchObject({
      status: 0,
      problems: [],
      warnings: [`3 opposing-rules: in rule one, ${message}`],
    });
  });

  it.each([
    ['uses: set-labels, with: { add: [bug] }', 'uses: set-labels, with: { remove: [docs] }'],
    ['uses: set-labels, with: { add: [bug] }', 'uses: set-labels, with: { sync: { bug: true } }'],
    [
      'if: issue.number > 5, uses: set-labels, with: { add: [bug] }',
      'if: issue.number < 5, uses: set-labels, with: { remove: [bug] }',
    ],
    ['uses: comment, with: { text: hi }', 'uses: comment, with: { key: other, text: bye }'],
    [
      'uses: set-issue, with: { state: closed, when: issue.number > 5 }',
      'uses: set-issue, with: { state: open, when: issue.number < 5 }',
    ],
  ])('cause no warning: %s / %s', async (first, second) => {
    expect(await check(steps(first, second))).toMatchObject({ status: 0, problems: [], warnings: [] });
  });
});

it('C2: a label that does not exist causes a warning if a forge is configured', async () => {
  const [one, two] = [await forge.makeRepository(bot), await forge.makeRepository(bot)];
  for (const repository of [one, two]) await forge.ask('PUT', `/user/starred/${repository}`, { as: bot });
  const make = (repository: string) =>
    forge.ask('POST', `/repos/${repository}/labels`, { as: bot, body: { name: 'bug', color: 'ff0000' } });
  const environment = { FORGE_URL: forge.url, FORGE_TOKEN: bot.token };
  const rules = label('one', 'add', 'issues');

  const none = await check(rules, [], environment);
  expect(none).toMatchObject({ status: 0, problems: [] });
  expect(none.warnings).toEqual([
    expect.stringMatching(/^3 unknown-label: there is no label "bug" in .* and 1 more: /),
  ]);
  await make(one);
  expect((await check(rules, [], environment)).warnings).toEqual([
    `3 unknown-label: there is no label "bug" in ${two}: the rule fails there; create it, or add create to the step`,
  ]);
  expect((await check(rules, ['--repository', one, '--'], environment)).warnings).toEqual([]);
  expect((await check(rules, [], {})).warnings).toEqual([]);
  await make(two);
  expect((await check(rules, [], environment)).warnings).toEqual([]);
});

it('a label that a condition waits for and that exists nowhere causes a warning', async () => {
  const repository = await forge.makeRepository(bot);
  await forge.ask('PUT', `/user/starred/${repository}`, { as: bot });
  const environment = { FORGE_URL: forge.url, FORGE_TOKEN: bot.token };
  const waiting = (condition: string): string =>
    `  one: { on: issues, if: '${condition}', steps: [{ uses: comment, with: { text: hi } }] }\n`;
  const found = await check(waiting('labelled(["nowhere", "!other"])'), [], environment);

  expect(found.warnings).toEqual([
    expect.stringMatching(/unknown-label: there is no label "nowhere" in .*: a condition that waits for it/),
  ]);
  expect((await check(waiting('!labelled("nowhere")'), [], environment)).warnings).toEqual([]);
});

describe('a fact that the account may not read', () => {
  const needing =
    "  one: { on: issues, if: sender_permission == 'admin', steps: [{ uses: comment, with: { text: hi } }] }\n";

  it('causes a warning with rule, fact, access and repository if a forge is configured', async () => {
    const [account, other] = [await forge.makeUser(), await forge.makeUser()];
    const environment = { FORGE_URL: forge.url, FORGE_TOKEN: account.token };
    const own = await forge.makeRepository(account);
    const foreign = await forge.makeRepository(other);
    await forge.share(foreign, other, { with: account, permission: 'write' });
    const checkIn = (repository: string) => check(needing, ['--repository', repository, '--'], environment);
    const warning = `3 access: rule one: fact sender_permission needs admin access, and the account is writer in ${foreign}: the rule can fail there`;

    expect(await checkIn(foreign)).toMatchObject({ status: 0, problems: [], warnings: [warning] });
    expect((await checkIn(own)).warnings).toEqual([]);
    expect((await check(needing)).warnings).toEqual([]);

    for (const repository of [own, foreign])
      await forge.ask('PUT', `/user/starred/${repository}`, { as: account });
    expect((await check(needing, [], environment)).warnings).toEqual([warning]);
    expect(
      (await check(needing.replace('one: {', "one: { in: ['nowhere/*'],"), [], environment)).warnings,
    ).toEqual([expect.stringContaining('scope: rule one: in: nowhere/* does not include')]);
  });

  it('causes a warning even if only some repositories need that access', async () => {
    const [account, other] = [await forge.makeUser(), await forge.makeUser()];
    const foreign = await forge.makeRepository(other);
    await forge.share(foreign, other, { with: account, permission: 'write' });
    const environment = { FORGE_URL: forge.url, FORGE_TOKEN: account.token };
    const rules = needing
      .replace('on: issues', 'on: [pull_request, pull_request_review]')
      .replace(/if: [^,]*/, 'if: approvals.size() > 1');

    expect((await check(rules, ['--repository', foreign, '--'], environment)).warnings).toEqual([
      expect.stringContaining('3 access: rule one: fact approvals needs admin access'),
    ]);
  });
});

it('warns if a required status now has another name in rules of repositories and organizations', async () => {
  const repository = await forge.makeRepository(bot);
  await forge.ask('PUT', `/user/starred/${repository}`, { as: bot });
  await forge.ask('POST', `/repos/${repository}/branch_protections`, {
    as: bot,
    body: {
      rule_name: 'main',
      enable_status_check: true,
      status_check_contexts: ['reeve/owners', 'reeve/mine', 'reeve/queue', 'reeve/*', 'ci', 'reeve-repo/x'],
    },
  });
  const environment = { FORGE_URL: forge.url, FORGE_TOKEN: bot.token };
  const rules = '  mine: { on: pull_request, steps: [{ uses: set-status }] }\n';

  const found = await check(rules, [], environment);

  expect(found).toMatchObject({ status: 0, problems: [] });
  expect(found.warnings).toEqual([
    "1 required-context: branch main requires the status reeve/owners, which no rule of the operator writes: require reeve-org/owners or reeve-repo/owners, which rules below the operator's now write",
  ]);
});
