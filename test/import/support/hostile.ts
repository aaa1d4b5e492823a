import fc from 'fast-check';

/** Texts with which a file could leave its place in YAML, templates, expressions or a report. */
export const hostileTexts: readonly string[] = [
  '${{ repository.name }}',
  '# yaml-language-server: $schema=https://example.org/x',
  'a: b',
  'x\nrules:\n  evil:\n    on: push',
  'quote " and \' and \\',
  '" || true || "',
  '`${1}` | <b>',
  '\u202e\u0000\u0085\u2028',
  '!exclude',
  '%TAG ! tag:x',
  '&anchor *alias',
  '{ flow: [1] }',
  '🚀',
  '- list',
  '~',
  'true',
];

const signs = [
  'a',
  ' ',
  '\t',
  '\n',
  '\r',
  '\u0000',
  '\u0085',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\ud800',
  ...'$#{}[]()<>|"\'\\!&*-%?:@/',
];

/** Makes texts of signs that have a meaning in YAML, templates, expressions, patterns and Markdown. */
export function hostileText(lengths: {
  readonly minLength?: number;
  readonly maxLength: number;
}): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...signs), ...lengths });
}
