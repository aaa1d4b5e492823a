import { z } from 'zod';
import type { Action } from '../../actions/action.ts';
import { activitiesOf, eventFamilies, type Family } from '../../contract/events/event-families.ts';
import { subjectKinds } from '../../contract/events/subject.ts';
import { permissionLevels } from '../rule.ts';
import { ParameterForm } from './parameters.ts';

/**
 * The grammar of rule files, used by the loader, `reeve schema` and the reference page. A schema cannot express
 * conditions, patterns and permissions; the loader checks these afterwards.
 */

const families = Object.keys(eventFamilies) as Family[];

/** A pattern or a list of patterns; the last matching pattern decides. */
const Patterns = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(50)])
  .describe('A glob or a list of globs; an entry that starts with ! excludes; the last match decides.');

const Name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/);

export const RuleModeWord = z
  .enum(['enforce', 'observe'])
  .describe(
    '`observe` plans and records, and never writes; default `enforce`. A rule may only be stricter than its file.',
  );

const Limits = z
  .strictObject({
    changes: z
      .number()
      .int()
      .min(0)
      .max(50)
      .optional()
      .describe(
        'Changes one run of a rule may make: for one event, or one item of a schedule; may only narrow.',
      ),
    items: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe(
        'Items that a rule with a schedule changes in one slot; the rest comes with the next slot. May only narrow.',
      ),
  })
  .describe('Narrows what a run may do.');

function filterOf(family: Family) {
  const activities = activitiesOf(family);
  const names = {
    branches: Patterns.optional().describe(
      'Target branch of a pull request; ref of push, create and delete.',
    ),
    'branches-ignore': Patterns.optional(),
    tags: Patterns.optional().describe('Tag of push, create and delete.'),
    'tags-ignore': Patterns.optional(),
    paths: Patterns.optional().describe(
      'Files that the pull request or push changes; a rename counts with both paths.',
    ),
    'paths-ignore': Patterns.optional(),
  };
  const types = activities.length === 0 ? {} : { types: oneOrMore(activities).optional() };
  return z.strictObject({ ...types, ...names });
}

function oneOrMore(words: readonly string[]) {
  const word = z.enum(words as [string, ...string[]]);
  return z.union([word, z.array(word).min(1)]);
}

function formOf(family: Family) {
  const activities = activitiesOf(family);
  const filter = filterOf(family);
  const form =
    activities.length === 0
      ? z.union([z.null(), filter])
      : z.union([z.null(), oneOrMore(activities), filter]);
  return form.optional().describe(`Events of the family ${family}; without activities, all of them.`);
}

const Schedule = z
  .union([
    z.string().min(1),
    z.strictObject({ cron: z.string().min(1), timezone: z.string().min(1).optional() }),
  ])
  .describe('Five cron fields, in UTC unless a timezone is given. Needs `each`.');

const familyForms = Object.fromEntries(families.map((family) => [family, formOf(family)]));

const EventMap = z.strictObject({ ...familyForms, schedule: Schedule.optional() });

const EventWord = z.enum([
  'auto',
  ...families,
  ...families.flatMap((family) => activitiesOf(family).map((activity) => `${family}.${activity}`)),
]);

export const On = z
  .union([
    EventWord,
    z
      .array(z.union([EventWord, EventMap]))
      .min(1)
      .max(50),
    EventMap,
  ])
  .describe(
    'What the rule listens to: a family, `family.activity`, a list of these, or a map of families to filters. `auto` stands for every event after which what the rule reads may differ.',
  );

const withState = z.strictObject({ state: z.enum(['open', 'closed', 'all']).optional() });

export const EachForm = z
  .union([
    z.enum(subjectKinds),
    z.array(z.enum(subjectKinds)).min(1).max(subjectKinds.length),
    z.strictObject({
      pull_request: withState.optional(),
      issue: withState.optional(),
      milestone: withState.optional(),
      notification: z.strictObject({ in: Patterns }).optional(),
    }),
  ])
  .describe(
    'What a schedule walks over: one kind, or `[issue, pull_request]`; open ones by default, `{ pull_request: { state: all } }` for others. `{ notification: { in: [acme/*] } }` asks repository by repository, instead of for all of the account.',
  );

