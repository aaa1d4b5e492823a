import { describe, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { createUnlimitedMeter } from '../../src/patterns/meter.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { evaluateRule, skipRule } from '../../src/rules/evaluate.ts';
import { registry } from '../../src/rules/registry.ts';
import { isRecoverable, needsEvent, pollingGap } from '../../src/rules/verdict.ts';
import { makeFacts } from '../support/make-facts.ts';
import { fileOf, ruleOf } from './support/load.ts';
import { facts as table } from './support/registry.ts';

const now = new Date('2026-01-01T00:00:00Z');
const event = parseEvent('pull_request', {
  action: 'opened',
  number: 7,
  pull_request: { number: 7, title: 'old', base: { ref: 'main' } },
  repository: { id: 1, full_name: 'acme/site' },
});
const files = [{ filename: 'docs/new.md', previous_filename: 'src/old.md' }];

function evaluate(body: string, given: Readonly<Record<string, unknown>>) {
  const facts = makeFacts(given, { facts: table });
  const rule = ruleOf(fileOf(`on: pull_request\n${body}`));
  return evaluateRule(rule, { facts, event, now, meter: createUnlimitedMeter() }).then((evaluation) => ({
    ...evaluation,
    asked: facts.asked,
  }));
}

describe('a rule', () => {
  it('returns its steps with evaluated conditions and filled templates', async () => {
    const { verdict, steps } = await evaluate(
      `if: event.number == 7
steps:
  - uses: tag
    with: { sync: { docs: 'files.exists(f, f.filename.glob("docs/**"))', big: pull_request.additions > 9 } }
  - uses: say
    with: { text: "\${{ pull_request.title }} is \${{ pull_request.additions }}", count: "\${{ pull_request.additions }}", when: true }
  - uses: say
    if: pull_request.draft
    with: { text: never }`,
      { files, pull_request: { title: 'new', additions: 3, draft: false } },
    );

    expect(verdict).toMatchObject({ rule: 'rules/test.yml#one', verdict: 'matched', line: 3 });
    expect(verdict.findings.map(({ expression, result, line }) => [expression, result, line])).toEqual([
      ['event.number == 7', 'held', 5],
      ['files.exists(f, f.filename.glob("docs/**"))', 'held', 8],
      ['pull_request.additions > 9', 'not', 8],
      ['pull_request.draft', 'not', 12],
    ]);
    expect(steps).toMatchObject([
      { state: 'ready', arguments: { sync: { docs: true, big: false } } },
      { state: 'ready', arguments: { text: 'new is 3', count: 3, when: true, as: 'note' } },
      { state: 'unmatched' },
    ]);
  });

  it('reads no facts for its steps if it does not match', async () => {
    const { verdict, steps, asked } = await evaluate(
      `if: pull_request.draft && labels.size() > 0
steps: [{ uses: tag, with: { sync: { a: files.size() > 1 } } }]`,
      { pull_request: { draft: false }, labels: [] },
    );

    expect([verdict.verdict, steps, asked.toSorted()]).toEqual(['unmatched', [], ['labels', 'pull_request']]);
  });

  it('reads no facts for a step whose own `if` is false', async () => {
    const { asked } = await evaluate(
      `steps: [{ uses: tag, if: pull_request.draft, with: { sync: { a: files.size() > 1 } } }]`,
      { pull_request: { draft: false } },
    );

    expect(asked).toEqual(['pull_request']);
  });

  it('reads each fact once', async () => {
    const { asked } = await evaluate(
      `if: labels.size() == 0
steps: [{ uses: tag, if: labels.size() == 0, with: { sync: { a: labels.size() > 0 } } }]`,
      { labels: [] },
    );

    expect(asked).toEqual(['labels']);
  });

  it('fails if its condition cannot be evaluated, and says whether a retry may help', async () => {
    const timeout = new ReeveError('forge-timeout', 'no answer within 30 s');
    const body = 'if: labels.size() > 0\nsteps: [{ uses: say, with: { text: hi } }]';

    const transient = await evaluate(body, { labels: timeout });
    const lasting = await evaluate(body, { labels: new ReeveError('forge-forbidden', 'no access') });

    expect(transient).toMatchObject({
      verdict: { verdict: 'failed', reason: 'labels.size() > 0: no answer within 30 s' },
      steps: [],
      retry: timeout,
    });
    expect(lasting.verdict.verdict).toBe('failed');
    expect(lasting).not.toHaveProperty('retry');
  });

  it('fails if a step cannot be evaluated, and keeps the other steps', async () => {
    const { verdict, steps } = await evaluate(
      `steps:
  - { uses: say, with: { text: hi } }
  - { uses: say, with: { text: "\${{ pull_request.title }}" } }`,
      { pull_request: { title: null } },
    );

    expect(verdict).toMatchObject({ verdict: 'failed' });
    expect(verdict.reason).toContain('step 2 say: text: pull_request.title is null');
    expect(steps.map(({ state }) => state)).toEqual(['ready', 'failed']);
  });
});

describe('a rule about several kinds of subjects, without an event', () => {
  const verdictOf = async (body: string, given: Readonly<Record<string, unknown>>) => {
    const rule = ruleOf(fileOf(`${body}\nsteps: [{ uses: say, with: { text: hi } }]`));
    const facts = makeFacts(given, { facts: table });
    const { verdict } = await evaluateRule(rule, { facts, now, meter: createUnlimitedMeter() });
    return `${verdict.verdict}: ${verdict.reason ?? ''}`;
  };

  it('has the filters of its events about the kind of the subject, and not those of others', async () => {
    const body = 'on: { issues: {}, pull_request: { paths: "test/**" } }';

    const pull_request = { base: { ref: 'main' } };

    expect(await verdictOf(body, { pull_request, files })).toBe('skipped: filter');
    expect(await verdictOf(body, { pull_request, files: [{ filename: 'test/a' }] })).toBe('matched: ');
    expect(await verdictOf('on: [issues, push]', {})).toBe('skipped: filter');
  });
});

describe('the item of a sweep', () => {
  const rule = ruleOf(
    fileOf(
      'on: { schedule: "7 3 * * *" }\neach: issue\nif: issue.title == "listed"\nsteps: [{ uses: say, with: { text: hi } }]',
    ),
  );
  const verdictOf = async (isBeforeWrite: boolean) => {
    const facts = makeFacts({ issue: { title: 'live' } }, { facts: table, subject: { kind: 'issue' } });
    const item = { issue: { title: 'listed' } };
    const situation = { facts, item, now, meter: createUnlimitedMeter(), isBeforeWrite };
    return (await evaluateRule(rule, situation)).verdict.verdict;
  };

  it('is as it was listed, and is requested again before a write', async () => {
    expect(await verdictOf(false)).toBe('matched');
    expect(await verdictOf(true)).toBe('unmatched');
  });
});

describe('a filter on paths', () => {
  const step = 'steps: [{ uses: say, with: { text: hi } }]';
  const verdictOf = async (filter: string, given: Readonly<Record<string, unknown>> = { files }) => {
    const rule = ruleOf(fileOf(`on: { pull_request: ${filter} }\n${step}`));
    const { verdict } = await evaluateRule(rule, {
      facts: makeFacts(given, { facts: table }),
      event,
      now,
      meter: createUnlimitedMeter(),
    });
    return verdict.reason === undefined ? verdict.verdict : `${verdict.verdict}: ${verdict.reason}`;
  };

  it.each([
    ['{ paths: "docs/**" }', 'matched'],
    ['{ paths: "src/**" }', 'matched'],
    ['{ paths: "test/**" }', 'skipped: filter'],
    ['{ paths-ignore: ["docs/**"] }', 'matched'],
    ['{ paths-ignore: ["docs/**", "src/**"] }', 'skipped: filter'],
  ])('%s on a renamed file: %s', async (filter, expected) => {
    expect(await verdictOf(filter)).toBe(expected);
  });

  it('fails if the files cannot be read', async () => {
    expect(await verdictOf('{ paths: "a" }', { files: new Error('no access') })).toBe(
      'failed: paths: no access',
    );
  });
});

describe('a rule that is skipped', () => {
  it('gives the reason', () => {
    const rule = ruleOf(fileOf('on: push\nsteps: [{ uses: say, with: { text: hi } }]'));

    expect(skipRule(rule, 'own')).toEqual({
      rule: 'rules/test.yml#one',
      source: 'rules/test.yml',
      commit: '',
      line: 3,
      level: 'operator',
      revision: rule.revision,
      verdict: 'skipped',
      reason: 'own',
      findings: [],
    });
  });
});

describe('the facts that a rule reads decide whether it waits for checks', () => {
  const given = {
    pull_request: { title: 'x', mergeable: true },
    'pull_request.mergeable': false,
    statuses: [{ context: 'ci', status: 'pending' }],
    required_checks: { ci: 'pending' },
    labels: ['statuses'],
  };
  const awaits = async (condition: string): Promise<boolean> => {
    const rule = ruleOf(fileOf(`on: pull_request\nif: '${condition}'\nsteps: [{ uses: merge }]`), {
      registry,
    });
    const { awaitsChecks = false } = await evaluateRule(rule, {
      facts: makeFacts(given),
      event,
      now,
      meter: createUnlimitedMeter(),
    });
    return awaitsChecks;
  };

  it.each([
    'statuses.all(s, s.status == "success")',
    'required_checks.all(c, c.state == "success")',
    'pull_request . mergeable',
    'labels.exists(l, statuses.exists(s, s.context == l.name))',
  ])('%s waits', async (condition) => {
    expect(await awaits(condition)).toBe(true);
  });

  it.each([
    'pull_request.title == "merge the statuses"',
    'pull_request.title == "required_checks"',
    'pull_request.title == "pull_request.mergeable"',
    'has(pull_request.milestone) && pull_request.milestone.title == "statuses"',
  ])('%s does not wait', async (condition) => {
    expect(await awaits(condition)).toBe(false);
  });
});

describe('what polling does not find for a rule is named', () => {
  const gap = (on: string, condition = 'true') => {
    const step = on.includes('action_run')
      ? '{ uses: set-status }'
      : '{ uses: comment, with: { text: hello } }';
    return pollingGap(ruleOf(fileOf(`on: ${on}\nif: '${condition}'\nsteps: [${step}]`), { registry }));
  };

  it.each([
    ['issues', 'true', undefined],
    ['[issues.opened, pull_request.synchronized]', 'has(event.issue) && event.issue.title == "a"', undefined],
    ['issue_comment.created', 'command("go").found && sender_permission == "write"', undefined],
    ['issues.assigned', 'true', 'polling does not find issues.assigned'],
    ['[issues.label_updated, issues.label_cleared]', 'true', undefined],
    ['issues.label_cleared', 'true', 'polling does not find issues.label_cleared'],
    ['[status, action_run_success]', 'true', undefined],
    ['action_run_success', 'true', 'polling does not find action_run_success'],
    ['issues', 'sender.login == "ada"', 'it reads sender, which polling finds of comments and reviews alone'],
    ['issues', 'sender_permission == "write"', 'it reads sender_permission, which polling finds'],
    ['issues.edited', 'has(event.changes)', 'it reads event.changes, which only a delivery has'],
  ])('%s, %s', (on, condition, expected) => {
    const found = gap(on, condition);

    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(expected);
  });
});

describe('what a rule reads decides whether it needs its event', () => {
  const say =
    'steps: [{ uses: comment, with: { text: "The sender of the event.changes, ${{ pull_request.title }}" } }]';
  const judge = (condition: string, steps = say) => {
    const rule = ruleOf(fileOf(`on: pull_request\nif: '${condition}'\n${steps}`), { registry });
    return [needsEvent(rule), isRecoverable(rule)];
  };

  it.each([
    ['pull_request.title == "the sender of the event.commits"', [false, true]],
    ['event.action == "opened"', [true, true]],
    ['event["action"] == "opened"', [true, true]],
    ['event.requested_reviewer.login == "ada"', [true, false]],
    ['has(event.changes)', [true, false]],
    ['event[pull_request.title] == "a"', [true, false]],
    ['sender.login == "ada"', [true, false]],
  ])('%s', (condition, expected) => {
    expect(judge(condition)).toEqual(expected);
  });

  it('expressions in templates count, but plain text does not', () => {
    const text = 'steps: [{ uses: comment, with: { text: "Thank you, ${{ sender.login }}" } }]';
    expect(judge('pull_request.draft', text)).toEqual([true, false]);
  });
});
