import type { z } from 'zod';
import { alternatives, describeType, type Type, typeOf } from '../../src/rules/expressions/types.ts';
import { sharedObjectOf } from './objects.ts';

/** Returns a page: a title, its parts separated by empty lines, and one line end at its end. */
export function page(title: string, ...parts: readonly (string | false | undefined)[]): string {
  return `# ${title}\n\n${parts.filter(Boolean).join('\n\n').trim()}\n`;
}

/** Returns a table, or the empty text if there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `| ${head.map(() => '---').join(' | ')} |`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim();
}

/** Returns text as code of a language. */
export function code(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

export const word = (text: string): string => `\`${text}\``;
export const words = (list: readonly string[]): string => list.map(word).join(', ');

/** Levels of members in one table, for objects that have no page of their own. */
const maxLevels = 5;

/**
 * Returns the members of a shape, or of the items of a list, with their types. A member that is an object with a page of
 * its own links that page; the members of any other object are rows of their own: `head.ref`, `commits[].message`.
 */
export function membersOf(shape: z.ZodType): string {
  const object = objectIn(typeOf(shape));
  return object === undefined ? '' : table(['member', 'type'], memberRows(object, '', [object]));
}

type Members = Readonly<Record<string, z.ZodType>>;

function memberRows(
  members: Members,
  before: string,
  around: readonly Members[],
): readonly (readonly string[])[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const type = typeOf(member);
    const path = `${before}${name}`;
    const row = [word(path), describeMember(type)];
    const inner = objectIn(type);
    const isShown = inner === undefined || sharedObjectOf(inner) !== undefined || around.includes(inner);
    if (isShown || around.length >= maxLevels) return [row];
    const isList = alternatives(type).some(({ kind }) => kind === 'list');
    return [row, ...memberRows(inner, `${path}${isList ? '[]' : ''}.`, [...around, inner])];
  });
}

/** Returns the words for a type, with the object or the type of the items that it has. */
function describeMember(type: Type): string {
  const parts = alternatives(type).map((one) => {
    if (one.kind === 'list') return `a list: ${describeMember(one.item)}`;
    if (one.kind === 'map') return `a map: ${describeMember(one.value)}`;
    const name = one.kind === 'object' ? sharedObjectOf(one.members) : undefined;
    return name === undefined ? describeType(one) : `[${name}](../objects/${name}.md)`;
  });
  return [...new Set(parts)].join(' or ');
}

function objectIn(type: Type): Members | undefined {
  for (const one of alternatives(type)) {
    if (one.kind === 'object') return one.members;
    const inner = one.kind === 'list' ? objectIn(one.item) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

type Schema = Readonly<Record<string, unknown>>;

/** Returns the members of a JSON Schema as rows: name, type, whether it is required, meaning. Nested ones are `a.b`. */
export function schemaRows(schema: Schema, before = ''): readonly (readonly string[])[] {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  const required = new Set((schema.required ?? []) as string[]);
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${before}${name}`;
    const inner = innerOf(member);
    return [
      [word(path), typeText(member), required.has(name) ? 'yes' : '', String(member.description ?? '')],
      ...(inner ? schemaRows(inner, `${path}${member.type === 'array' ? '[]' : ''}.`) : []),
    ];
  });
}

function innerOf(schema: Schema): Schema | undefined {
  if (schema.properties) return schema;
  const items = schema.items as Schema | undefined;
  return items?.properties ? items : undefined;
}

function typeText(schema: Schema): string {
  if ('const' in schema) return word(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => word(String(value))).join(', ');
  const options = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (options) return [...new Set(options.map(typeText))].join(' or ');
  if (schema.type === 'array') return `list of ${typeText((schema.items ?? {}) as Schema)}`;
  if (schema.type === 'object' && schema.additionalProperties) {
    return `map of ${typeText(schema.additionalProperties as Schema)}`;
  }
  const type = schema.type === 'object' ? 'map' : schema.type === 'string' ? 'text' : schema.type;
  return String(type ?? 'any');
}
