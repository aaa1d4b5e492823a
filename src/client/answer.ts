import { ReeveError } from '../errors.ts';
import { type Redact, redactJson, redactNothing } from '../redactor.ts';

/** What came back of one exchange. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** Bytes of an answer that are read before it is given up: the largest list page of a forge stays far below. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Reads an answer's text up to the limit. A forge that sends without end costs us one buffer, not the process. */
export async function readText(
  response: Response,
  where: string,
  maxBytes: number = maxAnswerBytes,
): Promise<string> {
  // 205 carries JSON on this API, but fetch treats it as a status without a body.
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new ReeveError('forge-unexpected', `${where}: the answer is over ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the JSON of a successful answer, or throws `forge-junk` with the beginning of what came instead. */
export function parseAnswer(text: string, where: string, redact: Redact = redactNothing): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message repeats a piece of the text.
    throw new ReeveError('forge-junk', `${where}: the answer is not JSON: ${beginningOf(redact(text))}`);
  }
}

/**
 * Returns the forge's own words in an error answer, without secrets: they are replaced in what was parsed, and before
 * anything is cut off. Bodies may be `{message}`, empty, plain text, or JSON followed by junk (the extended contents
 * operation writes a second value), so nothing here may throw.
 */
export function forgeMessage(text: string, redact: Redact = redactNothing): string {
  const found = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text.slice(0, 8_192));
  if (found?.[1] !== undefined) {
    try {
      return redact(String(JSON.parse(found[1])));
    } catch {
      // A string that is not valid JSON is shown as it came.
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
