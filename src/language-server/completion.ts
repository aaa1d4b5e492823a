import type { z } from 'zod';
import { actions } from '../actions/actions.ts';
import { eventFamilies, type Family } from '../contract/events/event-families.ts';
import { isRecord } from '../contract/events/payload-members.ts';
import { facts } from '../facts/facts.ts';
import { definitionOf } from '../rules/expressions/types.ts';
import { unwrapped } from '../rules/files/issues.ts';
import { decodeText, readYaml, type YamlPath } from '../rules/files/yaml-source.ts';
import { levelOfFile } from '../rules/sources/repository-file.ts';
import { aboutEvent, code } from './documentation.ts';
import { type ForgeKind, type Offer, offersInExpression, textBefore } from './in-expression.ts';
import { memberAt, type OpenFiles } from './open-files.ts';
import { actionOf, type PlaceInFile, schemasOf, slotOf } from './slot.ts';

/** What can be written at the cursor. */
export type Completion = {
  readonly offers: readonly Offer[];
  /** Names on the forge that can be written as well. */
  readonly names?: ForgeKind | undefined;
  /** The part of the word before the cursor, which an offer replaces. */
  readonly typed: string;
  /** Whether the cursor is in a literal text of an expression. */
  readonly isText?: boolean;
};

/** Returns what can be written at a place. */
export async function complete(place: PlaceInFile, text: string, files: OpenFiles): Promise<Completion> {
  const before = place.text.slice(0, place.at);
  const slot = slotOf(place);
  if (slot) {
    const written = slot.source.slice(0, slot.at);
    const isParameter = /\bparams\.\w*$/.test(written);
    const found = isParameter
      ? { offers: parametersIn(place.file) }
      : offersInExpression(slot.source, slot.at, slot.context);
    // A literal text is replaced as a whole: names of labels may have any characters.
    const text = isParameter ? undefined : textBefore(written);
    return { ...found, typed: text ?? /\w*$/.exec(written)?.[0] ?? '', isText: text !== undefined };
  }
  const keys = place.role === 'key' || place.isOpen ? await keysOf(place, text, files) : [];
  const names = namesAt(place);
  if (place.role === 'key') return { offers: keys, names, typed: before };
  const values = await valuesOf(place, files);
  return { offers: [...values, ...keys], names, typed: /[^\s[\],{}"']*$/.exec(before)?.[0] ?? '' };
}

/** Returns the keys that the map at a place may have and does not have yet. */
async function keysOf(place: PlaceInFile, text: string, files: OpenFiles): Promise<readonly Offer[]> {
  const { path, file, isFollowed } = place;
  const there = memberAt(file, path);
  const written = new Set(isRecord(there) ? Object.keys(there) : []);
  written.delete(place.text);
  const asKey = (offer: Offer): Offer => ({
    ...offer,
    kind: 'key',
    insert: isFollowed ? offer.label : `${offer.label}: `,
  });
  const ofSchema = schemasOf(place, path)
    .flatMap(unwrapped)
    .flatMap((schema): readonly Offer[] => {
      const { shape, keyType } = definitionOf(schema);
      const words = keyType === undefined ? [] : wordsOf([keyType]);
      const keys = Object.entries(shape ?? {});
      return [
        ...keys.map(
          ([label, inner]): Offer => ({
            label,
            kind: 'key',
            documentation: documentationOfKey(label, inner.description, path),
          }),
        ),
        ...words.map((label): Offer => ({ label, kind: 'key' })),
      ];
    });
  const other = await otherKeys(place, text, files);
  const all = new Map([...ofSchema, ...other].map((offer) => [offer.label, offer]));
  return [...all.values()].filter(({ label }) => !written.has(label)).map(asKey);
}

function documentationOfKey(
  label: string,
  description: string | undefined,
  path: YamlPath,
): string | undefined {
  const isEvent = path.includes('on') && Object.hasOwn(eventFamilies, label);
  return isEvent ? aboutEvent(label as Family) : description;
}

/** Returns the keys of maps whose keys are names: parameters of a pack, facts of a test case. */
async function otherKeys(
  { path, filePath }: PlaceInFile,
  text: string,
  files: OpenFiles,
): Promise<readonly Offer[]> {
  const [part, place, member] = path;
  if (part === 'include' && member === 'with' && path.length === 3) {
    const written: unknown = readYaml(filePath, text).value ?? {};
    const name = memberAt(written, [part, place ?? 0, 'name']);
    return parametersIn(await packValue(filePath, text, String(name), files));
  }
  if (part === 'cases' && path.length === 3 && (member === 'facts' || member === 'same-head'))
    return facts
      .filter(({ name }) => !name.includes('.'))
      .map(({ name, meaning }) => ({ label: name, kind: 'fact', documentation: meaning }));
  return [];
}

/** Returns the value of a pack that a file includes; undefined if it cannot be read. */
async function packValue(path: string, text: string, name: string, files: OpenFiles): Promise<unknown> {
  const pack = (await files.packsOf(path, text)).get(name);
  if (pack === undefined || 'missing' in pack) return undefined;
  return readYaml(pack.path, typeof pack.text === 'string' ? pack.text : decodeText(pack.text).text).value;
}

/** Returns the parameters that a file declares. */
function parametersIn(file: unknown): readonly Offer[] {
  const declared = memberAt(file, ['params']);
  return Object.entries(isRecord(declared) ? declared : {}).map(([label, form]) => ({
    label,
    kind: 'name',
    documentation: documentationOfParameter(form),
  }));
}

/** Returns the documentation of a declared parameter. */
export function documentationOfParameter(form: unknown): string {
  const { description, ...rest } = isRecord(form) ? form : {};
  const words = Object.entries(rest).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return [
    typeof description === 'string' ? description : '',
    words.length > 0 ? code('yaml', words.join('\n')) : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Returns the values that a place may have. */
async function valuesOf(place: PlaceInFile, files: OpenFiles): Promise<readonly Offer[]> {
  const { path, filePath, schema } = place;
  const last = path.at(-1);
  const isStep = path[0] === 'rules' && path[2] === 'steps' && path.length === 5;
  if (isStep && last === 'uses')
    return actions.map(({ name, meaning, example }) => ({
      label: name,
      kind: 'action',
      documentation: `${meaning}\n\n${code('yaml', example)}`,
    }));
  if (path[0] === 'cases' && last === 'action')
    return actions.map(({ name, meaning }) => ({ label: name, kind: 'action', documentation: meaning }));
  if (path[0] === 'grants' && path[2] === 'use')
    return [...actions, ...facts].map(({ name, meaning }) => ({
      label: name,
      kind: 'value',
      documentation: meaning,
    }));
  if (path[0] === 'include' && path.length === 3) return packNames(last, filePath, files);
  if (schema === undefined) return [];
  return wordsOf(schemasOf(place, path)).map((label) => {
    const [family = ''] = label.split('.');
    const isEvent = path[0] === 'rules' && path[2] === 'on' && Object.hasOwn(eventFamilies, family);
    return isEvent
      ? { label, kind: 'event', documentation: aboutEvent(family as Family) }
      : { label, kind: 'value' };
  });
}

async function packNames(key: unknown, path: string, files: OpenFiles): Promise<readonly Offer[]> {
  const isNamed = key === 'pack' || (key === 'name' && levelOfFile(path) === 'repository');
  const names = isNamed
    ? [...(await files.offered()).keys()]
    : key === 'file'
      ? await files.packPaths(path)
      : [];
  if (key === 'mode') return ['observe', 'enforce'].map((label) => ({ label, kind: 'value' }));
  return names.map((label) => ({ label, kind: 'value', detail: 'pack' }));
}

/** Returns the words that schemas allow. */
function wordsOf(schemas: readonly z.ZodType[]): readonly string[] {
  const words = schemas.flatMap(unwrapped).flatMap((schema) => {
    const { type, entries, values } = definitionOf(schema);
    if (type === 'boolean') return ['true', 'false'];
    return [...Object.values(entries ?? {}), ...(values ?? [])].map(String);
  });
  return [...new Set(words)];
}

/** Arguments and filters whose values or keys are names on the forge, by the end of their path without indexes. */
const namedPlaces: readonly (readonly [RegExp, ForgeKind])[] = [
  [/^set-labels\.(add|remove|only|sync|exclusive|set)$/, 'label'],
  [/(^|\.)labels$/, 'label'],
  [/(^|\.)(teams?|team_reviewers|allow_teams)$/, 'team'],
  [/(^|\.)(branch|base|from|branches|branches-ignore|default_branch)$/, 'branch'],
];

/** Returns the kind of names on the forge that a place takes; undefined if it takes none. */
function namesAt(place: PlaceInFile): ForgeKind | undefined {
  const { path } = place;
  if (path[0] !== 'rules' || path.length < 4) return undefined;
  const action = path[2] === 'steps' ? actionOf(place, path) : undefined;
  if (path[2] === 'steps' && (action === undefined || path[4] !== 'with')) return undefined;
  const inner = path.slice(action === undefined ? 2 : 5).filter((step) => typeof step === 'string');
  const name = [action?.name ?? 'rule', ...inner].join('.');
  return namedPlaces.find(([pattern]) => pattern.test(name))?.[1];
}
