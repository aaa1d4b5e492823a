import { describe, expect, it } from 'vitest';
import { parseMentions } from '../../../src/forge/notifications/notifications-service.ts';
import { cpuMs } from '../../support/cpu-time.ts';

describe('parseMentions', () => {
  it.each([
    ['@ada', ['ada']],
    ['thanks @Ada, @bob. And @eve', ['ada', 'bob', 'eve']],
    ['(@ada) [@bob]', ['ada', 'bob']],
    ["@ada's idea, @acme/core: see", ['ada', 'acme/core']],
    ['@ada\n@ada @ADA', ['ada']],
    ['@first.last! ok', ['first.last']],
    ['mail ada@example.org', []],
    ['a/@ada and `@bob`', []],
    ['@', []],
    ['@ada+bob', []],
    ['@acme/core/more', []],
  ])('finds, in the text %j, the names %j', (text, names) => {
    expect(parseMentions(text)).toEqual(names);
  });

  it('stops at fifty names', () => {
    const text = Array.from({ length: 80 }, (_, at) => `@user${at}`).join(' ');

    expect(parseMentions(text)).toHaveLength(50);
  });

  it('parses a long hostile text quickly', () => {
    const before = cpuMs();

    for (const text of ['@a'.repeat(200_000), `@${'a.'.repeat(200_000)}`, '@-/'.repeat(200_000)])
      parseMentions(text);

    expect(cpuMs() - before).toBeLessThan(2_000);
  });
});
