import { describe, expect, it } from 'vitest';
import { eventWords, silentWaysOf } from '../../../src/rules/automatic-events.ts';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import { registry } from '../../../src/rules/registry.ts';

const load = (text: string) =>
  loadRuleFile({ path: 'r.yml', text: `version: 1\n${text}`, level: 'operator', commit: '', registry });
const ruleOf = (body: string, more = '') => {
  const { rules, problems } = load(`${more}rules:\n  one: { ${body} }\n`);
  expect(problems.map(({ message }) => message)).toEqual([]);
  return rules[0];
};
const eventsOf = (body: string, more?: string) => eventWords(ruleOf(body, more)?.automatic ?? []);
const problemsOf = (body: string) =>
  load(`rules:\n  one: { ${body} }\n`).problems.map(({ code, message }) => `${code}: ${message}`);
const warningsOf = (text: string, code: string) =>
  (load(text).warnings ?? []).filter((one) => one.code === code).map(({ message }) => message);

const status = 'steps: [{ uses: set-status, with: { state: success, when: ';
const label = 'steps: [{ uses: set-labels, with: { sync: { x: ';

describe('the events of on: auto', () => {
  it.each([
    [
      `on: auto, ${status}'pull_request.title != ""' } }]`,
      'pull_request (opened, reopened, edited, synchronized)',
    ],
    [
      `on: auto, ${status}'pull_request.user.login == "ada"' } }]`,
      'pull_request (opened, reopened, edited, synchronized)',
    ],
    [
      `on: auto, ${status}'touches("src/**")' } }]`,
      'pull_request (opened, reopened, edited, synchronized), push',
    ],
    [
      `on: auto, ${status}'labelled("ok")' } }]`,
      'pull_request (opened, reopened, edited, synchronized, label_updated, label_cleared)',
    ],
    [
      `on: auto, ${status}'pull_request.base.ref == "main"' } }]`,
      'pull_request (opened, reopened, edited, synchronized)',
    ],
    [
      `on: auto, ${status}'pull_request.milestone != null' } }]`,
      'pull_request (opened, reopened, edited, synchronized, milestoned, demilestoned)',
    ],
    [
      `on: auto, ${status}'passed("ci/*")' } }]`,
      'pull_request (opened, reopened, edited, synchronized), status, action_run_success, action_run_failure, action_run_recover',
    ],
    [
      `on: auto, ${status}'rejections.size() == 0' } }]`,
      'pull_request (opened, reopened, edited, synchronized, review_requested, review_request_removed), pull_request_review',
    ],
    [
      `on: auto, each: issue, ${label}'issue.title == "x"' } } }]`,
      'issues (opened, reopened, edited, label_updated, label_cleared)',
    ],
    [
      `on: auto, each: issue, ${label}'comments.size() > 3' } } }]`,
      'issues (opened, reopened, label_updated, label_cleared), issue_comment',
    ],
    [
      `on: auto, each: [issue, pull_request], ${label}'item.title == "x" && (!has(pull_request) || touches("a"))' } } }]`,
      'issues (opened, reopened, edited, label_updated, label_cleared), pull_request (opened, reopened, edited, synchronized, label_updated, label_cleared), push',
    ],
    [
      `on: auto, each: { issue: { state: all } }, ${label}'issue.state == "open"' } } }]`,
      'issues (opened, closed, reopened, label_updated, label_cleared)',
    ],
  ])('%s', (body, events) => expect(eventsOf(body)).toBe(events));

  it('follow through named conditions, the if of the rule and of its steps, and templates', () => {
    const conditions = 'conditions: { green: passed("ci/*"), ready: green && labelled("ready") }\n';
    const families = (body: string) =>
      (ruleOf(body, conditions)?.automatic ?? []).map(({ family }) => family);
    expect(families(`on: auto, ${status}ready } }]`)).toContain('status');
    expect(families('on: auto, if: ready, steps: [{ uses: set-status }]')).toContain('status');
    expect(families('on: auto, steps: [{ uses: set-status, if: ready }]')).toContain('status');
    const texts = 'on: auto, each: issue, steps: [{ uses: comment, with: { text: "${{ issue.title }}" } }]';
    expect(eventsOf(texts)).toBe('issues (opened, reopened, edited)');
  });

  it('are all after which a status belongs to another commit or base', () => {
    expect(warningsOf(`rules:\n  one: { on: auto, ${status}true } }] }\n`, 'gate-events')).toEqual([]);
  });

  it('are those of the items that the actions allow; each is needed if they allow both', () => {
    expect(ruleOf('on: auto, steps: [{ uses: set-status }]')?.each).toEqual([
      { kind: 'pull_request', state: 'open' },
    ]);
    expect(ruleOf(`on: auto, ${label}'touches("docs/**")' } } }]`)?.each).toEqual([
      { kind: 'pull_request', state: 'open' },
    ]);
    expect(ruleOf(`on: auto, ${label}'issue.title == "x"' } } }]`)?.each).toEqual([
      { kind: 'issue', state: 'open' },
    ]);
    const comment = 'on: auto, steps: [{ uses: comment, with: { text: "${{ pull_request.title }}" } }]';
    expect(ruleOf(comment)?.each).toEqual([{ kind: 'pull_request', state: 'open' }]);
    const plain = 'on: auto, steps: [{ uses: comment, with: { text: files } }]';
    expect(problemsOf(plain)[0]).toMatch(/^each: on: auto needs each/);
    const named = 'conditions: { documented: touches("docs/**") }\n';
    expect(ruleOf(`on: auto, ${label}documented } } }]`, named)?.each).toHaveLength(1);
    expect(problemsOf(`on: auto, ${label}true } } }]`)).toEqual([
      expect.stringMatching(/^each: on: auto needs each: pull_request, each: issue, or/),
    ]);
    expect(
      problemsOf('on: auto, each: repository, steps: [{ uses: sync-labels, with: { labels: [] } }]')[0],
    ).toMatch(/^each: on: auto is for rules about each pull_request or issue/);
  });

  it.each([
    'if: pull_request.merged, steps: [{ uses: comment, with: { text: hello } }]',
    'steps: [{ uses: backport, with: { to: ["release/*"] } }]',
    'steps: [{ uses: delete-branch }]',
  ])('are none for a rule about closed items that leaves these out: %s', (body) => {
    expect(problemsOf(`on: auto, each: pull_request, ${body}`)).toEqual([
      expect.stringMatching(/^each: on: auto leaves out closed items/),
    ]);
    expect(problemsOf(`on: auto, each: { pull_request: { state: all } }, ${body}`)).toEqual([]);
  });

  it.each([
    'event.action == "opened"',
    'sender.login == "ada"',
    'sender_permission == "admin"',
    'command("x").found',
    'comment.body == ""',
    'review.id > 0',
  ])('are none where a rule reads %s', (condition) =>
    expect(
      problemsOf(
        `on: auto, if: '${condition}', each: pull_request, steps: [{ uses: set-labels, with: { add: [x] } }]`,
      )[0],
    ).toMatch(/a rule with `on: auto` has no/),
  );

  it.each([
    ['notify', '{ to: { secret: CHAT }, json: { text: x } }'],
    ['react', '{ content: "+1" }'],
    ['run-workflow', '{ workflow: a.yml, ref: main }'],
  ])('are none where a step is %s', (uses, given) =>
    expect(problemsOf(`on: auto, each: issue, steps: [{ uses: ${uses}, with: ${given} }]`)[0]).toMatch(
      new RegExp(`^subject: ${uses} does not keep a state of the item`),
    ),
  );

  it('stand beside a schedule and beside events that are listed', () => {
    const rule = ruleOf(`on: [auto, pull_request.assigned, { schedule: "7 * * * *" }], ${status}true } }]`);
    expect(rule?.schedules).toHaveLength(1);
    expect(eventWords(rule?.on ?? [])).toBe(
      'pull_request (assigned), pull_request (opened, reopened, edited, synchronized)',
    );
  });
});

