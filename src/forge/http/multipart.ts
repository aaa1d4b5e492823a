import { ForgeProblem } from '../core/errors.ts';

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
