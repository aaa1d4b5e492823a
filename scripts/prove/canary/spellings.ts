/** A spelling of a secret, as it may stand in what a program writes. */
type Spelling = { readonly name: string; readonly bytes: Buffer };

/** Pieces of a secret as short as this are looked for, too: a text that is cut in the middle of one leaves the rest. */
const pieceLength = 16;

/**
 * Returns how a secret may be written: as it is, escaped for URLs and JSON, in hex, and in Base64 wherever it begins in what is
 * encoded (so also in a header `Basic`). Written without regard to the program's own redactor, which it judges.
 */
export function spellingsOf(secret: string): readonly Spelling[] {
  const pieces = Array.from({ length: Math.max(secret.length - pieceLength + 1, 1) }, (_, at) =>
    secret.slice(at, at + pieceLength),
  );
  const hex = Buffer.from(secret).toString('hex');
  const texts: Record<string, string> = {
    ...Object.fromEntries(pieces.map((piece, at) => [`plain, from character ${at}`, piece])),
    'URL-encoded': encodeURIComponent(secret),
    'as a form': new URLSearchParams([['', secret]]).toString().slice(1),
    'each character as %XX': hex.replaceAll(/../g, '%$&'),
    'each character as \\uXXXX': [...secret]
      .map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
    'in hex': hex,
    'in hex, upper case': hex.toUpperCase(),
    'as UTF-16': Buffer.from(secret, 'utf16le').toString('latin1'),
    'from the end to the beginning': [...secret].toReversed().join(''),
  };
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.from(`${' '.repeat(before)}${secret}`).toString('base64');
    // The first signs depend on what stands before it, the last group on what follows.
    const own = encoded.slice(before === 0 ? 0 : before + 1, encoded.length - 4);
    texts[`Base64, ${before} bytes behind a group`] = own;
    texts[`Base64 for URLs, ${before} bytes behind a group`] = own.replaceAll('+', '-').replaceAll('/', '_');
    texts[`Base64 in a URL, ${before} bytes behind a group`] = encodeURIComponent(own);
  }
  return Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text, 'latin1') }));
}

/** Returns the names of the spellings that occur. */
export function findSpellings(spellings: readonly Spelling[], bytes: Buffer): readonly string[] {
  return spellings.filter((spelling) => bytes.includes(spelling.bytes)).map(({ name }) => name);
}

/** Throws unless a search finds a secret in each of the ways in which programs write one. */
export function proveSearch(secret: string): void {
  const written = [
    `an error: ${secret}!`,
    `an error that is cut: ${secret.slice(0, -3)}`,
    `/path?token=${encodeURIComponent(secret)}&more`,
    ...['', 'a', 'ab', 'abc', 'reeve:'].map((user) => Buffer.from(`${user}${secret}:x`).toString('base64')),
    Buffer.from(secret).toString('hex'),
  ];
  const spellings = spellingsOf(secret);
  const unseen = written.filter((text) => findSpellings(spellings, Buffer.from(text)).length === 0);
  const seen = findSpellings(spellings, Buffer.from('a text of ordinary words, and none of the secret'));
  if (unseen.length + seen.length > 0) throw new Error('the search for secrets does not work');
}
