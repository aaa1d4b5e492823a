import { z } from 'zod';
import type { Action } from '../actions/action.ts';
import { IncludingFile } from './files/grammar.ts';

/** JSON Schema as plain data. */
type JsonSchema = { [key: string]: unknown };

/**
 * Returns the JSON Schema (draft-07) of rule files, for editors: the grammar, and for each action the arguments that
 * `with` takes beside it. What it accepts may still have problems that only the loader sees; what it refuses, the loader
 * refuses too, unless a parameter stands in the place of a number, a list or a word.
 */
export function schemaOfRules(actions: readonly Action[]): JsonSchema {
  const schema = toJsonSchema(IncludingFile);
  schema.anyOf = [{ required: ['rules'] }, { required: ['include'] }];
  const step = find(schema, ['properties', 'rules', 'additionalProperties', 'properties', 'steps', 'items']);
  if (step) {
    const definitions: JsonSchema = { ...asSchema(schema.definitions) };
    step.properties = { ...asSchema(step.properties), uses: usesOf(actions) };
    step.allOf = actions.map((action) => ({
      if: { properties: { uses: { const: action.name } }, required: ['uses'] },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word.
      then: { properties: { with: { ...argumentsOf(action, definitions), description: action.meaning } } },
    }));
    if (Object.keys(definitions).length > 0) schema.definitions = definitions;
  }
  return { ...schema, title: 'Rules of Reeve' };
}

/** Returns the schema of an action's arguments. Schemas that refer to themselves go to `definitions`, where a reference finds them. */
function argumentsOf({ name, arguments: form }: Action, definitions: JsonSchema): JsonSchema {
  const text = JSON.stringify(toJsonSchema(form)).replaceAll('"#/definitions/', `"#/definitions/${name}.`);
  const { definitions: own, ...schema } = JSON.parse(text) as JsonSchema;
  for (const [key, definition] of Object.entries(asSchema(own))) definitions[`${name}.${key}`] = definition;
  return schema;
}

function usesOf(actions: readonly Action[]): JsonSchema {
  return {
    description: 'The action.',
    oneOf: actions.map((action) => ({ const: action.name, description: action.meaning })),
  };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Our own marks say how a text is read; editors know no such key.
      Reflect.deleteProperty(jsonSchema, 'holds');
    },
  }) as JsonSchema;
}

function asSchema(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? (value as JsonSchema) : {};
}

function find(schema: JsonSchema, path: readonly string[]): JsonSchema | undefined {
  let inner: unknown = schema;
  for (const name of path) inner = asSchema(inner)[name];
  return typeof inner === 'object' && inner !== null ? (inner as JsonSchema) : undefined;
}
