const heading = '## Unreleased';

/** The lines of the section Unreleased, without empty sections; empty where nothing is in it. */
export function unreleasedNotes(changelog: string): string {
  const [, section] = split(changelog);
  return section
    .split(/^(?=### )/m)
    .map((part) => part.trim())
    .filter((part) => part.replace(/^### .*$/m, '').trim() !== '')
    .join('\n\n');
}

/** Returns the changelog with what is unreleased under a version and its day, and a new, empty section above. */
export function releaseNotes(changelog: string, version: string, day: string): string {
  const [before, , after] = split(changelog);
  const notes = unreleasedNotes(changelog);
  return `${before}${heading}\n\n## ${version} - ${day}\n\n${notes}\n${after === '' ? '' : `\n${after}`}`;
}

/** Returns what is before the section, its content, and the sections of earlier versions. */
function split(changelog: string): readonly [before: string, section: string, after: string] {
  const at = changelog.search(new RegExp(`^${heading}$`, 'm'));
  if (at === -1) throw new Error(`CHANGELOG.md has no section "${heading}"`);
  const rest = changelog.slice(at + heading.length);
  const next = rest.search(/^## /m);
  return next === -1
    ? [changelog.slice(0, at), rest, '']
    : [changelog.slice(0, at), rest.slice(0, next), rest.slice(next)];
}
