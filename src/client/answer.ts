import { ReeveError } from '../errors.ts';
import { type Redact, redactJson, redactNothing } from '../redactor.ts';

/** The answer of one HTTP request. */
export type ForgeAnswer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** Maximum bytes of an answer: the largest list page of a forge is far below. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Reads an answer's text up to the limit. An endless answer costs one buffer, not the process. When `signal` is aborted, the
 * connection is closed and the promise rejects with the signal's reason.
 *
 * The signal that fetch got cannot be relied on for this: fetch refers to it weakly, so after a garbage collection a body
 * that never arrives would be waited for without end (Node 24.21, undici 7).
 */
export async function readText(
  response: Response,
  where: string,
  {
    signal,
    maxBytes = maxAnswerBytes,
  }: { readonly signal: AbortSignal; readonly maxBytes?: number | undefined },
): Promise<string> {
  // 205 carries JSON on this API, but fetch treats it as a status without a body.
  if (response.body === null) return '';
  const reader = response.body.getReader();
  // The reads under way end with the cancellation; an error of the stream is the one that they report.
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return Buffer.concat(chunks).toString('utf8');
      size += value.byteLength;
      if (size > maxBytes)
        throw new ReeveError('forge-unexpected', `${where}: the answer is over ${maxBytes} bytes`);
      chunks.push(value);
    }
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

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