describe('what changes without an event', () => {
  it('is a warning for a rule that decides about a merge, unless it has a schedule', () => {
    const rules = (on: string) => `rules:\n  one: { on: ${on}, ${status}'approvals.size() > 0' } }] }\n`;
    expect(warningsOf(rules('auto'), 'silent-change')).toEqual([
      'no event tells when a review is dismissed or deleted, when the access of an account changes: write on: [auto, { schedule: "17 * * * *" }]',
    ]);
    expect(warningsOf(rules('[auto, { schedule: "17 * * * *" }]'), 'silent-change')).toEqual([]);
  });

  it('is left out where Reeve looks again by itself', () => {
    const green = 'required_checks.all(c, c.state == "success") && pull_request.mergeable';
    const rule = ruleOf(`on: auto, steps: [{ uses: merge, with: { when: '${green}' } }]`);
    expect(rule && silentWaysOf(rule).map(({ of }) => of)).toEqual([]);
    const gate = ruleOf(`on: auto, ${status}'passed("ci/*")' } }]`);
    expect(gate && silentWaysOf(gate).map(({ way }) => way.silentOn)).toEqual(['Forgejo']);
  });

  it('is time, for a rule that reads it', () => {
    const rule = ruleOf(
      `on: auto, each: issue, ${label}'timestamp(issue.created_at) < now - duration("24h")' } } }]`,
    );
    expect(rule && silentWaysOf(rule).map(({ way }) => way.what)).toEqual(['time passes']);
  });
});

