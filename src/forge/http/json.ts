import { ForgeProblem } from '../core/errors.ts';

/**
 * Parses a request's JSON body as the baseline's reader does (Go, `encoding/json/v2`). Ends the request with 422 where
 * the body is empty, no JSON, no UTF-8, or holds an object with one name twice.
 */
export function parseJson(bytes: Buffer | undefined): unknown {
  const text = decode(bytes);
  const value = parse(text);
  const double = findDoubleName(text);
  if (double !== undefined) throw new ForgeProblem(422, `[]: duplicate object member name ${double}`);
  return value;
}

function decode(bytes: Buffer | undefined): string {
  let text: string;
  try {
    // The mark of byte order stays and is no JSON, as on the baseline.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ForgeProblem(422, '[]: invalid UTF-8');
  }
  if (text.trim() === '') throw new ForgeProblem(422, '[]: unexpected EOF');
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ForgeProblem(422, `[]: ${error instanceof Error ? error.message : 'no JSON'}`);
  }
}

/** Returns the first name that an object of this JSON text, known to be well formed, has twice. */
function findDoubleName(text: string): string | undefined {
  const objects: (Set<string> | undefined)[] = [];
  let last = '';
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '{') objects.push(new Set());
    else if (sign === '[') objects.push(undefined);
    else if (sign === '}' || sign === ']') objects.pop();
    else if (sign === '"') {
      const end = endOfText(text, at);
      last = text.slice(at, end + 1);
      at = end;
    } else if (sign === ':') {
      // Two spellings of one name are one name.
      const name: unknown = JSON.parse(last);
      const names = objects.at(-1);
      if (names?.has(String(name))) return last;
      names?.add(String(name));
    }
  }
  return undefined;
}

/** Jumps from quote to quote: file contents are texts of many megabytes. */
function endOfText(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (isEscaped(text, end));
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}
