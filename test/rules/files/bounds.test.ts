import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatProblems } from '../../../src/rules/problem.ts';
import { propertyRuns, recordFigure } from '../../support/figure.ts';
import { load } from '../support/load.ts';

const long = process.env.LONG !== undefined;

const whole = `version: 1
mode: observe
in: ["acme/*", "!acme/attic"]
rules:
  labels:
    on: [push, { pull_request: { types: [opened, synchronized], branches: [main, "release/*"] } }]
    each: pull_request
    if: "!pull_request.draft && labels.exists(l, l.name == 'x')"
    steps:
      - uses: tag
        with:
          sync:
            docs: files.exists(f, f.filename.glob("docs/**"))
      - uses: say
        if: >-
          has(event.number) && event.number > 5
        with: { text: "\${{ pull_request.title }}", as: note }
`;

describe('a mutated rule file', () => {
  it('has either rules or problems with positions, and never throws', (context) => {
    // The mutations start from a valid file: mutations of a broken file would all be refused.
    expect(load(whole).problems).toEqual([]);
    let [files, refused] = [0, 0];
    const piece = fc.constantFrom(
      '!',
      '&a',
      '*a',
      '${{',
      '}}',
      ': ',
      '- ',
      '\n',
      '\t',
      '"',
      "'",
      '{',
      '[',
      '%',
      '#',
      '|',
      '>',
      '\u0000',
      '\ud800',
      '__proto__',
      'constructor',
      '<<: ',
      '? ',
      '!!js',
      '0x',
      '~',
      'on',
      'steps:',
    );
    const mutation = fc.record({
      at: fc.nat(whole.length),
      remove: fc.nat(30),
      insert: fc.oneof(piece, fc.string({ maxLength: 5 })),
    });
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
        let text = whole;
        for (const { at, remove, insert } of mutations)
          text = text.slice(0, at) + insert + text.slice(at + remove);

        const { rules, problems } = load(text);

        expect(rules.length === 0 || problems.length === 0).toBe(true);
        files += 1;
        if (problems.length > 0) refused += 1;
        formatProblems(problems);
        const lines = text.split('\n');
        for (const { line, column, message } of problems) {
          expect(message).not.toBe('');
          expect(line).toBeLessThanOrEqual(lines.length + 1);
          expect(column).toBeGreaterThan(0);
        }
      }),
      { numRuns: long ? 100_000 : propertyRuns(1_500) },
    );
    recordFigure(
      context,
      `${files.toLocaleString('en')} mutated files: ${refused.toLocaleString('en')} refused with their places, 0 crashes`,
    );
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'])(
    'does not accept an inherited property name such as %s as a key',
    (name) => {
      const keys = [...whole.matchAll(/(?<=^|[{ -])([a-z_]+): /gm)];
      expect(keys.length).toBeGreaterThan(15);
      for (const { index, 1: key = '' } of keys) {
        const text = whole.slice(0, index) + name + whole.slice(index + key.length);

        const { rules, problems } = load(text);

        expect(rules.length === 0 || problems.length === 0).toBe(true);
        // Names of rules and labels may be chosen freely.
        if (!['labels', 'docs'].includes(key)) expect(problems.length).toBeGreaterThan(0);
      }
    },
  );

  it('of 64 KiB is loaded or refused within half a second', (context) => {
    let worstMs = 0;
    const flow = `version: 1\nrules: {${Array.from({ length: 9_000 }, (_, n) => `r${n}`).join(', ')}}`;
    const deep = `version: 1\nrules: ${'['.repeat(30_000)}`;
    const wide = `version: 1\nrules:\n${Array.from({ length: 6_000 }, (_, n) => ` r${n}: 1`).join('\n')}`;
    for (const text of [flow, deep, wide]) {
      const before = process.cpuUsage();

      const { problems } = load(text.slice(0, 65_536));

      expect(problems.length).toBeGreaterThan(0);
      worstMs = Math.max(worstMs, cpuMsSince(before));
    }
    expect(worstMs).toBeLessThan(1_500);
    recordFigure(context, `worst file of 64 KiB: ${Math.ceil(worstMs)} ms of processor time`);
  });

  it('loads thousands of rules fast', () => {
    const rule = (n: number) =>
      `  rule-${n}:\n    on: { pull_request: [opened] }\n    if: pull_request.additions > ${n}\n    steps: [{ uses: tag, with: { add: [big] } }]\n`;
    const text = `version: 1\nrules:\n${Array.from({ length: 100 }, (_, n) => rule(n)).join('')}`;
    const before = process.cpuUsage();

    let loaded = 0;
    for (let file = 0; file < 30; file += 1) loaded += load(text).rules.length;

    expect(loaded).toBe(3_000);
    expect(cpuMsSince(before)).toBeLessThan(5_000);
  });
});

/** Returns the CPU time in ms; elapsed time would include other load on the machine. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
