import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { parseDocument } from 'yaml';
import { ReeveError } from '../../../platform/errors.ts';
import { parseOperatorFile } from '../../../server/settings/operator-file/operator-file.ts';

/** What setup says in the operator file; a member that is undefined is taken out. */
export type OperatorEdit = Readonly<
  Partial<Record<'webhook' | 'repositories' | 'dashboard' | 'allow-admin', unknown>>
>;

const head = `# The operator file of Reeve: docs/reference/operator-file.md says what can stand here.
version: 1
`;

/** Reads an operator file, or how a new one begins. Throws `settings` for one that cannot be used. */
export async function readOperatorText(path: string): Promise<string> {
  if (!existsSync(path)) return head;
  const text = await readFile(path, 'utf8');
  const { problems } = parseOperatorFile(path, text);
  if (problems.length === 0) return text;
  throw new ReeveError('settings', `the operator file cannot be used:\n  ${problems.join('\n  ')}`);
}

/** Returns the text with these members set; comments and everything else stay. The same text where all members already have these values. */
export function editOperatorText(text: string, edit: OperatorEdit): string {
  const document = parseDocument(text, { version: '1.2', merge: false });
  const live = document.toJS({ maxAliasCount: 0 }) as Record<string, unknown>;
  let isSame = true;
  for (const [key, value] of Object.entries(edit)) {
    // The form leaves out what is not said.
    const wanted: unknown = value === undefined ? undefined : JSON.parse(JSON.stringify(value));
    if (isDeepStrictEqual(live[key], wanted)) continue;
    isSame = false;
    if (wanted === undefined) document.delete(key);
    else document.set(key, wanted);
  }
  return isSame ? text : document.toString({ lineWidth: 110 });
}
