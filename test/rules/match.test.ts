import { describe, expect, it } from 'vitest';
import { type Event, parseEvent } from '../../src/contract/events/events.ts';
import { createUnlimitedMeter } from '../../src/patterns/meter.ts';
import { isInScope, skipReason } from '../../src/rules/match.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { fileOf, ruleOf } from './support/load.ts';

const meter = createUnlimitedMeter();
const repository = { id: 1, full_name: 'acme/site', owner: { id: 2 } };

function makeEvent(eventType: string, payload: Readonly<Record<string, unknown>>): Event {
  return parseEvent(eventType, { action: '', repository, ...payload });
}

const pull = (action: string, base = 'main') =>
  makeEvent('pull_request', { action, number: 7, pull_request: { number: 7, base: { ref: base } } });
const push = (ref: string) => makeEvent('push', { ref, before: 'a', after: 'b' });
const create = (ref: string, type: string) => makeEvent('create', { ref, ref_type: type });

const step = 'steps: [{ uses: say, with: { text: hi } }]';

describe('a rule considers an event', () => {
  it.each([
    ['on: pull_request', pull('opened'), undefined],
    ['on: pull_request.opened', pull('opened'), undefined],
    ['on: pull_request.opened', pull('closed'), 'kind'],
    ['on: push', pull('opened'), 'kind'],
    ['on: [push, pull_request.opened]', pull('opened'), undefined],
    ['on: { pull_request: { branches: main } }', pull('opened'), undefined],
    ['on: { pull_request: { branches: [main, "release/*"] } }', pull('opened', 'release/1'), undefined],
    ['on: { pull_request: { branches: [main] } }', pull('opened', 'dev'), 'filter'],
    ['on: { pull_request: { branches-ignore: [main] } }', pull('opened', 'main'), 'filter'],
    ['on: { pull_request: { branches-ignore: [main] } }', pull('opened', 'dev'), undefined],
    ['on: { push: { branches: "**" } }', push('refs/heads/a/b'), undefined],
    ['on: { push: { branches: main } }', push('refs/tags/v1'), 'filter'],
    ['on: { push: { tags: "v*" } }', push('refs/tags/v1'), undefined],
    ['on: { push: { tags: "v*" } }', push('refs/heads/v1'), 'filter'],
    ['on: { push: { branches: main, tags: "v*" } }', push('refs/tags/v1'), undefined],
    ['on: { push: { branches-ignore: main, tags-ignore: "v*" } }', push('refs/tags/x'), undefined],
    ['on: { create: { tags: "v*" } }', create('v1', 'tag'), undefined],
    ['on: { create: { branches: "v*" } }', create('v1', 'tag'), 'filter'],
    ['in: "acme/*"\non: push', push('refs/heads/main'), undefined],
    ['in: ["acme/*", "!ACME/site"]\non: push', push('refs/heads/main'), 'scope'],
    ['in: "other/*"\non: push', push('refs/heads/main'), 'scope'],
  ])('%s', (body, event, expected) => {
    expect(skipReason(ruleOf(fileOf(`${body}\n${step}`)), event, meter)).toBe(expected);
  });

  it("by the rule's scope, if an item of a sweep has no repository", () => {
    const rule = (scope: string) => ruleOf(fileOf(`in: ${scope}\non: push\n${step}`));

    expect(isInScope(rule('"acme/*"'), { kind: 'organization', organization: 'acme' }, meter)).toBe(true);
    expect(isInScope(rule('acme/site'), { kind: 'organization', organization: 'acme' }, meter)).toBe(false);
    expect(isInScope(rule('"*"'), { kind: 'runner' }, meter)).toBe(true);
    expect(isInScope(rule('"acme/*"'), { kind: 'runner' }, meter)).toBe(false);
  });
});

describe('a set of rules', () => {
  it('finds listeners by family, with the highest source first', () => {
    const one = ruleOf(fileOf(`on: [push, create]\n${step}`), { level: 'repository', path: 'a.yml' });
    const two = ruleOf(fileOf(`on: push\n${step}`), { path: 'b.yml' });
    const clock = ruleOf(fileOf(`on: { schedule: "1 2 * * *" }\neach: repository\n${step}`), {
      path: 'c.yml',
    });

    const set = createRuleSet([one, two, clock]);

    expect(set.listeningTo('push')).toEqual([two, one]);
    expect(set.listeningTo('create')).toEqual([one]);
    expect(set.listeningTo('fork')).toEqual([]);
    expect(set.find('b.yml#one')).toBe(two);
  });
});

it('the subject of an event distinguishes a tag from a branch', () => {
  expect(push('refs/tags/v1').subject).toMatchObject({ ref: 'v1', isTag: true });
  expect(create('v1', 'tag').subject).toMatchObject({ ref: 'v1', isTag: true });
  expect(push('refs/heads/main').subject).not.toHaveProperty('isTag');
  expect(create('main', 'branch').subject).not.toHaveProperty('isTag');
});
