import { describe, expect, it } from 'vitest';
import { compareReplies } from '../scripts/conformance/peer/compare.ts';
import { readSteps, refusedSteps } from '../scripts/conformance/peer/contract-steps.ts';
import { explain } from '../scripts/conformance/peer/explained.ts';
import { lastSteps, seedSteps } from '../scripts/conformance/peer/seed-steps.ts';
import { createSide, type Reply, step } from '../scripts/conformance/peer/side.ts';
import { comparePeer } from '../scripts/conformance/peer.ts';
import type { Operation } from '../src/contract/operation.ts';
import { operations } from '../src/contract/operations.ts';
import { startEmbedded } from './support/contract-forge.ts';
import { isThorough } from './support/figure.ts';

const steps = [...seedSteps, ...readSteps(), ...refusedSteps(), ...lastSteps];

describe('the comparison of two responses', () => {
  const ours = createSide('http://127.0.0.1:1000', 'a', {});
  const theirs = createSide('http://127.0.0.1:2000', 'b', {});
  const options = { run: 'run', isInstanceWide: false, isUnordered: false };
  const reply = (body: unknown, { status = 200, headers = {} } = {}): Reply => ({
    status,
    headers: new Headers({ 'content-type': 'application/json', ...headers }),
    text: JSON.stringify(body),
    json: body,
  });
  const compare = (one: Reply, other: Reply, more = {}) =>
    compareReplies({ side: ours, reply: one }, { side: theirs, reply: other }, { ...options, ...more }).map(
      ({ at }) => at,
    );

  it('ignores addresses, row numbers, times and random values', () => {
    const made = (url: string, id: number, digit: string) =>
      reply(
        {
          id,
          html_url: `${url}/a/b/releases/${id}`,
          created_at: `2026-01-0${digit}T00:00:00Z`,
          sha: digit.repeat(40),
          size: 3,
        },
        { headers: { link: `<${url}/api/v1/x?page=2>; rel="next"` } },
      );

    expect(compare(made(ours.url, 1, '1'), made(theirs.url, 27, '2'))).toEqual([]);
  });

  it('detects differences in status, header, field, value, order and length', () => {
    expect(compare(reply({}), reply({}, { status: 201 }))).toEqual(['status']);
    expect(compare(reply({}), reply({}, { headers: { 'x-total-count': '1' } }))).toEqual(['x-total-count']);
    expect(compare(reply({ a: null }), reply({}))).toEqual(['body.a']);
    expect(compare(reply({ a: { b: 1 } }), reply({ a: { b: '1' } }))).toEqual(['body.a.b']);
    expect(compare(reply([{ a: 1 }, { a: 2 }]), reply([{ a: 2 }, { a: 1 }]))).toEqual([
      'body[].a',
      'body[].a',
    ]);
    expect(compare(reply([1]), reply([]))).toEqual(['body.length']);
    expect(compare(reply({ id: 0 }), reply({ id: 5 }))).toEqual(['body.id']);
    expect(compare(reply({ at: '0001-01-01T00:00:00Z' }), reply({ at: '2026-01-01T00:00:00Z' }))).toEqual([
      'body.at',
    ]);
  });

  it('ignores the order of unordered lists, and rows created by other tests', () => {
    const [one, other] = [reply([{ a: 1 }, { a: 2 }]), reply([{ a: 2 }, { a: 1 }])];
    const wide = { isInstanceWide: true };

    expect(compare(one, other, { isUnordered: true })).toEqual([]);
    expect(compare(reply([{ name: 'ada-run' }, { name: 'x' }]), reply([{ name: 'ada-run' }]), wide)).toEqual(
      [],
    );
    expect(compare(reply([{ name: 'ada-run' }]), reply([]), wide)).toEqual(['body.length']);
  });

  it('excuses a known server bug, but no other difference in the same response', () => {
    const get = step('ada', 'GET', '/repos/$ada/site');
    const at = 'status';

    expect(explain(get, { at, ours: '404 x', theirs: '500 x' })).toBeDefined();
    expect(explain(get, { at, ours: '404 x', theirs: '200 x' })).toBeUndefined();
    expect(explain(get, { at: 'body.name', ours: 'a', theirs: 'b' })).toBeUndefined();
  });
});

describe('the requests of the comparison', () => {
  const patterns = Object.values<Operation>(operations).map(
    ({ method, path }) =>
      new RegExp(
        `^${method} ${path.replace(/[.]/g, '\\.').replace(/\{\w+(\*?)\}/g, (_, rest) => (rest ? '.+' : '[^/]+'))}$`,
      ),
  );

  it('are thousands, each for an existing operation', () => {
    const unknown = steps.filter(({ method, path }) => {
      const asked = `${method} ${path.replace(/\?.*/, '')}`;
      return !patterns.some((pattern) => pattern.test(asked));
    });

    expect(unknown.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    expect(steps.length).toBeGreaterThan(3_000);
  });

  it('cover nearly every operation', () => {
    const asked = new Set(steps.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`));
    const unasked = patterns.filter((pattern) => ![...asked].some((one) => pattern.test(one)));

    expect(unasked.length).toBeLessThan(10);
  });

  // Sends thousands of requests to two forges. The contract suite asserts the same behaviour.
  it.runIf(isThorough)('find no difference between two embedded forges', async () => {
    const peer = await startEmbedded();
    try {
      const { requests, unexplained } = await comparePeer({
        url: peer.url,
        token: peer.adminToken,
        version: '1.27.0',
      });

      expect(unexplained).toEqual([]);
      expect(requests).toBe(steps.length);
    } finally {
      await peer.close();
    }
  });
});
