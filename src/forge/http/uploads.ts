import { posix } from 'node:path';
import { ForgeProblem } from '../core/errors.ts';

/** A file that came with a request. */
export type Upload = {
  /** As the sender names it, without folders. */
  readonly name: string;
  readonly bytes: Uint8Array;
};

/**
 * Returns the file in the named part of a `multipart/form-data` body; ends the request with 400 where there is none.
 * `takesWholeBody`: any other body is the file, without a name.
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

/** Parses a `multipart/form-data` body; ends the request with `status` where it cannot be read. */
export async function parseMultipart(
  contentType: string,
  bytes: Buffer | undefined,
  status: 400 | 422,
): Promise<FormData> {
  try {
    const headers = { 'content-type': contentType };
    return await new Response(new Uint8Array(bytes ?? []), { headers }).formData();
  } catch (error) {
    // The platform's parser reports no position and no reason beyond its failure.
    const reason = error instanceof Error ? error.message : '';
    throw new ForgeProblem(status, `the multipart body cannot be read: ${reason}`);
  }
}
