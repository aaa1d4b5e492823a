import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import type { FactRequest } from '../../src/facts/fact.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { createUnlimitedMeter } from '../../src/patterns/meter.ts';
import { Learning } from '../../src/rules/evaluate.ts';
import { compileCondition } from '../../src/rules/expressions/conditions.ts';
import { createEnvironment, type Occasion } from '../../src/rules/files/context.ts';
import { registry } from '../../src/rules/registry.ts';
import { contextOf } from '../rules/expressions/support/context.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

const subject: Subject = {
  kind: 'pull_request',
  index: 7,
  repository: { id: 1, owner: 'acme', name: 'demo' },
};
const servers: BareServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Creates facts of a pull request with a sequence of responses, and a clock that advances only during waits. */
async function setUp(answers: readonly object[]) {
  const reads: string[] = [];
  let place = 0;
  const server = await startBareServer((seen, response) => {
    const path = seen.path.replace('/api/v1/repos/acme/demo', '');
    reads.push(path);
    if (path.startsWith('/compare/')) return json(response, { total_commits: 3, commits: [] });
    const answer = answers[Math.min(place, answers.length - 1)];
    place += 1;
    json(response, {
      id: 1,
      number: 7,
      title: 't',
      state: 'open',
      head: { ref: 'w', sha: 'h' },
      base: { ref: 'm', sha: 'b' },
      merge_base: 'o',
      ...answer,
    });
  });
  servers.push(server);
  let nowMs = 1_000_000;
  const clock = {
    monotonicMs: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms;
    },
  };
  const memory = createFactMemory(clock);
  const client = createClient({ url: server.url, tries: 1 });
  return {
    reads,
    waitedMs: () => nowMs - 1_000_000,
    facts: () => createFacts({ client, subject, memory, clock }),
  };
}

const mergeable: FactRequest = { name: 'pull_request.mergeable' };

describe('pull_request.mergeable', () => {
  it('is true without waiting', async () => {
    const { reads, waitedMs, facts } = await setUp([{ mergeable: true }]);
    const run = facts();
    await run.ask({ name: 'pull_request' });

    expect(await run.ask(mergeable)).toBe(true);
    expect([reads.length, waitedMs()]).toEqual([1, 0]);
  });

  it('waits until the forge has computed the value', async () => {
    const { reads, facts } = await setUp([{ mergeable: false }, { mergeable: false }, { mergeable: true }]);

    expect(await facts().ask(mergeable)).toBe(true);
    expect(reads).toHaveLength(3);
  });

  it('is false after more than 10 s without a change, and then immediately in later runs of the same head', async () => {
    const { reads, waitedMs, facts } = await setUp([{ mergeable: false }]);
    expect(await facts().ask(mergeable)).toBe(false);
    expect(waitedMs()).toBeGreaterThan(10_000);
    expect(reads).toHaveLength(5);

    expect(await facts().ask(mergeable)).toBe(false);
    expect(reads).toHaveLength(6);
  });

  it.each([{ draft: true }, { state: 'closed' }])('is false without waiting for %j', async (more) => {
    const { waitedMs, facts } = await setUp([{ mergeable: false, ...more }]);

    expect(await facts().ask(mergeable)).toBe(false);
    expect(waitedMs()).toBe(0);
  });
});

describe('pull_request.behind', () => {
  it('counts the base commits that the head lacks, regardless of the merge base that the forge still shows', async () => {
    const { reads, facts } = await setUp([{ merge_base: 'b' }]);

    expect(await facts().ask({ name: 'pull_request.behind' })).toBe(3);
    expect(reads.at(-1)).toContain('/compare/h...b');
  });

  it('is an error for a pull request without a head', async () => {
    const { facts } = await setUp([{ head: null }]);

    await expect(facts().ask({ name: 'pull_request.behind' })).rejects.toThrow('no head or no base');
  });
});

describe('a pull request field that is a separate fact', () => {
  const onPull: Occasion = { family: 'pull_request', subject: 'pull_request' };
  const compile = (source: string, occasions: readonly Occasion[] = [onPull]) =>
    compileCondition(source, contextOf(createEnvironment({ registry, level: 'operator', occasions })), {
      file: 'x',
      at: () => ({ line: 1, column: 1 }),
    });
  const answer = async (source: string, given: Readonly<Record<string, unknown>>) => {
    const compiled = compile(source);
    if ('problems' in compiled) throw new Error(compiled.problems[0]?.message);
    const { condition } = compiled;
    const knowledge = new Learning(createGivenFacts({ subject, given }), {});
    await knowledge.learn(condition.facts);
    return {
      asks: condition.facts.map(({ name }) => name),
      ...condition.evaluate(knowledge, createUnlimitedMeter()),
    };
  };

  it('is requested separately, and shown under its own name', async () => {
    const given = { pull_request: { title: 'x', behind: 3, mergeable: true } };

    expect(await answer('pull_request.behind > 2 && pull_request.mergeable', given)).toMatchObject({
      asks: ['pull_request.behind', 'pull_request.mergeable'],
      result: 'held',
      findings: [{ values: { 'pull_request.behind': 3 } }, { values: { 'pull_request.mergeable': true } }],
    });
    expect(await answer('[1].exists(n, n < pull_request.behind)', given)).toMatchObject({ result: 'held' });
    expect(await answer('pull_request.title == "x"', given)).toMatchObject({ asks: ['pull_request'] });
    expect(await answer('has(pull_request.behind)', given)).toMatchObject({ result: 'held' });
    expect(await answer('pull_request.behind > 2', { pull_request: {} })).toMatchObject({ result: 'error' });
  });

  it('is checked at load', () => {
    const codes = (source: string, occasions?: readonly Occasion[]) => {
      const compiled = compile(source, occasions);
      return 'problems' in compiled ? compiled.problems.map(({ code }) => code) : [];
    };

    expect(codes('pull_request.behind == "x"')).toEqual(['expression-type']);
    expect(codes('pull_request.behind.x == 1')).toEqual(['unknown-member']);
    expect(codes('pull_request["behind"] == 1')).toEqual(['expression']);
    expect(codes('pull_request.behind > 1', [onPull, { family: 'push', subject: 'branch' }])).toEqual([
      'needs-has',
    ]);
    expect(codes('sender_permission == "write"', [onPull, { subject: 'pull_request' }])).toEqual([
      'needs-has',
    ]);
    expect(codes('command("x").found', [onPull])).toEqual(['subject']);
    expect(
      codes('command("x").found', [onPull, { family: 'pull_request_comment', subject: 'pull_request' }]),
    ).toEqual([]);
    expect(codes('command("/x").found', [{ family: 'issue_comment', subject: 'issue' }])).toEqual(['value']);
    expect(codes('"a" in team("release")')).toEqual(['value']);
  });
});
