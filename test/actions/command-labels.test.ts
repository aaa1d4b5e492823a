import { describe, expect, it } from 'vitest';
import type { PlanContext } from '../../src/actions/plan-context.ts';
import { setLabels } from '../../src/actions/set-labels.ts';
import { asCode } from '../../src/actions/texts.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { makeContext } from '../support/make-context.ts';

const repository = { id: 1, owner: 'acme', name: 'demo' } as const;
const subject = { kind: 'issue', index: 7, repository } as const;
const defined = (name: string, more: object = {}) => ({ id: 1, name, level: 'repository', ...more });
const exclusive = { exclusive: true };
const label_definitions = [
  defined('kind/bug'),
  defined('kind/docs'),
  defined('size/S', exclusive),
  defined('size/L', exclusive),
  defined('secret'),
];
const only = ['kind/*', 'size/*'];

type Arguments = Parameters<typeof setLabels.plan>[0];
type Given = Record<string, unknown>;

function plan(given: Arguments, facts: Given = {}, context: Partial<PlanContext> = {}) {
  const all = { labels: [], label_definitions, comments: [], sender_permission: 'write', ...facts };
  return setLabels.plan(given, createGivenFacts({ subject, given: all }), makeContext(context));
}

/** Returns the planned labels as `+label` and `-label`, and the text of the reply. */
async function planned(given: Arguments, facts: Given = {}) {
  const changes = (await plan(given, facts)).filter(({ already }) => !already);
  const labels = changes.filter(({ target }) => target.startsWith('label:'));
  const answer = changes.find(({ target }) => target.startsWith('comment:'))?.value;
  return {
    labels: labels.map(({ target, value }) => `${value ? '+' : '-'}${target.slice('label:'.length)}`),
    answer: typeof answer === 'string' ? answer.split('\n').filter((line) => line.startsWith('- ')) : [],
  };
}

describe('names in a command', () => {
  const cases: readonly [string, Arguments, Given, readonly string[], readonly string[]][] = [
    ['are set', { only, add: { command: ['kind/bug', 'kind/docs'] } }, {}, ['+kind/bug', '+kind/docs'], []],
    ['are removed', { only, remove: { command: ['kind/bug'] } }, { labels: ['kind/bug'] }, ['-kind/bug'], []],
    ['set nothing without the command', { only, add: { command: [] } }, {}, [], []],
    [
      'are refused if they do not match',
      { only, add: { command: ['secret', 'kind/bug'] } },
      {},
      ['+kind/bug'],
      ['- `secret`: commands may not name it here'],
    ],
    [
      'are refused if they do not exist, even for removal',
      { only, add: { command: ['kind/x'] }, remove: { command: ['kind/y'] } },
      {},
      [],
      ['- `kind/x`: it does not exist', '- `kind/y`: it does not exist'],
    ],
    [
      'never override the decision of the rule',
      { only, add: { command: ['kind/bug'] }, remove: ['kind/bug'] },
      { labels: ['kind/bug'] },
      ['-kind/bug'],
      ['- `kind/bug`: the rule itself decides it'],
    ],
    [
      'are refused if they contradict each other',
      { only, add: { command: ['kind/bug', 'size/S', 'size/L'] }, remove: { command: ['kind/bug'] } },
      {},
      [],
      [
        '- `kind/bug`: the command both adds and removes it',
        '- `size/S`: it excludes another label that is wanted',
        '- `size/L`: it excludes another label that is wanted',
      ],
    ],
    [
      'are refused if a name refers to two labels',
      { only, add: { command: ['kind/bug'] } },
      { label_definitions: [defined('kind/bug'), defined('kind/bug')] },
      [],
      ['- `kind/bug`: it exists more than once'],
    ],
    [
      'get no reply for a sender without write access',
      { only, add: { command: ['secret', 'kind/bug'] } },
      { sender_permission: 'read' },
      ['+kind/bug'],
      [],
    ],
  ];

  it.each(cases)('%s', async (_title, given, facts, labels, answer) => {
    expect(await planned(given, facts)).toEqual({ labels, answer });
  });

  it('are limited to ten; with more, none is used', async () => {
    const command = Array.from({ length: 11 }, (_, place) => `kind/${place}`);
    const all = command.map((name) => defined(name));
    const ten = await plan({ only, add: { command: command.slice(1) } }, { label_definitions: all });

    const [answer, ...others] = await plan({ only, add: { command } }, { label_definitions: all });

    expect(ten).toHaveLength(10);
    expect(others).toEqual([]);
    expect(answer?.value).toContain('names 11 labels, and at most 10 are allowed');
  });

  it('get one reply comment, which is edited, and not written again if unchanged', async () => {
    const given = { only, add: { command: ['secret'] } };
    const [first] = await plan(given);
    const own = (body: unknown) => [{ id: 5, body, user: { id: 9 } }];

    const [again] = await plan(given, { comments: own(first?.value) });
    const [other] = await plan({ only, add: { command: ['kind/x'] } }, { comments: own(first?.value) });
    const [imitated] = await plan(given, { comments: [{ id: 6, body: first?.value, user: { id: 8 } }] });

    expect(first).toMatchObject({ operation: 'comment.create', action: 'set-labels' });
    expect(again).toMatchObject({ already: true });
    expect(other).toMatchObject({ operation: 'comment.edit', input: { params: { id: 5 } } });
    expect(imitated).toMatchObject({ operation: 'comment.create' });
  });

  it('fail the step if it is unknown whether the sender may get a reply', async () => {
    const given = { only, add: { command: ['secret'] } };

    await expect(plan(given, { sender_permission: undefined })).rejects.toThrow('sender_permission');
  });
});

