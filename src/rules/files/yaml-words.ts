import type { Problem } from '../problem.ts';
import { endOfLine, type MakeProblem, type Span, sourceLine } from './yaml-place.ts';

/** Returns the problem of a tag, which mostly is an unquoted value that starts with `!`. */
export function tagProblem(span: Span, text: string, problem: MakeProblem): Problem {
  const before = text.lastIndexOf('!', span.start);
  const lineStart = text.lastIndexOf('\n', span.start - 1) + 1;
  const first = text.slice(lineStart, span.end).search(/(?<=[:\s[{,-]|^)!/);
  const start = first >= 0 ? lineStart + first : Math.max(0, before);
  const line = text.slice(start, endOfLine(text, start));
  if (line.startsWith('!!')) return problem('yaml-tag', 'tags are not allowed', { start, end: span.end });
  const message = `YAML reads an unquoted "!" as a tag: put the value in quotes, "${line.trim().replaceAll('"', "'")}"`;
  return problem('yaml-tag', message, { start, end: start + line.trimEnd().length });
}

/** Turns what the parser says into what a person did, where the slip is a known one. */
export function explainYaml(
  code: string,
  message: string,
  span: Span,
  text: string,
  problem: MakeProblem,
): Problem {
  const line = sourceLine(text, span.start).slice(0, 1_000);
  const lower = message.charAt(0).toLowerCase() + message.slice(1);
  const value = /^\s*(?:- )?["']?[\w.-]+["']?:\s+(.*)$/.exec(line)?.[1] ?? '';
  if (code === 'TAG_RESOLVE_FAILED') return tagProblem(span, text, problem);
  if (code === 'BAD_ALIAS') return problem('yaml-alias', 'aliases are not allowed', span);
  if (code === 'NON_STRING_KEY' && /\{\{/.test(line)) {
    return problem('yaml', 'a value that starts with "{" must be in quotes', span);
  }
  if (/[[{,]\s*[\w"'-]+\s*:\s*\$\{\{|[[,]\s*\$\{\{/.test(line)) {
    const start = text.lastIndexOf(line, span.start) + line.indexOf('${{');
    return problem('yaml', 'inside of { } or [ ], a value with ${{ must be in quotes', {
      start,
      end: start + 3,
    });
  }
  if (code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'BLOCK_IN_FLOW') {
    const at = text.indexOf(': ', span.start);
    const place = at >= 0 && at < endOfLine(text, span.start) ? { start: at, end: at + 1 } : span;
    return problem('yaml', 'an unquoted text must not contain ": ": put the whole value in quotes', place);
  }
  if (/^["']/.test(value) && /at node end/.test(message)) {
    return problem(
      'yaml',
      'a value that starts with a quote ends with it: put the whole value in other quotes',
      span,
    );
  }
  const unspaced = /^\s*(?:- )?([\w-]+):[\w"'[{$]/.exec(line);
  if (/implicit keys|implicit map/i.test(message) && unspaced) {
    return problem('yaml', `a space is missing after "${unspaced[1]}:"`, span);
  }
  if (code === 'BAD_INDENT') {
    const advice = 'lines of one map or list begin in the same column, and "with" in the column of "uses"';
    return problem('yaml', `this line is indented differently from those before it: ${advice}`, span);
  }
  if (code === 'TAB_AS_INDENT')
    return problem('yaml', 'tabs are not allowed as indentation: use spaces', span);
  if (code === 'MULTIPLE_DOCS')
    return problem('yaml', 'a file has one document: leave out the second "---"', span);
  return problem('yaml', lower, span);
}
