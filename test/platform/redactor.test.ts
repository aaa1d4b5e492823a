import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, redactJson } from '../../src/platform/redactor.ts';
import { propertyRuns, recordFigure } from '../support/figure.ts';

/** Values with every character that some encoding changes, and values of arbitrary characters. */
const secret = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aZ09&<>"\'/+= !*()%~\\ü€😀'), minLength: 8, maxLength: 40 }),
  fc.string({ unit: 'grapheme', minLength: 8, maxLength: 40 }),
);

/** Characters that Go's encoding/json escapes in addition to what every JSON encoder escapes. */
const goEscapes: Readonly<Record<string, string>> = {
  '&': '\\u0026',
  '<': '\\u003c',
  '>': '\\u003e',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};
const asForm = (value: string): string =>
  new URLSearchParams({ v: value.toWellFormed() }).toString().slice(2);

/** Encodings in which programs repeat a value in a response. */
const repeated: Readonly<Record<string, (value: string) => string>> = {
  unchanged: (value) => value,
  'as JSON': (value) => JSON.stringify(value),
  'as JSON written by Go': (value) =>
    JSON.stringify(value).replace(/[&<>\u2028\u2029]/g, (sign) => goEscapes[sign] ?? sign),
  'as JSON with escaped slashes': (value) => JSON.stringify(value).replaceAll('/', '\\/'),
  'in a URL': (value) => `?q=${encodeURIComponent(value.toWellFormed())}&x=1`,
  'in a URL in lower case': (value) =>
    encodeURIComponent(value.toWellFormed()).replace(/%../g, (code) => code.toLowerCase()),
  'in a form': (value) => asForm(value),
  'in a page': (value) =>
    value.replace(
      /[&<>"']/g,
      (sign) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': '#34', "'": '#39' }[sign]};`,
    ),
  'in Base64': (value) => Buffer.from(value).toString('base64'),
  'in URL-safe Base64': (value) => Buffer.from(value).toString('base64url'),
  'in Base64 inside a URL': (value) => encodeURIComponent(Buffer.from(value).toString('base64')),
  'in hex': (value) => Buffer.from(value).toString('hex'),
};

describe('a redactor', () => {
  it.each(Object.entries(repeated))('replaces a secret %s', (_title, repeat) => {
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
        const spelled = repeat(value);
        const redacted = createRedactor([value])(`${before} ${spelled} ${after}`);

        expect(redacted).toContain('[secret]');
        expect(redacted.includes(spelled)).toBe(false);
      }),
      { numRuns: process.env.LONG ? 20_000 : propertyRuns(500) },
    );
  });

  it('replaces a password in the Base64 of a Basic header, whatever the user and the text after it', (context) => {
    let headers = 0;
    const word = fc.string({ unit: 'grapheme-ascii', maxLength: 12 });
    fc.assert(
      fc.property(secret, word, word, (password, user, tail) => {
        const header = `Basic ${Buffer.from(`${user}:${password}${tail}`).toString('base64')}`;
        const left = createRedactor([password])(header).replaceAll('[secret]', '');

        // At most the Base64 group that is shared with the neighboring text remains on each side.
        const most = Math.ceil((Buffer.byteLength(user) + Buffer.byteLength(tail) + 1) / 3) * 4 + 8;
        expect(left.length - 'Basic '.length).toBeLessThanOrEqual(most);
        headers += 1;
      }),
      { numRuns: process.env.LONG ? 20_000 : propertyRuns(500) },
    );
    recordFigure(context, `${headers.toLocaleString('en')} random Basic headers: 0 with the password`);
  });

  it('replaces the longer of two secrets if one contains the other', () => {
    const redact = createRedactor(['a-short-one', { value: 'a-short-one-and-more', mark: '{long}' }]);

    expect(redact('a-short-one-and-more, a-short-one')).toBe('{long}, [secret]');
  });

  it('leaves short values alone by default', () => {
    expect(createRedactor(['token', ''])('a token')).toBe('a token');
    expect(createRedactor(['token', ''], { minLength: 1 })('a token')).toBe('a [secret]');
  });

  it('finds a secret in parsed JSON even if every letter is escaped', () => {
    const value = 'every-letter-is-escaped';
    const escaped = [...value]
      .map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');

    expect(redactJson(`{"error":"${escaped}"}`, createRedactor([value]))).toBe('{"error":"[secret]"}');
    expect(redactJson(`${value}: no JSON`, createRedactor([value]))).toBe('[secret]: no JSON');
  });
});