describe('a change of Reeve that another rule reads', () => {
  const rules = (name: string, on = 'auto') => `rules:
  labeller: { on: auto, each: pull_request, steps: [{ uses: set-labels, with: { sync: { docs: touches("docs/**") } } }] }
  gate: { on: ${on}, ${status}'labelled("${name}")' } }] }
`;
  it('is a warning at the rule that reads it', () => {
    expect(warningsOf(rules('docs'), 'own-change')).toEqual([
      expect.stringContaining('does not run after labeller (a label is added or removed)'),
    ]);
  });
  it('is none for another label, and none with a schedule', () => {
    expect(warningsOf(rules('other'), 'own-change')).toEqual([]);
    expect(warningsOf(rules('docs', '[auto, { schedule: "7 * * * *" }]'), 'own-change')).toEqual([]);
  });
});

describe('an event that a rule does not list', () => {
  const rules = (on: string, steps = `${label}'touches("docs/**")' } } }]`) =>
    `rules:\n  one: { on: ${on}, ${steps} }\n`;
  it('is a warning if what the rule reads can change by it', () => {
    expect(warningsOf(rules('{ pull_request: [opened, synchronized] }'), 'unheard-change')).toEqual([
      expect.stringMatching(/^what the rule reads \(.+\) can also change by pull_request.edited/),
    ]);
  });
  it('is none for a rule about the beginning or the end of an item, or about comments', () => {
    for (const on of [
      'pull_request.closed',
      '[pull_request.opened, pull_request.reopened]',
      'pull_request_comment',
    ])
      expect(warningsOf(rules(on), 'unheard-change')).toEqual([]);
  });
  it('is none for a rule about what happened, with a schedule, or with on: auto', () => {
    const welcome =
      'steps: [{ uses: notify, with: { to: { secret: CHAT }, json: { text: "${{ issue.title }}" } } }]';
    expect(warningsOf(rules('issues.opened', welcome), 'unheard-change')).toEqual([]);
    const sender = `if: 'sender.login == "ada"', ${label}'pull_request.title == ""' } } }]`;
    expect(warningsOf(rules('pull_request.opened', sender), 'unheard-change')).toEqual([]);
    expect(warningsOf(rules('auto, each: pull_request'), 'unheard-change')).toEqual([]);
  });
  it.each([
    [
      'a comment, if it reads nothing that comments change',
      '[issue_comment.created, issues.reopened]',
      'issue.state == "open"',
    ],
    ['the closing alone', '{ pull_request: closed }', 'pull_request.merged && !has(pull_request.milestone)'],
    [
      'a label that it needs, after all were removed',
      '{ issues: [opened, label_updated] }',
      'labelled("bug") && true',
    ],
  ])('is none for a rule about %s', (_what, on, condition) => {
    const steps = 'steps: [{ uses: set-labels, with: { remove: [x] } }]';
    const found = (text: string) => warningsOf(rules(on, `if: '${text}', ${steps}`), 'unheard-change');
    expect(found(condition)).toEqual([]);
  });
  it('is a warning for label_cleared where the rule acts without labels as well', () => {
    const steps = 'steps: [{ uses: set-labels, with: { remove: [x] } }]';
    for (const condition of ['!labelled("bug")', 'labelled("bug") || issue.number > 1'])
      expect(
        warningsOf(rules('{ issues: [label_updated] }', `if: '${condition}', ${steps}`), 'unheard-change'),
      ).toEqual([expect.stringContaining('issues.label_cleared')]);
  });
});
