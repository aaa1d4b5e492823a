/** The licences that a new repository may have, by their SPDX ids. */
export const licenseNames: readonly string[] = [
  '0BSD',
  'AGPL-3.0',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BSD-3-Clause-Clear',
  'BSL-1.0',
  'CC-BY-4.0',
  'CC-BY-SA-4.0',
  'CC0-1.0',
  'EPL-1.0',
  'EPL-2.0',
  'EUPL-1.2',
  'GPL-2.0',
  'GPL-3.0',
  'ISC',
  'LGPL-2.1',
  'LGPL-3.0',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'MulanPSL-2.0',
  'OFL-1.1',
  'OSL-3.0',
  'UPL-1.0',
  'Unlicense',
  'WTFPL',
  'Zlib',
];

/** Returns the text of a licence with its placeholders, or undefined for a name that is not known. */
export async function loadLicense(name: string): Promise<string | undefined> {
  const { licenseText } = await import('./license-texts.ts');
  const text = licenseText(name);
  return text === undefined ? undefined : `${text.trimEnd()}\n`;
}

const year = /<year>|\[year\]|\[yyyy\]|\[xxxx\]-\[xxxx\]|\bYEAR\b/gi;
const owner =
  /<(copyright holders?|owner|name of author)>|\[(name of copyright (owner|holder)|copyright holders|owner organization)\]|\bAUTHOR EMAIL\b/gi;

/** Returns the text of a licence with year and owner in the lines of the copyright; other lines are the licence itself. */
export function fillLicense(text: string, values: { readonly year: number; readonly owner: string }): string {
  return text.replace(/^ *copyright .*$/gim, (line) =>
    line.replace(year, String(values.year)).replace(owner, () => values.owner),
  );
}
