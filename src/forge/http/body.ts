import { ForgeProblem } from '../core/errors.ts';
import { parseJson } from './json.ts';
import { parseMultipart } from './multipart.ts';

/** The values of a form by field name, in the order they were sent. */
export type FormValues = ReadonlyMap<string, readonly string[]>;

/** A request body in the encoding its content type names, not yet bound to the row of an operation. */
export type SentBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly values: FormValues };

/** The parts of a request that the encoding of its body depends on. */
type BodyRequest = {
  readonly method: string;
  readonly contentType: string | undefined;
  readonly bytes: Buffer | undefined;
  readonly query: URLSearchParams;
};

/**
 * Returns the body of a request, decoded by its content type as the baseline's binder does
 * (`gitea.com/go-chi/binding`, `Bind`): a form, a multipart form, or JSON. POST and PUT need one of these content types;
 * any other method without a content type is read as a form, which leaves the query. Ends the request with 422 where the
 * body cannot be decoded: a body that is missing or of another type never counts as an empty one.
 */
export async function readBody({ method, contentType = '', bytes, query }: BodyRequest): Promise<SentBody> {
  const needsType = method === 'POST' || method === 'PUT';
  if (contentType === '' && !needsType) return formOf([...query]);
  if (contentType.includes('form-urlencoded')) return readForm(method, bytes, query);
  if (contentType.includes('multipart/form-data')) return await readMultipart(contentType, bytes);
  if (contentType.includes('json')) return { kind: 'json', value: parseJson(bytes) };
  throw new ForgeProblem(422, `[]: ${contentType === '' ? 'Empty' : 'Unsupported'} Content-Type`);
}

/** A form's own values come before those of the query; the body of a DELETE is not read (Go, `Request.ParseForm`). */
function readForm(method: string, bytes: Buffer | undefined, query: URLSearchParams): SentBody {
  const text = method === 'DELETE' ? '' : (bytes?.toString('utf8') ?? '');
  // Go's parser refuses both, URLSearchParams takes them as they are.
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
