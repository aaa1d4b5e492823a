/** Bytes at the beginning of a file that decide how it is shown. */
export const sniffedBytes = 1024;

/** Kinds that a browser shows by itself, by how their files begin; the rest is text, or bytes without a kind. */
const signatures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBPVP/s],
  ['image/bmp', /^BM/],
  ['image/x-icon', /^\0\0[\x01\x02]\0/],
  ['image/avif', /^.{4}ftyp(avif|.{4}.*avif)/s],
  ['application/pdf', /^%PDF-/],
  ['audio/wave', /^RIFF.{4}WAVE/s],
  ['audio/aiff', /^FORM.{4}AIFF/s],
  ['audio/basic', /^\.snd/],
  ['audio/midi', /^MThd\0\0\0\x06/],
  ['audio/mpeg', /^ID3/],
  ['video/ogg', /^OggS\0.*(theora|dirac)/s],
  ['audio/ogg', /^OggS\0/],
  ['video/avi', /^RIFF.{4}AVI /s],
  ['video/webm', /^\x1aE\xdf\xa3/],
  ['video/mp4', /^.{4}ftyp(.{4}.{4})?.*mp4/s],
];

const svg = /^\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*(<!DOCTYPE svg[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s/>]/is;

/**
 * Returns the type by which a file is sent, from its first bytes: what browsers show by themselves, `text/plain` for any text
 * (also HTML, which must not run), else bytes. Source: forge `modules/typesniffer/typesniffer.go`.
 */
export function sniffContentType(head: Buffer): string {
  const bytes = head.subarray(0, sniffedBytes);
  const latin1 = bytes.toString('latin1');
  const known = signatures.find(([, pattern]) => pattern.test(latin1))?.[0];
  if (known !== undefined && !(known === 'audio/mpeg' && isText(bytes.subarray(3)))) return known;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'text/plain; charset=utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'text/plain; charset=utf-16be';
  if (!isText(bytes)) return 'application/octet-stream';
  return svg.test(latin1) ? 'image/svg+xml' : 'text/plain; charset=utf-8';
}

/** Text has none of the control characters that no text has. */
function isText(bytes: Buffer): boolean {
  return !/[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(bytes.toString('latin1'));
}
