import { describe, expect, it } from 'vitest';
import { createKeptHeaders } from '../../../src/server/receiver/guards.ts';
import { decodeHeaders } from '../../../src/store/stored-headers.ts';

const first = { uuid: 'uuid-1', eventType: 'push', bytes: 10 };
const next = { uuid: 'uuid-2', eventType: 'push', bytes: 2_000 };
/** Returns the headers of a delivery as a forge sends them, alternating name and value. */
const sent = ({ uuid, bytes }: typeof first, given: Record<string, string> = {}): string[] =>
  Object.entries({
    Host: 'reeve.test',
    'User-Agent': 'Go-http-client/1.1',
    Authorization: 'Bearer x',
    'Content-Length': `${bytes}`,
    'X-Gitea-Delivery': uuid,
    ...given,
  }).flat();
/**
 * Returns the stored headers of a delivery. `keep` may remember headers of earlier deliveries; by default, it is new.
 */
const keptOf = (delivery: typeof first, headers: string[], keep = createKeptHeaders()) =>
  decodeHeaders(keep(headers, delivery), delivery);
const many = (count: number): string[] => Array.from({ length: count }, (_, at) => [`x-${at}`, 'y']).flat();

describe('the stored headers of a delivery', () => {
  it.each([
    ['User-Agent', 'Go-http-client/1.1', 'Go-http-client/1.1'],
    ['X-Forgejo-Event-Type', 'push', 'push'],
    ['X-Gogs-Hook-Id', '7', '7'],
    ['X-GitHub-Hook-Installation-Target-Type', 'repository', 'repository'],
    ['Accept', '', ''],
    ['Accept', 'x'.repeat(200), 'x'.repeat(200)],
    ['Accept', 'x'.repeat(201), undefined],
    ['Accept', 'line\nbreak', undefined],
    ['Host', 'caf\u00e9', undefined],
    ['Content-Length', '10', '10'],
    ['Content-Length', '11', undefined],
    ['X-Gitea-Delivery', 'uuid-1', 'uuid-1'],
    ['X-Gitea-Signature', 'f00', undefined],
    ['Authorization', 'Bearer x', undefined],
    ['X-Forwarded-For', '10.0.0.1', undefined],
  ])('%s: %j is stored as %j', (name, value, expected) => {
    const { headers } = keptOf(first, [name, value]);

    expect(headers).toEqual([
      { name: name.toLowerCase(), ...(expected !== undefined && { value: expected }) },
    ]);
  });

  it('are at most 64, with names of at most 64 characters; omitted headers are counted', () => {
    const whole = keptOf(first, many(64));
    const more = keptOf(first, many(66));
    const long = keptOf(first, ['x'.repeat(65), '', 'y'.repeat(64), '']);

    expect([whole.headers.length, whole.leftOut]).toEqual([64, 0]);
    expect([more.headers.length, more.leftOut]).toEqual([64, 2]);
    expect(long).toEqual({ headers: [{ name: 'y'.repeat(64) }], leftOut: 1 });
  });

  // Headers equal to those of an earlier delivery are compared instead of parsed, so nothing of that delivery may leak
  // into a later one.
  it.each<[string, typeof first, string[]]>([
    ['the same with another uuid and size', next, sent(next)],
    ['another value of a header that is shown', next, sent(next, { 'User-Agent': 'other/2' })],
    ['another value of a header that is not shown', next, sent(next, { Authorization: 'Bearer y' })],
    ['a value that is not plain', next, sent(next, { 'User-Agent': 'caf\u00e9' })],
    ['a uuid that is not its own', next, sent(first, { 'Content-Length': '2000' })],
    ['a length that is not its own', next, sent({ ...next, bytes: 10 })],
    ['a header more', next, sent(next, { Accept: '*/*' })],
    ['a header less', next, sent(next).slice(2)],
    ['another name in its place', next, ['Accept', ...sent(next).slice(1)]],
    ['another order', next, [...sent(next).slice(2), ...sent(next).slice(0, 2)]],
    ['names in another case', next, sent(next).map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text))],
    ['another event type', { ...next, eventType: 'issues' }, sent(next, { Accept: '*/*' })],
    ['none', next, []],
  ])('are those of this delivery, whatever came before: %s', (_title, delivery, headers) => {
    const keep = createKeptHeaders();
    keep(sent(first), first);

    expect(keptOf(delivery, headers, keep)).toEqual(keptOf(delivery, headers));
    expect(keptOf(first, sent(first), keep)).toEqual(keptOf(first, sent(first)));
  });

  it.each([
    ['a value that was not plain', ['Accept', 'caf\u00e9'], ['Accept', 'text/html']],
    ['a length that was wrong', ['Content-Length', '9'], ['Content-Length', '10']],
    ['a header beyond the limit', [...many(64), 'Accept', 'a'], [...many(64), 'Accept', 'b']],
    ['a name beyond the limit', ['x'.repeat(65), ''], ['y'.repeat(65), '']],
  ])('are parsed again after %s', (_title, before, after) => {
    const keep = createKeptHeaders();
    keep(before, first);

    expect(keptOf(first, after, keep)).toEqual(keptOf(first, after));
  });

  it('are the same text for all deliveries of a hook, so that the text is stored once', () => {
    expect(createKeptHeaders()(sent(next), next)).toBe(createKeptHeaders()(sent(first), first));
  });

  it('do not depend on how many event types came before', () => {
    const keep = createKeptHeaders();
    const types = Array.from({ length: 300 }, (_, at) => ({ ...first, eventType: `type-${at}` }));

    for (const delivery of [...types, ...types])
      expect(keptOf(delivery, sent(delivery), keep)).toEqual(keptOf(delivery, sent(delivery)));
  });
});
