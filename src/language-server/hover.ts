import { actions } from '../actions/actions.ts';
import { eventFamilies, type Family, familyOf } from '../contract/events/event-families.ts';
import { facts } from '../facts/facts.ts';
import { decodeText, readYaml, type YamlPath } from '../rules/files/yaml-source.ts';
import { documentationOfParameter } from './completion.ts';
import {
  aboutAction,
  aboutEvent,
  aboutFact,
  callOfFact,
  code,
  jsonSchema,
  typeText,
  word,
} from './documentation.ts';
import { documentationAt, wordAt } from './in-expression.ts';
import { memberAt, type OpenFiles } from './open-files.ts';
import { actionOf, type PlaceInFile, type Slot, schemasOf, slotOf } from './slot.ts';

/** Returns the documentation of what is under the cursor, in Markdown; undefined if there is none. */
export function documentationOf(place: PlaceInFile): string | undefined {
  const slot = slotOf(place);
  if (slot) {
    const parameter = parameterAt(slot);
    if (parameter === undefined) return documentationAt(slot.source, slot.at, slot.context);
    const form = memberAt(place.file, ['params', parameter]);
    return form === undefined ? undefined : documentationOfParameter(form);
  }
  const { path, role, text } = place;
  if (role === 'value') return documentationOfValue(path, text);
  if (path[0] === 'rules' && path[2] === 'on' && Object.hasOwn(eventFamilies, text))
    return aboutEvent(text as Family);
  const isFact = path[0] === 'cases' && path.at(-1) === 'facts';
  const fact = isFact ? facts.find(({ name }) => name === text) : undefined;
  return fact ? documentationOfFact(fact) : documentationOfKey(place);
}

function documentationOfFact(fact: (typeof facts)[number]): string {
  return [`**${callOfFact(fact)}**`, fact.meaning, aboutFact(fact)].join('\n\n');
}

/** Types of more characters list every event, and say less than the completion. */
const maxTypeLength = 300;

function documentationOfKey(place: PlaceInFile): string | undefined {
  const [schema] = schemasOf(place, [...place.path, place.text]);
  if (schema === undefined) return undefined;
  const { description = '' } = jsonSchema(schema);
  const action = place.path[4] === 'with' ? actionOf(place, place.path) : undefined;
  const of = action === undefined ? '' : `, argument of ${word(action.name)}`;
  const type = typeText(jsonSchema(schema));
  const shown = type.length > maxTypeLength ? '' : `: ${type}`;
  return [`${word(place.text)}${shown}${of}`, String(description)].join('\n\n').trim();
}

function documentationOfValue(path: YamlPath, text: string): string | undefined {
  const action =
    path.at(-1) === 'uses' || path.at(-1) === 'action'
      ? actions.find(({ name }) => name === text)
      : undefined;
  if (action)
    return [`**${action.name}**`, action.meaning, code('yaml', action.example), aboutAction(action)].join(
      '\n\n',
    );
  if (path[0] !== 'rules' || path[2] !== 'on') return undefined;
  const [family = ''] = text.split('.');
  const known = Object.hasOwn(eventFamilies, family) ? (family as Family) : familyOf(family);
  return known === undefined ? undefined : aboutEvent(known);
}

/** Returns the parameter under the cursor: `params.NAME`; undefined if it is something else. */
function parameterAt({ source, at }: Slot): string | undefined {
  const found = wordAt(source, at);
  return found?.owner === 'params' ? found.text : undefined;
}

/** Where something is declared: a range of offsets in the text of a file. */
export type Declaration = {
  readonly path: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

/** Returns where the named condition, pack or parameter under the cursor is declared; undefined if it is something else. */
export async function declarationOf(
  place: PlaceInFile,
  text: string,
  files: OpenFiles,
): Promise<Declaration | undefined> {
  const { path, filePath } = place;
  const inFile = (of: string, content: string, at: YamlPath): Declaration | undefined => {
    const source = readYaml(of, content);
    const isThere = memberAt(source.value, at) !== undefined;
    return isThere ? { path: of, text: content, ...source.keyAt(at) } : undefined;
  };
  const slot = slotOf(place);
  const parameter = slot && parameterAt(slot);
  if (parameter !== undefined) return inFile(filePath, text, ['params', parameter]);
  const name = slot && wordAt(slot.source, slot.at);
  if (name?.owner === '' && slot?.context.named?.has(name.text))
    return inFile(filePath, text, ['conditions', name.text]);
  const [part, number = 0, member] = path;
  if (part !== 'include') return undefined;
  const include = memberAt(place.file, [part, number, 'name']);
  const pack = (await files.packsOf(filePath, text)).get(String(include));
  if (pack === undefined || 'missing' in pack) return undefined;
  const content = typeof pack.text === 'string' ? pack.text : decodeText(pack.text).text;
  if (member === 'with')
    return inFile(pack.path, content, ['params', place.role === 'key' ? place.text : String(path[3])]);
  const isPack = member === 'name' || member === 'file' || member === 'pack';
  return isPack ? { path: pack.path, text: content, start: 0, end: 0 } : undefined;
}
