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
