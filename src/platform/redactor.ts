/** A value that must not appear in any text, and its replacement. */
type Secret = { readonly value: string; readonly mark: string };

/** Replaces secrets in a text. */
export type Redact = (text: string) => string;

/** Returns every text unchanged: for texts without secrets. */
export const redactNothing: Redact = (text) => text;

/** Default minimum length: replacing shorter values would damage ordinary words. */
const standardMinLength = 8;

/**
 * Returns a function that replaces secrets with their mark (default `[secret]`) in every encoding in which a program
 * may repeat them: plain, in Base64 (also in the middle of a longer value, such as `Basic user:password`), in hex, and
 * escaped for URLs, forms, JSON (as JavaScript, Go and PHP write it) and HTML.
 */
export function createRedactor(
  secrets: readonly (string | Secret)[],
  { minLength = standardMinLength }: { readonly minLength?: number } = {},
): Redact {
  const marks = new Map<string, string>();
  for (const secret of secrets) {
    const { value, mark } = typeof secret === 'string' ? { value: secret, mark: '[secret]' } : secret;
    if (value === '' || value.length < minLength) continue;
    for (const spelling of spellingsOf(value)) if (!marks.has(spelling)) marks.set(spelling, mark);
  }
  // Longest first: replacing a shorter form inside a longer one would leave the rest visible.
  const longestFirst = [...marks].sort(([a], [b]) => b.length - a.length);
  return (text) => {
    let redacted = text;
    for (const [spelling, mark] of longestFirst) redacted = redacted.replaceAll(spelling, mark);
    return redacted;
  };
}

/**
 * Replaces secrets in a text that may be JSON. JSON is parsed and serialized again, so that no escaping hides a secret.
 */
export function redactJson(text: string, redact: Redact): string {
  try {
    return redact(JSON.stringify(JSON.parse(text)));
  } catch {
    // Not JSON, or JSON followed by other text.
    return redact(text);
  }
}

function spellingsOf(value: string): ReadonlySet<string> {
  const plain = [value, ...base64SpellingsOf(value), ...hexSpellingsOf(value)];
  const found = new Set<string>();
  for (const spelling of plain) for (const write of escapes) found.add(write(spelling));
  return found;
}

/**
 * Encodes a text for URLs. Lone surrogates are replaced: they cannot be encoded as UTF-8, and encodeURIComponent throws
 * for them.
 */
const encodeUrl = (text: string): string => encodeURIComponent(text.toWellFormed());
const lowerHex = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
const strictUrl = (text: string): string =>
  encodeUrl(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
/** Form encodings of Go and of browsers, which differ in `~` and `*`. */
const goForm = (text: string): string => strictUrl(text).replaceAll('%20', '+');
const browserForm = (text: string): string =>
  new URLSearchParams([['', text.toWellFormed()]]).toString().slice(1);
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const unicode = (text: string, signs: RegExp): string =>
  text.replace(signs, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
const upperUnicode = (text: string): string =>
  text.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`);
const goJson = (text: string): string => unicode(json(text), /[<>&\u2028\u2029]/g);
const asciiJson = (text: string): string => unicode(goJson(text), /[\u007f-\uffff]/g);
const escapedHtml = (text: string, quote: string, apostrophe: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', quote)
    .replaceAll("'", apostrophe);

const escapes: readonly Redact[] = [
  redactNothing,
  encodeUrl,
  (text) => lowerHex(encodeUrl(text)),
  strictUrl,
  (text) => lowerHex(strictUrl(text)),
  goForm,
  (text) => lowerHex(goForm(text)),
  browserForm,
  (text) => lowerHex(browserForm(text)),
  json,
  (text) => json(text).replaceAll('/', '\\/'),
  goJson,
  (text) => upperUnicode(goJson(text)),
  asciiJson,
  (text) => asciiJson(text).replaceAll('/', '\\/'),
  (text) => escapedHtml(text, '&#34;', '&#39;'),
  (text) => escapedHtml(text, '&quot;', '&#x27;'),
];

/**
 * Returns the Base64 forms that the value has inside a longer value: one for each of the three offsets within a group,
 * without the characters shared with neighbouring bytes. Standard and URL-safe alphabets, without padding.
 */
function base64SpellingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const found: string[] = [];
  for (const offset of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const isWhole = (offset + bytes.length) % 3 === 0;
    // In the first and last group, a character that also contains bits of a neighbouring byte varies with that byte.
    const own = encoded.slice([0, 2, 3][offset], isWhole ? undefined : -1);
    if (own.length < 6) continue;
    found.push(own, own.replaceAll('+', '-').replaceAll('/', '_'));
    if (offset === 0) found.push(encoded, encoded.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return found;
}

function hexSpellingsOf(value: string): readonly string[] {
  const hex = Buffer.from(value).toString('hex');
  return hex.length < 8 ? [] : [hex, hex.toUpperCase()];
}
