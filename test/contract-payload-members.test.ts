import { describe, expect, it } from 'vitest';
import { eventFamilies, type Family, familyOf } from '../src/contract/events/event-families.ts';
import { parseDelivery, parseEvent } from '../src/contract/events/events.ts';
import { makeDeliveries, requiredMembers } from './support/deliveries.ts';

/** Values that are invalid for every field. */
const wrongForAll: readonly unknown[] = [undefined, null, [], true, 1.5, Number.NaN];
const malformed = { code: 'delivery-malformed' };

describe.each(makeDeliveries())('a delivery of $eventType ($activity)', ({ eventType, payload }) => {
  const family = familyOf(eventType) as Family;

  it.each(requiredMembers(eventFamilies[family]))('is malformed with another value of %s', (member) => {
    for (const value of wrongForAll) {
      expect(() => parseDelivery(eventType, { ...payload, [member]: value })).toThrow(
        expect.objectContaining({
          ...malformed,
          message: expect.stringContaining(`${eventType}: ${member}`),
        }),
      );
    }
  });

  it('is malformed if its sender has another shape', () => {
    for (const sender of [5, 'ada', [], {}, { id: '7' }, { id: 7, login: 5 }]) {
      expect(() => parseDelivery(eventType, { ...payload, sender })).toThrow(
        expect.objectContaining(malformed),
      );
    }
  });

  it('is a valid event if it is not changed', () => {
    expect(parseDelivery(eventType, payload)).toEqual(parseEvent(eventType, payload));
  });
});

describe('an event', () => {
  it('needs no sender, because catching up does not know one', () => {
    const push = { ref: 'refs/heads/main', before: '0', after: '1', repository: { id: 1, full_name: 'a/b' } };

    expect(parseEvent('push', { ...push, sender: null }).sender).toBeUndefined();
    expect(() => parseDelivery('push', { ...push, sender: null })).toThrow(
      expect.objectContaining(malformed),
    );
  });

  it('may name the owner of its repository without an id, because catching up knows only the name', () => {
    const repository = { id: 7, name: 'b', full_name: 'a/b', owner: { login: 'a' } };
    const payload = { action: 'opened', number: 1, issue: { number: 1 }, repository, sender: null };

    expect(parseEvent('issues', payload).subject).toMatchObject({ kind: 'issue', index: 1 });
    expect(() =>
      parseEvent('issues', { ...payload, repository: { ...repository, owner: { id: 'x' } } }),
    ).toThrow(expect.objectContaining(malformed));
  });

  it('of an unknown kind may have any fields', () => {
    expect(parseDelivery('moon_landing', { repository: 5, sender: null }).family).toBeUndefined();
  });

  it('takes the repository of a run from the run, even if the payload has no repository', () => {
    const run = { id: 1, repository: { id: 7, full_name: 'a/b' } };
    const payload = { action: 'failure', run, repository: null };

    expect(parseDelivery('action_run_failure', payload).repository).toEqual({ id: 7, owner: 'a', name: 'b' });
  });
});