describe('a name shown as code', () => {
  const cases: readonly [string, string][] = [
    ['bug', '`bug`'],
    ['', '`  `'],
    ['a`b``c', '``` a`b``c ```'],
    ['`', '`` ` ``'],
    ['`@ada` @eve', '`` `@\u200bada` @\u200beve ``'],
    ['acme/site#1 !2', '`acme/site#\u200b1 !\u200b2`'],
    ['one\n\n# two\r\u2028<!-- x -->', '`one #\u200b two <!\u200b-- x -->`'],
    ['a\u202eb\u0007\u200bc', '`a b c`'],
    [`${'x'.repeat(100)}`, `\`${'x'.repeat(60)}…\``],
    ['\ud800', '`\ufffd`'],
  ];

  it.each(cases)('%j becomes %j', (text, shown) => {
    expect(asCode(text)).toBe(shown);
  });
});

describe('a step at load', () => {
  const problemsOf = (step: string, on = 'issue_comment.created') =>
    loadRuleFile({
      path: 'x.yml',
      text: `version: 1\nrules:\n  one:\n    on: ${on}\n    steps:\n      - uses: set-labels\n        with: ${step}\n`,
      level: 'operator',
      commit: '',
      registry,
    }).problems.map(({ message }) => message);
  const args = `'\${{ command("label").args }}'`;

  it.each([
    [`{ add: ${args}, only: ["kind/*"] }`, []],
    [`{ add: ${args} }`, ['limit the labels that the command may name']],
    [`{ add: ${args}, only: ["["] }`, ['[']],
    [`{ add: ${args}, only: ["kind/*"], create: { color: ff0000 } }`, ['are never created']],
    [`{ add: [bug], only: ["kind/*"] }`, ['only limits the names in a command']],
    [
      `{ add: 'x \${{ command("label").args }}', only: ["kind/*"] }`,
      ['with no other text', 'no ${{ }} here'],
    ],
    [`{ add: '\${{ command("label").text }}', only: ["kind/*"] }`, ['with no other text', 'no ${{ }} here']],
    [`{ add: [${args}], only: ["kind/*"] }`, ['no ${{ }} here', 'only limits']],
  ] as const)('%s', (step, messages) => {
    expect(problemsOf(step)).toEqual(messages.map((message) => expect.stringContaining(message)));
  });

  it('that uses a command needs a comment event', () => {
    expect(problemsOf(`{ add: ${args}, only: ["kind/*"] }`, 'issues.opened')).toEqual([
      expect.stringContaining('command'),
    ]);
  });
});
