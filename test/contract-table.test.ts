import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { activitiesOf, eventFamilies } from '../src/contract/events/event-families.ts';
import { laneOf, parseEvent } from '../src/contract/events/events.ts';
import { payloadShapes } from '../src/contract/events/payloads.ts';
import { fillPath, type Operation } from '../src/contract/operation.ts';
import { operations } from '../src/contract/operations.ts';
import { errorCodes } from '../src/platform/errors.ts';
import { makeDeliveries, requiredMembers } from './support/deliveries.ts';

describe('the table of operations', () => {
  const rows: readonly Operation[] = Object.values(operations);

  it('has one row per id, and one per method and path', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(new Set(rows.map(({ method, path }) => `${method} ${path}`)).size).toBe(rows.length);
  });

  it.each(rows.map((row) => [row.id, row] as const))(
    '%s states its meaning and its source, and names its parameters',
    (_id, row) => {
      const named = [...row.path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name);

      expect(row.meaning).toMatch(/\.$/);
      expect(row.source.length).toBeGreaterThan(10);
      expect(Object.keys(row.params.shape).sort()).toEqual(named.sort());
      if (row.paging) expect(Object.keys(row.query?.shape ?? {})).toEqual(expect.arrayContaining(['page']));
      if (row.method === 'GET' || row.method === 'DELETE') expect(row.success).toBeLessThan(205);
    },
  );

  it.each(['..', 'a/../b', 'a/./b'])('never fills a path with %s', (value) => {
    expect(() => fillPath(operations.getBranch, { owner: 'o', repo: 'r', branch: value })).toThrow(TypeError);
  });

  it('keeps slashes, except in names that some forges do not find with slashes', () => {
    const at = { owner: 'o', repo: 'r' };

    expect(fillPath(operations.getBranch, { ...at, branch: 'a/b' })).toBe('/repos/o/r/branches/a/b');
    expect(fillPath(operations.editBranchProtection, { ...at, name: 'a/*' })).toBe(
      '/repos/o/r/branch_protections/a%2F*',
    );
  });
});

describe('the table of event kinds', () => {
  it('has a payload shape for each family, with the required fields of a body', () => {
    for (const [family, row] of Object.entries(eventFamilies)) {
      const shape = payloadShapes[family as keyof typeof payloadShapes];
      expect(Object.keys(shape.shape), family).toEqual(expect.arrayContaining([...requiredMembers(row)]));
      expect(shape, family).toBeInstanceOf(z.ZodObject);
    }
  });

  it('reads a delivery of every kind, with its activity, subject and lane', () => {
    for (const { eventType, activity, payload } of makeDeliveries()) {
      const event = parseEvent(eventType, payload);
      const family = event.family;
      if (family === undefined) throw new Error(eventType);
      expect(event.repository, eventType).toEqual({ id: 4_711, owner: 'acme', name: 'elsewhere' });
      expect(laneOf(event), eventType).toMatch(/^4711(#7)?$/);
      if (activity !== '') expect(activitiesOf(family)).toContain(event.activity);
      expect(event.sender).toEqual({ id: 7, login: 'ada' });
    }
  });
});

it('every error code is used', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && path !== 'errors.ts')
    .map((path) => readFileSync(`src/${path}`, 'utf8'))
    .join('\n');
  const unused = Object.keys(errorCodes).filter((code) => !sources.includes(`'${code}'`));

  expect(unused).toEqual([]);
});