/** A condition in a rule file: CEL text, or a literal bool. */
export const Expression = z
  .union([z.string().min(1), z.boolean()])
  .describe('A CEL expression that answers true or false.');

export const StepForm = z
  .strictObject({
    name: z.string().min(1).max(100).optional(),
    uses: z.string().min(1).describe('The action.'),
    if: Expression.optional().describe('Whether this step speaks at all.'),
    with: z.record(z.string(), z.unknown()).optional().describe('Arguments of the action.'),
  })
  .describe('One thing to do.');

const RuleForm = z
  .strictObject({
    description: z.string().max(1_000).optional(),
    in: Patterns.optional().describe(
      'Repositories as `owner/name` globs. Operator and organization files only.',
    ),
    mode: RuleModeWord.optional(),
    limits: Limits.optional(),
    on: On,
    each: EachForm.optional(),
    if: Expression.optional().describe(
      'Whether the rule speaks at all: where it does not hold, nothing is touched.',
    ),
    permission: z
      .enum(permissionLevels)
      .optional()
      .describe(
        'Whose comments the rule obeys: people with write access to the repository (`write`), these and the author of the issue or pull request (`author`), people with read access (`read`), or `everyone`. Asked for the live author of the comment, and again before each write. Default: `write` if the rule reads arguments of a command, otherwise `everyone`.',
      ),
    steps: z.array(StepForm).min(1).max(10),
  })
  .describe('One rule: when, whether, what.');

/** Maximum number of packs that a file may include, counting the packs that they include. */
export const maxIncludes = 50;

export const IncludeForm = z
  .strictObject({
    name: Name.describe('Begins the names of the included rules: `NAME/RULE`.'),
    file: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe('Path of the pack from the folder of this file. Operator and organization files only.'),
    pack: Name.optional().describe(
      'Name of a pack that the organization or the operator offers; default: `name`.',
    ),
    with: z.record(z.string(), z.unknown()).optional().describe('Values of the parameters of the pack.'),
    in: Patterns.optional().describe(
      'Repositories as `owner/name` globs. Operator and organization files only.',
    ),
    mode: RuleModeWord.optional().describe('`enforce` lets the rules of the pack write; default `observe`.'),
  })
  .describe('A pack whose rules this file has too.');
export type IncludeForm = z.output<typeof IncludeForm>;

export const RuleFile = z
  .strictObject({
    version: z.literal(1),
    mode: RuleModeWord.optional(),
    limits: Limits.optional(),
    in: Patterns.optional().describe(
      'Repositories as `owner/name` globs. Operator and organization files only.',
    ),
    params: z
      .record(z.string(), ParameterForm)
      .optional()
      .describe('Constants of the file, by name: `${{ params.NAME }}` in a value inserts one.'),
    conditions: z
      .record(z.string(), Expression)
      .optional()
      .describe('Expressions of the file, by name: every expression of its rules may use the name.'),
    include: z.array(IncludeForm).min(1).max(maxIncludes).optional().describe('Packs of rules.'),
    rules: z.record(Name, RuleForm),
  })
  .describe('A file of rules for Reeve.');

/** Grammar of a file that includes packs and therefore need not have its own rules. */
export const IncludingFile = RuleFile.partial({ rules: true });
export type RuleFile = z.output<typeof RuleFile>;
export type StepForm = z.output<typeof StepForm>;

/** Maximum number of rules in a file. */
export const maxRules = 100;

/** JSON Schema as plain data. */
type JsonSchema = { [key: string]: unknown };

/**
 * Returns the JSON Schema (draft-07) of rule files, for editors: the grammar, including the `with` arguments of each
 * action. A file that the schema accepts may still have problems that only the loader finds. A file that the schema
 * rejects is also rejected by the loader, unless a parameter stands for a number, a list or a word.
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

/** Returns the schema of an action's arguments. Recursive schemas are moved to `definitions` and referenced there. */
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
      // Editors do not know Reeve's annotations.
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
