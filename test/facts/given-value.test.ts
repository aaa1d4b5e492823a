import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { int, resource, text } from '../../src/contract/shape.ts';
import { facts } from '../../src/facts/facts.ts';
import { describeShape, guardGiven } from '../../src/facts/given-facts.ts';

const Person = resource({ id: int, login: text }, { email: text });
const Shape = resource(
  { id: int, title: text, owner: Person, state: z.enum(['open', 'closed']) },
  { people: z.array(Person), note: text, flags: z.record(text, text), status: text },
);
type Read = z.output<typeof Shape>;
const guarded = (value: unknown): Read => guardGiven(value, Shape, 'facts.thing') as Read;

describe('a given value', () => {
  it('is read like a response: missing and null lists are empty, optional fields are absent', () => {
    const value = guarded({ title: 'a', people: null, owner: { login: 'ada' } });

    expect([value.people, value.note, value.owner.email]).toEqual([[], undefined, undefined]);
    expect(guarded({}).people).toEqual([]);
    expect([value.title, value.owner.login]).toEqual(['a', 'ada']);
  });

  it('may lack numbers that are only compared', () => {
    expect(guarded({}).id).toBeUndefined();
  });

  it.each<[string, unknown, (value: Read) => unknown, string]>([
    ['a text', {}, (value) => value.title, 'facts.thing.title must be text, but is missing'],
    ['a word', {}, (value) => value.state, 'facts.thing.state must be open or closed, but is missing'],
    [
      'a status that a forge may omit',
      {},
      (value) => value.status,
      'facts.thing.status must be text, but is missing',
    ],
    ['an object', {}, (value) => value.owner, 'facts.thing.owner must be an object, but is missing'],
    [
      'a field of an item',
      { people: [{ login: 'ada' }, {}] },
      (value) => value.people[1]?.login,
      'facts.thing.people[1].login must be text, but is missing',
    ],
    [
      'a list that is an object',
      { people: {} },
      (value) => value.people,
      'facts.thing.people must be a list, but is an object',
    ],
    [
      'a number that is a text',
      { id: '7' },
      (value) => value.id,
      'facts.thing.id must be a number, but is text',
    ],
    [
      'a text that is null',
      { title: null },
      (value) => value.title,
      'facts.thing.title must be text, but is null',
    ],
    [
      'an item that is a text',
      { people: ['ada'] },
      (value) => value.people,
      'facts.thing.people[0] must be an object, but is text',
    ],
    ['a list for an object', [], (value) => value, 'facts.thing must be an object, but is a list'],
  ])('is reported with its path if %s is missing or wrong', (_, value, read, message) => {
    expect(() => read(guarded(value))).toThrow(message);
  });

  it('has exactly the given fields', () => {
    const written = { title: 'a', extra: [1] };

    expect(JSON.parse(JSON.stringify(guarded(written)))).toEqual(written);
    expect(Object.hasOwn(guarded(written), 'owner')).toBe(false);
    expect(Reflect.get(guarded(written), 'extra')).toEqual([1]);
  });
});

it.each(facts.map((fact) => [fact.name, fact] as const))(
  'the type of %s has a name in messages',
  (_, fact) => {
    expect(describeShape(fact.shape)).toMatch(
      /^(a list|an object|text|a number|true or false|none, .* or owner)$/,
    );
  },
);
