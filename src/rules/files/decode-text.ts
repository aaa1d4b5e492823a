/** A text, and the offset in it at which the bytes are not UTF-8; undefined where all of them are. */
export type DecodedText = { readonly text: string; readonly invalidAt: number | undefined };

/** Decodes UTF-8. Bytes that are none, of a file saved as Latin-1 for instance, become U+FFFD. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let [from, byte] = [0, 0];
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', from)) {
    byte += Buffer.byteLength(text.slice(from, at));
    // The character itself may stand in a file.
    const isWritten = bytes[byte] === 0xef && bytes[byte + 1] === 0xbf && bytes[byte + 2] === 0xbd;
    if (!isWritten) return { text, invalidAt: at };
    byte += 3;
    from = at + 1;
  }
  return { text, invalidAt: undefined };
}

/** Returns the name of the encoding that bytes have instead of UTF-8, or undefined if it does not show. */
export function foreignEncodingOf(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'UTF-16 (little endian)';
  if (first === 0xfe && second === 0xff) return 'UTF-16 (big endian)';
  // Every second byte of ASCII text in UTF-16 is zero; no byte of a rule file is.
  const head = bytes.subarray(0, 64);
  if (first !== 0 && second === 0 && !head.every((byte) => byte === 0)) return 'UTF-16 (little endian)';
  return first === 0 && second !== 0 ? 'UTF-16 (big endian)' : undefined;
}
