import { z } from 'zod';
import type { Action } from '../actions/action.ts';
import { eventFamilies, type Family } from '../contract/events/event-families.ts';
import type { Fact } from '../facts/fact.ts';
import { functions, loops } from '../rules/expressions/functions.ts';
import type { SubjectFunction } from '../rules/expressions/subject-functions.ts';
import { describeType } from '../rules/expressions/types.ts';

/**
 * The texts about actions, facts, events and functions, in Markdown: those of the reference pages and of the hover in
 * editors. They come from the tables that the program itself uses.
 */

/** Returns a table, or the empty text if there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `| ${head.map(() => '---').join(' | ')} |`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim();
}

/** Returns text as a code block of a language. */
export function code(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

export const word = (text: string): string => `\`${text}\``;
export const words = (list: readonly string[]): string => list.map(word).join(', ');

const shown = {
  repository: 'data that any user with write access can read: every rule may use it',
  admin:
    'data that only administrators of the repository can read: the operator’s rules may use it, others by grant',
  beyond: 'data from outside the repository: the operator’s rules may use it, others by grant',
} as const;

/** Returns the JSON Schema of what a file may contain, with Reeve's annotations. */
export function jsonSchema(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
}

/**
 * Describes who may use an action that is not granted to everyone, by the lowest level of rule files that may use it.
 */
const grantWords = {
  any: 'Rule files of repositories and organizations may use it only with the operator’s grant.',
  organization:
    'Rule files of organizations may use it only with the operator’s grant, those of repositories never.',
  operator: 'Only rule files of the operator may use it; no grant opens it to others.',
};

/** Returns what an action works on, what it needs, who may use it, and what a repeated delivery does. */
export function aboutAction(action: Action): string {
  const { granted, describesState, onlyFor, operatorOnly = [] } = action;
  const more = Object.entries(action.moreAccess ?? {}).map(
    ([name, access]) => ` ${word(name)} needs ${access} access.`,
  );
  const who = granted
    ? `Rule files of repositories may use it.${operatorOnly.length > 0 ? ` ${words(operatorOnly)} needs the operator’s grant.` : ''}`
    : grantWords[onlyFor ?? 'any'];
  return `Works on: ${words(action.of)}. ${needWords(action)}${more.join('')} ${who} ${onRepeat(describesState)}`;
}

function needWords({ needs: { access, scopes } }: Action): string {
  if (scopes.length === 0) return 'Needs no access and no token scope.';
  return `Needs ${access} access and a token with ${words(scopes.map((scope) => `write:${scope}`))}.`;
}

function onRepeat(describesState: boolean): string {
  return describesState
    ? 'On a repeated delivery, it is planned again from live state.'
    : 'On a repeated delivery, it is not repeated.';
}

/** Returns how a fact is written in an expression, with an example of its argument. */
export function callOfFact({ name, argument }: Fact): string {
  return argument === undefined ? name : `${name}(${JSON.stringify(argument)})`;
}

/** Returns for which subjects a fact is available, whose data it contains, what it needs, and what it costs. */
export function aboutFact(fact: Fact): string {
  return `Available for: ${words(fact.of)}. Contains ${fact.onlyFor === undefined ? shown[fact.shows] : 'data of other repositories, for rules of the operator alone'}. Needs ${accessWords(fact)}. Costs ${fact.requests} ${fact.requests === 1 ? 'request' : 'requests'} if the answer has one page.`;
}

function accessWords({ needs: { access, scopes, sometimes } }: Fact): string {
  const token =
    scopes.length === 0 ? '' : ` and a token with ${words(scopes.map((scope) => `read:${scope}`))}`;
  return `${access} access${sometimes ? ` (sometimes ${sometimes})` : ''}${token}`;
}

/** Returns the subject of a family of events, and a table of its Event-Types and activities. */
export function aboutEvent(family: Family): string {
  const { types, subject } = eventFamilies[family];
  const rows = Object.entries(types).map(([type, activities]) => [word(type), words(activities) || '–']);
  const head = `The subject is ${/^[aeiou]/.test(subject) ? 'an' : 'a'} ${subject}. Values of the Event-Type header, and their activities:`;
  return `${head}\n\n${table(['Event-Type', 'activities'], rows)}`;
}

/** Returns the meaning of a function, and a table of its forms; parts may be empty. */
export function aboutFunction(name: string): readonly string[] {
  const rows = functions.filter((row) => row.name === name);
  const loop = Object.hasOwn(loops, name) ? loops[name] : undefined;
  const forms = rows.map(({ of, takes, repeats, gives, meaning, outsideLoops }) => {
    const kinds = takes.map((each) => each.join(' or '));
    const given = [...kinds, ...(repeats ? ['…'] : [])].join(', ');
    const receiver = of === undefined ? '' : `(${of.join(' or ')}).`;
    const where = outsideLoops ? ' Not allowed inside loops.' : '';
    return [word(`${receiver}${name}(${given})`), describeType(gives), `${meaning}${where}`];
  });
  const presence =
    name === 'has'
      ? 'Whether a member is present: neither missing nor null. Use it before reading a member that some events lack.'
      : '';
  return [loop?.meaning ?? presence, table(['form', 'result', 'meaning'], forms)];
}

const entriesOf = {
  globs: 'globs of paths',
  names: 'names of labels',
  contexts: 'globs of status contexts',
} as const;

/** Returns what a function about the subject takes. */
export function aboutEntries(takes: SubjectFunction['takes']): string {
  return `Takes ${entriesOf[takes]}: a literal text, or a list of literal texts. An entry with \`!\` excludes, whatever its place; at least one entry must not.`;
}

/** JSON Schema as plain data. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns the properties of a JSON Schema as rows: name, type, whether it is required, meaning. Nested ones are written
 * as `a.b`.
 */
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

/** Names of arguments that are not plain text, by what they hold. */
const held: Readonly<Record<string, string>> = {
  condition: 'condition',
  template: 'text with `${{ }}`',
  'forge-text': 'text with `${{ }}`',
  'base-template': 'text with `${{ pull_request.base.ref }}`',
  'command-args': 'one `${{ command("NAME").args }}`',
  'command-users': 'one `${{ command("NAME").users }}`',
  'command-milestone': 'one `${{ command("NAME").milestone }}`',
};

/** Describes the type of a value by its schema. */
export function typeText(schema: Schema): string {
  const name = typeof schema.holds === 'string' ? held[schema.holds] : undefined;
  // `refuseArguments` of src/rules/arguments.ts decides.
  if (schema.holds === 'forge-text' && schema.commit !== true) return `${name}, also of commands`;
  if (name !== undefined) return name;
  if ('const' in schema) return word(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => word(String(value))).join(', ');
  const options = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (options) return [...new Set(options.map(typeText))].join(' or ');
  if (schema.type === 'array') return `list of ${typeText((schema.items ?? {}) as Schema)}`;
  if (schema.type === 'object' && schema.additionalProperties) {
    return `map of ${typeText(schema.additionalProperties as Schema).replace(/^condition$/, 'conditions')}`;
  }
  const type = schema.type === 'object' ? 'map' : schema.type === 'string' ? 'text' : schema.type;
  return String(type ?? 'any');
}
