import { posix } from 'node:path';
import { ForgeProblem } from '../errors.ts';

/** An uploaded file. */
export type Upload = {
  /** File name given by the sender, without folders. */
  readonly name: string;
  readonly bytes: Uint8Array;
};

/**
 * Returns the file in the named part of a `multipart/form-data` body; ends the request with 400 if there is none.
 * `takesWholeBody`: a body of any other type is itself the file, without a name.
 */
export async function readUpload(
  part: string,
  request: { readonly contentType: string | undefined; readonly bytes: Buffer | undefined },
  { takesWholeBody = false }: { readonly takesWholeBody?: boolean | undefined } = {},
): Promise<Upload> {
  const { contentType = '', bytes } = request;
  if (takesWholeBody && !/^multipart\/form-data/i.test(contentType)) {
    return { name: '', bytes: bytes ?? new Uint8Array() };
  }
  if (!/^multipart\/form-data\s*;/i.test(contentType) || !bytes) {
    throw new ForgeProblem(400, `the file must come as multipart/form-data in the part "${part}"`);
  }
  const form = await parseMultipart(contentType, bytes, 400);
  const file = form.get(part);
  if (!(file instanceof File)) throw new ForgeProblem(400, `http: no such file: ${part}`);
  const name = posix.basename(file.name.replaceAll('\\', '/'));
  return { name, bytes: new Uint8Array(await file.arrayBuffer()) };
}

/** Parses a `multipart/form-data` body; ends the request with `status` if it is invalid. */
async function parseMultipart(
  contentType: string,
  bytes: Buffer | undefined,
  status: 400 | 422,
): Promise<FormData> {
  try {
    const headers = { 'content-type': contentType };
    return await new Response(new Uint8Array(bytes ?? []), { headers }).formData();
  } catch (error) {
    // The platform's parser reports neither position nor reason of a failure.
    const reason = error instanceof Error ? error.message : '';
    throw new ForgeProblem(status, `the multipart body cannot be read: ${reason}`);
  }
}

/** The values of a form by field name, in the order received. */
export type FormValues = ReadonlyMap<string, readonly string[]>;

/** A request body, decoded by its content type, not yet bound to an operation. */
export type SentBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly values: FormValues };

/** The parts of a request that determine the encoding of its body. */
type BodyRequest = {
  readonly method: string;
  readonly contentType: string | undefined;
  readonly bytes: Buffer | undefined;
  readonly query: URLSearchParams;
};

/**
 * Returns the body of a request, decoded by its content type as Gitea's binder does (`gitea.com/go-chi/binding`,
 * `Bind`): a form, a multipart form, or JSON. POST and PUT need one of these content types. With any other method, a
 * request without a content type is read as a form that has only the values of the query. Ends the request with 422 if
 * the body cannot be decoded: a missing body, or one of another type, never counts as an empty one.
 */
export async function readBody({ method, contentType = '', bytes, query }: BodyRequest): Promise<SentBody> {
  const needsType = method === 'POST' || method === 'PUT';
  if (contentType === '' && !needsType) return formOf([...query]);
  if (contentType.includes('form-urlencoded')) return readForm(method, bytes, query);
  if (contentType.includes('multipart/form-data')) return await readMultipart(contentType, bytes);
  if (contentType.includes('json')) return { kind: 'json', value: parseJson(bytes) };
  throw new ForgeProblem(422, `[]: ${contentType === '' ? 'Empty' : 'Unsupported'} Content-Type`);
}

/**
 * Reads a form. Its own values precede those of the query; the body of a DELETE is not read (Go, `Request.ParseForm`).
 */
function readForm(method: string, bytes: Buffer | undefined, query: URLSearchParams): SentBody {
  const text = method === 'DELETE' ? '' : (bytes?.toString('utf8') ?? '');
  // Go's parser rejects semicolons and invalid escapes; URLSearchParams accepts them.
  if (/;|%(?![0-9a-f]{2})/i.test(text)) throw new ForgeProblem(422, '[]: the form cannot be parsed');
  return formOf([...new URLSearchParams(text), ...query]);
}

async function readMultipart(contentType: string, bytes: Buffer | undefined): Promise<SentBody> {
  const form = await parseMultipart(contentType, bytes, 422);
  const texts = [...form].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return formOf(texts);
}

function formOf(entries: readonly (readonly [string, string])[]): SentBody {
  const groups = Map.groupBy(entries, ([name]) => name);
  const values = new Map([...groups].map(([name, group]) => [name, group.map(([, value]) => value)]));
  return { kind: 'form', values };
}

/**
 * Parses a request's JSON body as Gitea's reader does (Go, `encoding/json/v2`). Ends the request with 422 if the body
 * is empty, not JSON, not UTF-8, or contains an object with a duplicate name.
 */
function parseJson(bytes: Buffer | undefined): unknown {
  const text = decode(bytes);
  const value = parse(text);
  const double = findDoubleName(text);
  if (double !== undefined) throw new ForgeProblem(422, `[]: duplicate object member name ${double}`);
  return value;
}

function decode(bytes: Buffer | undefined): string {
  let text: string;
  try {
    // The byte order mark is kept and is not valid JSON, as in Gitea.
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

/** Returns the first duplicate name in an object of this well-formed JSON text. */
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
      // Names are compared decoded: two spellings of one name are duplicates.
      const name: unknown = JSON.parse(last);
      const names = objects.at(-1);
      if (names?.has(String(name))) return last;
      names?.add(String(name));
    }
  }
  return undefined;
}

/** Returns where a string ends. Skips from quote to quote, because file contents are strings of many megabytes. */
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
