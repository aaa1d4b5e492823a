import { describe, expect, it } from 'vitest';
import { eventExample, exampleOf, functionExamples, operatorExample } from '../scripts/reference/examples.ts';
import { referencePages } from '../scripts/reference/pages.ts';
import { stalePages } from '../scripts/reference.ts';
import { actions } from '../src/actions/actions.ts';
import { eventFamilies, type Family } from '../src/contract/events/event-families.ts';
import { facts } from '../src/facts/facts.ts';
import { createUnlimitedMeter } from '../src/patterns/meter.ts';
import { compileCondition } from '../src/rules/expressions/conditions.ts';
import { functions, loops } from '../src/rules/expressions/functions.ts';
import { createEnvironment } from '../src/rules/files/context.ts';
import { loadRuleFile } from '../src/rules/files/load.ts';
import { registry } from '../src/rules/registry.ts';
import { parseOperatorFile } from '../src/server/settings/operator-file.ts';
import { contextOf } from './rules/expressions/support/context.ts';

const environment = createEnvironment({
  registry: { ...registry, payloads: {} },
  level: 'operator',
  occasions: [{ family: 'push', subject: 'branch' }],
});
const names = [...new Set([...functions.map(({ name }) => name), ...Object.keys(loops), 'has'])];

it('the pages are up to date', () => {
  expect(stalePages()).toEqual([]);
});

it('there is a page for each action, fact, event and function', () => {
  const paths = [...referencePages().keys()];

  for (const { name } of actions) expect(paths).toContain(`actions/${name}.md`);
  for (const { name } of facts) expect(paths).toContain(`facts/${name}.md`);
  for (const family of Object.keys(eventFamilies)) expect(paths).toContain(`events/${family}.md`);
  for (const name of names) expect(paths).toContain(`functions/${name}.md`);
});

it('no field is documented as an object without its fields', () => {
  const open = [...referencePages()].flatMap(([path, text]) => {
    const rows = [...text.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)];
    return rows
      .filter(([, name, type], place) => {
        const isObject = /an object/.test(type ?? '');
        return isObject && !rows[place + 1]?.[1]?.startsWith(name ?? '');
      })
      .map(([, name]) => `${path}: ${name}`);
  });

  expect(open).toEqual([]);
});

it('every link to the page of an object has a target', () => {
  const pages = referencePages();
  const links = [...pages.values()].flatMap((text) =>
    [...text.matchAll(/\(\.\.\/(objects\/[\w-]+\.md)\)/g)].map(([, path]) => path ?? ''),
  );

  expect(links.length).toBeGreaterThan(100);
  expect(links.filter((path) => !pages.has(path))).toEqual([]);
});

describe('the example of each function holds', () => {
  it.each(names)('%s', (name) => {
    const source = exampleOf(name);
    const compiled = compileCondition(source, contextOf(environment), {
      file: 'x',
      at: () => ({ line: 1, column: 1 }),
    });
    if ('problems' in compiled) throw new Error(compiled.problems[0]?.message);
    const known = { event: {}, now: new Date('2026-11-20T12:00:00Z') };
    const find = ({ name: asked }: { name: string }) =>
      Object.hasOwn(known, asked) ? { value: Reflect.get(known, asked) } : undefined;
    const answer = compiled.condition.evaluate({ find }, createUnlimitedMeter());

    expect(source).toContain(`${name}(`);
    expect(answer).toMatchObject({ result: 'held' });
  });

  it('no example is for a function that no longer exists', () => {
    expect(Object.keys(functionExamples).filter((name) => !names.includes(name))).toEqual([]);
  });
});

it.each(Object.keys(eventFamilies))('the example rule for the event %s loads', (family) => {
  const text = eventExample(family as Family);

  expect(loadRuleFile({ path: 'x.yml', text, level: 'operator', commit: '', registry }).problems).toEqual([]);
});

it('the operator file of the reference can be loaded, and contains every key', () => {
  const { file, problems } = parseOperatorFile('x.yml', operatorExample);

  expect(problems).toEqual([]);
  const page = referencePages().get('operator-file.md') ?? '';
  for (const [, key] of page.matchAll(/^\| `([\w-]+)` \|/gm)) expect(Object.keys(file ?? {})).toContain(key);
});
