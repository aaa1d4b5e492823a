/** One line at the end of a commit message that names something: `Signed-off-by: Ada <ada@example.org>`. */
type Trailer = { readonly name: string; readonly value: string };

/** A name as git accepts it: letters, digits and hyphens up to the colon. */
const trailer = /^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*)$/;
/** Lines that git writes among the trailers without the form of one. */
const generated = /^(?:Signed-off-by: |\(cherry picked from commit )/;

/**
 * Returns the trailers of a commit message as `git interpret-trailers` finds them: in the last paragraph, which must not be
 * the first, if all its lines are trailers, or at least a quarter of them with one that git itself writes. A line that begins
 * with white space continues the one before.
 */
export function parseTrailers(message: string): readonly Trailer[] {
  const paragraphs = paragraphsOf(message);
  const last = paragraphs.at(-1);
  if (last === undefined || paragraphs.length < 2) return [];
  const found: { name: string; value: string }[] = [];
  let [others, isGenerated, isContinued] = [0, false, false];
  for (const line of last) {
    const [, name, value = ''] = trailer.exec(line) ?? [];
    if (generated.test(line)) isGenerated = true;
    const before = found.at(-1);
    if (/^[ \t]/.test(line)) {
      if (isContinued && before) before.value = `${before.value} ${line.trim()}`;
      else others += 1;
    } else if (name !== undefined) {
      found.push({ name, value: value.trim() });
      isContinued = true;
    } else {
      isContinued = false;
      if (!generated.test(line)) others += 1;
    }
  }
  const isBlock = others === 0 || (isGenerated && found.length * 3 >= others);
  return isBlock ? found : [];
}

/** Returns the lines of each paragraph, without comments. */
function paragraphsOf(message: string): readonly (readonly string[])[] {
  const paragraphs: string[][] = [];
  let open: string[] | undefined;
  for (const line of message.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    if (line.trim() === '') {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = [];
      paragraphs.push(open);
    }
    open.push(line);
  }
  return paragraphs;
}
