import { describe, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { createUnlimitedMeter } from '../../src/patterns/meter.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { evaluateRule } from '../../src/rules/evaluate.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { requestsOfRule } from '../../src/rules/needs.ts';
import { registry } from '../../src/rules/registry.ts';
import { makeFacts } from '../support/make-facts.ts';

const onComment = 'on: [issue_comment.created, pull_request_comment.created]';
const load = (body: string, conditions = '') =>
  loadRuleFile({
    path: 'x.yml',
    text: `version: 1\n${conditions}rules:\n  one:\n${body
      .split('\n')
      .map((line) => `    ${line}\n`)
      .join('')}`,
    level: 'operator',
    commit: '',
    registry,
  });
function ruleOf(body: string, conditions = '') {
  const { rules, problems } = load(body, conditions);
  expect(problems).toEqual([]);
  const [rule] = rules;
  if (rule === undefined) throw new Error('no rule');
  return rule;
}

const label = `steps: [{ uses: set-labels, with: { add: [bug] } }]`;

describe('the permission of a rule', () => {
  it.each([
    ['reads no command', 'if: comment.body == "x"', undefined],
    ['reads only whether there is one', 'if: command("x").found && command("x").reason == ""', undefined],
    ['reads arguments in if', 'if: command("x").args == ["staging"]', 'write'],
    ['reads arguments by their name in brackets', 'if: command("x")["text"] == "a"', 'write'],
    ['reads arguments in a loop', 'if: command("x").args.exists(a, a == "b")', 'write'],
    ['reads arguments through a named condition', 'if: staging', 'write'],
    ['hands the whole command on', "if: \"[command('x')].exists(c, c.text == 'a')\"", 'write'],
    ['states it', 'permission: author', 'author'],
    ['states it, and reads arguments', 'permission: everyone\nif: command("x").args.size() > 0', 'everyone'],
  ])('if the rule %s is %s', (_title, body, level) => {
    const conditions = 'conditions:\n  staging: command("x").args == ["staging"]\n';

    expect(ruleOf(`${onComment}\n${body}\n${label}`, conditions).permission?.level).toBe(level);
  });

  it.each([
    [
      'a condition of a step',
      'steps: [{ uses: set-labels, if: command("x").text == "a", with: { add: [bug] } }]',
    ],
    [
      'a condition in arguments',
      'steps: [{ uses: set-labels, with: { sync: { bug: command("x").text == "a" } } }]',
    ],
    ['arguments', `steps: [{ uses: set-labels, with: { add: '\${{ command("x").args }}', only: ["a"] } }]`],
    ['a text', `steps: [{ uses: comment, with: { text: '\${{ command("x").text }}' } }]`],
  ])('is write if %s reads arguments', (_title, steps) => {
    const { permission } = ruleOf(`${onComment}\n${steps}`);

    expect(permission).toMatchObject({ level: 'write', isImplied: true });
  });

  it('without an event of comments is a problem at its key', () => {
    const { problems } = load(`on: issues.opened\npermission: write\n${label}`);

    expect(problems).toMatchObject([{ code: 'command', line: 5, column: 5 }]);
    expect(problems[0]?.message).toContain('add issue_comment or pull_request_comment');
  });

  it('is one of four words', () => {
    expect(load(`${onComment}\npermission: admin\n${label}`).problems).toMatchObject([
      { code: 'value', line: 5 },
    ]);
  });

  it.each([
    ['write', true],
    ['author', true],
    ['everyone', false],
  ])('%s is among the facts that the rule needs: %s', (level, isNeeded) => {
    const names = requestsOfRule(ruleOf(`${onComment}\npermission: ${level}\n${label}`)).map(
      ({ name }) => name,
    );

    expect(names.includes('sender_permission')).toBe(isNeeded);
  });
});

const ada = { id: 7, login: 'ada' };
const eve = { id: 8, login: 'eve' };
const comment = { id: 9, body: '/x staging', user: eve };
const event = parseEvent('issue_comment', {
  action: 'created',
  issue: { number: 7 },
  comment,
  repository: { id: 1, full_name: 'acme/site' },
  sender: eve,
});

async function evaluate(body: string, given: Readonly<Record<string, unknown>>, of = event) {
  const facts = makeFacts(
    { comment, issue: { user: ada }, command: { x: ['staging'], y: false }, ...given },
    { subject: { kind: 'issue', comment: 9 } },
  );
  const rule = ruleOf(`${onComment}\n${body}\n${label}`);
  const meter = createUnlimitedMeter();
  const { verdict, retry } = await evaluateRule(rule, { facts, event: of, now: new Date(0), meter });
  return { ...verdict, retry, asked: facts.asked };
}

describe('a rule obeys', () => {
  it.each([
    ['write', { none: false, read: false, write: true, admin: true, owner: true }],
    ['author', { none: false, read: false, write: true, admin: true, owner: true }],
    ['read', { none: false, read: true, write: true, admin: true, owner: true }],
    ['everyone', { none: true, read: true, write: true, admin: true, owner: true }],
  ] as const)('with permission: %s the accounts with %o', async (level, expected) => {
    const found: Record<string, boolean> = {};
    for (const sender_permission of Object.keys(expected)) {
      const { verdict } = await evaluate(`permission: ${level}`, { sender_permission });
      found[sender_permission] = verdict === 'matched';
    }

    expect(found).toEqual(expected);
  });

  it('the author of the issue with permission: author, without asking for a permission', async () => {
    const { verdict, asked } = await evaluate('permission: author', { issue: { user: eve } });

    expect(verdict).toBe('matched');
    expect(asked).not.toContain('sender_permission');
  });

  it.each([
    ['is deleted', { user: { id: -1, login: 'Ghost' } }],
    ['is unknown', { user: null }],
  ])('no author of an issue who %s', async (_title, issue) => {
    const given = { issue, comment: { ...comment, ...issue }, sender_permission: 'read' };

    expect((await evaluate('permission: author', given)).verdict).toBe('unmatched');
  });

  it('nobody if the permission cannot be read, and says why', async () => {
    const error = new ReeveError('forge-forbidden', 'this needs administrator access', { status: 403 });
    const { verdict, reason, findings } = await evaluate('permission: write', { sender_permission: error });

    expect(verdict).toBe('failed');
    expect(reason).toBe(
      'permission: write: whether the author of the comment has it cannot be known: this needs administrator access',
    );
    expect(findings).toMatchObject([{ expression: 'permission: write', result: 'error', line: 5 }]);
  });

  it('nobody yet if the forge does not answer', async () => {
    const error = new ReeveError('forge-unavailable', 'away');

    expect((await evaluate('permission: write', { sender_permission: error })).retry).toBe(error);
  });

  it('with the evidence, after its if', async () => {
    const { verdict, findings } = await evaluate('permission: write\nif: command("x").found', {
      sender_permission: 'read',
    });

    expect(verdict).toBe('unmatched');
    expect(findings).toMatchObject([
      { expression: 'command("x").found', result: 'held' },
      { expression: 'permission: write', result: 'not', values: { sender_permission: 'read' } },
    ]);
  });

  it('without asking if its if does not hold', async () => {
    const { verdict, asked } = await evaluate('permission: write\nif: command("y").found', {});

    expect(verdict).toBe('unmatched');
    expect(asked).not.toContain('sender_permission');
  });

  it('by default only people with write access, if the comment has one of its commands', async () => {
    const own = 'if: command("x").args == ["staging"] || command("y").args.size() == 0';

    expect((await evaluate(own, { sender_permission: 'read' })).verdict).toBe('unmatched');
    expect((await evaluate(own, { sender_permission: 'write' })).verdict).toBe('matched');
    expect((await evaluate(own, { command: { x: false, y: false } })).verdict).toBe('matched');
  });

  it('every event that is about no comment', async () => {
    const opened = parseEvent('issues', {
      action: 'opened',
      issue: { number: 7 },
      number: 7,
      repository: { id: 1, full_name: 'acme/site' },
      sender: eve,
    });
    const facts = makeFacts({}, { subject: { kind: 'issue' } });
    const rule = ruleOf(`on: [issues.opened, issue_comment.created]\npermission: write\n${label}`);
    const meter = createUnlimitedMeter();
    const { verdict } = await evaluateRule(rule, { facts, event: opened, now: new Date(0), meter });

    expect(verdict.verdict).toBe('matched');
  });
});

describe('arguments of a command', () => {
  const step = (uses: string, given: string) => `${onComment}\nsteps: [{ uses: ${uses}, with: ${given} }]`;
  const pull = (uses: string, given: string) =>
    `on: pull_request_comment.created\nsteps: [{ uses: ${uses}, with: ${given} }]`;
  const insert = (member: string) => `'\${{ command("x").${member} }}'`;

  it.each([
    ['the title of an issue', step('set-issue', `{ title: ${insert('text')} }`)],
    ['a comment', step('comment', `{ text: 'Closed: \${{ command("x").args.join(", ") }}' }`)],
    ['the title of a report', step('report-issue', `{ key: a, title: ${insert('text')} }`)],
    ['the text of a review', pull('review', `{ verdict: approve, text: ${insert('text')} }`)],
    [
      'assignees',
      step(
        'set-issue',
        `{ assignees: { add: ${insert('users')}, remove: ${insert('users')}, from: sender } }`,
      ),
    ],
    ['reviewers', pull('request-reviewers', `{ users: ${insert('users')}, from: sender }`)],
    ['a milestone', step('set-issue', `{ milestone: ${insert('milestone')}, only: ["v*"] }`)],
    [
      'labels with a prefix',
      step('set-labels', `{ add: ${insert('args')}, prefix: kind/, only: ["kind/*"] }`),
    ],
  ])('may be used in %s', (_title, body) => {
    expect(load(body).problems).toEqual([]);
  });

  it.each([
    ['the key of a comment', step('comment', `{ key: ${insert('text')}, text: a }`)],
    ['the key of a report', step('report-issue', `{ key: ${insert('text')}, title: a }`)],
    ['a listed assignee', step('set-issue', `{ assignees: { add: [${insert('text')}] } }`)],
    ['a part of a milestone', step('set-issue', `{ milestone: 'v\${{ command("x").text }}' }`)],
    ['a date', step('set-issue', `{ due_date: ${insert('text')} }`)],
    ['a listed reviewer', pull('request-reviewers', `{ users: [${insert('text')}] }`)],
    ['a status', pull('set-status', `{ context: a, state: success, description: ${insert('text')} }`)],
    [
      'the address of a status',
      pull('set-status', `{ context: a, state: success, target_url: ${insert('text')} }`),
    ],
    ['the message of a merge', pull('merge', `{ method: squash, message: ${insert('text')} }`)],
    [
      'the input of a workflow',
      step('run-workflow', `{ workflow: a.yml, ref: main, inputs: { a: ${insert('text')} } }`),
    ],
    ['a message', step('notify', `{ to: { secret: CHAT }, json: { text: ${insert('text')} } }`)],
    [
      'a text that depends on them',
      step('comment', `{ key: '\${{ command("x").args == ["a"] ? "b" : "c" }}', text: a }`),
    ],
    ['a text by a loop', step('comment', `{ key: '\${{ [command("x")].map(c, c.text)[0] }}', text: a }`)],
    ['a text by a named condition', step('comment', `{ key: '\${{ said }}', text: a }`)],
  ])('may not be used in %s', (_title, body) => {
    const { problems } = load(body, 'conditions: { said: command("x").text }\n');

    expect(problems.map(({ code }) => code)).toEqual(['command']);
    expect(problems[0]?.message).toMatch(/must not be inserted here: .* may be used in conditions, and as/);
  });

  it.each([
    ['a team', pull('request-reviewers', `{ teams: [${insert('text')}] }`)],
    ['teams', pull('request-reviewers', `{ teams: ${insert('args')} }`)],
    ['a label that is listed', step('set-labels', `{ add: [${insert('text')}] }`)],
    ['the users of a label', step('set-labels', `{ add: ${insert('users')}, only: ["a"] }`)],
    ['words as users', step('set-issue', `{ assignees: { add: ${insert('args')} } }`)],
    ['a branch', step('run-workflow', `{ workflow: a.yml, ref: ${insert('text')} }`)],
    ['a path', step('commit-files', `{ files: { ${insert('text')}: { content: a } }, message: a }`)],
    [
      'the content of a file',
      step('commit-files', `{ files: { a: { content: ${insert('text')} } }, message: a }`),
    ],
  ])('cannot be %s', (_title, body) => {
    expect(load(body).problems).not.toEqual([]);
  });

  it.each([
    ['a milestone without only', `{ milestone: ${insert('milestone')} }`, 'limit the milestones'],
    ['only without a command', '{ milestone: next, only: ["v*"] }', 'only limits the names in a command'],
    ['only with a bad glob', `{ milestone: ${insert('milestone')}, only: ["["] }`, '['],
    ['only alone', '{ only: ["v*"] }', 'name at least one field'],
    ['from without a command', '{ assignees: { add: [ada], from: sender } }', 'from: sender completes'],
    ['pick with a command', `{ assignees: { add: ${insert('users')}, pick: 1 } }`, 'pick chooses from users'],
  ])('%s is a problem of set-issue', (_title, given, message) => {
    expect(load(step('set-issue', given)).problems.map((one) => one.message)).toEqual([
      expect.stringContaining(message),
    ]);
  });

  it.each([
    ['from: sender without a command', '{ users: [ada], from: sender }', 'from: sender completes'],
    ['from: sender alone', '{ from: sender }', 'name at least one reviewer'],
    ['pick with a command', `{ users: ${insert('users')}, pick: 1 }`, 'pick chooses from users'],
  ])('%s is a problem of request-reviewers', (_title, given, message) => {
    expect(load(pull('request-reviewers', given)).problems.map((one) => one.message)).toEqual([
      expect.stringContaining(message),
    ]);
  });
});
