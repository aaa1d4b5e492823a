import { ReeveError } from '../platform/errors.ts';
import { type Redact, redactJson, redactNothing } from '../platform/redactor.ts';

/** The answer of one HTTP request. */
export type ForgeAnswer = {
  readonly status: number;
  /** Returns the value of a header by its name in lower case. */
  readonly header: (name: string) => string | null;
  readonly text: string;
};

/** Returns the JSON of a successful answer. Throws `forge-junk` with the beginning of the text if it is not JSON. */
export function parseAnswer(text: string, where: string, redact: Redact = redactNothing): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message repeats a piece of the text.
    throw new ReeveError('forge-junk', `${where}: the answer is not JSON: ${beginningOf(redact(text))}`);
  }
}

/**
 * Returns the forge's message in an error answer, without secrets: they are redacted after parsing and before the text
 * is truncated. Bodies may be `{message}`, empty, plain text, or JSON followed by junk (the extended contents
 * operation writes a second value), so nothing here may throw.
 */
export function forgeMessage(text: string, redact: Redact = redactNothing): string {
  const found = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text.slice(0, 8_192));
  if (found?.[1] !== undefined) {
    try {
      return redact(String(JSON.parse(found[1])));
    } catch {
      // A string that is not valid JSON is shown unchanged.
    }
  }
  return text.trimStart().startsWith('<') ? 'a web page' : beginningOf(redactJson(text, redact));
}

function beginningOf(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}
