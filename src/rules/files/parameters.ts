import { z } from 'zod';
import { isRecord } from '../../contract/events/payload-members.ts';
import { opening } from '../expressions/template.ts';
import { nearest } from '../problem.ts';
import type { FileContext } from './context.ts';
import type { YamlPath } from './yaml-source.ts';

/** Value of a parameter: a constant in the file that declares the parameter. */
export type ParameterValue = string | number | boolean | readonly string[];

/** Values of the parameters of a file, by name. */
export type ParameterValues = ReadonlyMap<string, ParameterValue>;

/** Types of parameters, with descriptions of their values. */
const parameterTypes = {
  string: 'text',
  int: 'a whole number',
  bool: 'true or false',
  list: 'a list of texts',
};
export type ParameterType = keyof typeof parameterTypes;

const Value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** Declaration of one parameter in `params`. */
export const ParameterForm = z
  .strictObject({
    type: z.enum(Object.keys(parameterTypes) as [ParameterType, ...ParameterType[]]),
    description: z.string().max(1_000).optional(),
    default: Value.optional().describe(
      'Value where an include gives none; without it, an include must give one.',
    ),
    example: Value.optional().describe(
      'Value with which `reeve check` and `reeve test` read a pack whose parameter has no default.',
    ),
    min: z
      .number()
      .int()
      .optional()
      .describe('Lower bound: of the number, of the length of a text, or of the entries of a list.'),
    max: z.number().int().optional().describe('Upper bound, as `min`.'),
    'one-of': z
      .array(z.string())
      .min(1)
      .max(50)
      .optional()
      .describe('The only texts that are allowed: as the value, or as entries of a list.'),
  })
  .describe('A constant of the file: `${{ params.NAME }}` inserts its value.');
export type ParameterForm = z.output<typeof ParameterForm>;

/** Maximum number of parameters in a file. */
const maxParameters = 50;
/** Maximum length of a text value. Below: the maximum number of entries of a list value. */
const maxTextLength = 4_000;
const maxEntries = 100;

/** Parameter names that expressions can use as `params.NAME`. */
const parameterName = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Returns the problem with a parameter name, or undefined. */
function problemOfName(name: string): string | undefined {
  if (parameterName.test(name)) return undefined;
  return `"${name}" is not a valid parameter name: use letters, digits and "_", starting with a letter, as in close_after_days`;
}

/** Returns the problem with a declaration, or undefined. */
function problemOfDeclaration(name: string, declared: ParameterForm): string | undefined {
  const { type, min, max, default: standard, example } = declared;
  if (type === 'bool' && (min !== undefined || max !== undefined))
    return `${name} is true or false, and cannot have bounds: remove min and max`;
  if (declared['one-of'] !== undefined && (type === 'int' || type === 'bool'))
    return `one-of lists texts, but ${name} is ${parameterTypes[type]}: remove one-of`;
  if (min !== undefined && max !== undefined && min > max)
    return `no value of ${name} can be at least ${min} and at most ${max}`;
  for (const [key, value] of Object.entries({ default: standard, example })) {
    const wrong = value === undefined ? undefined : problemOfValue(name, declared, value);
    if (wrong !== undefined) return `the ${key} is invalid: ${wrong}`;
  }
  return undefined;
}

/** Returns why a value does not match the declaration of its parameter; undefined if it matches. */
export function problemOfValue(name: string, declared: ParameterForm, value: unknown): string | undefined {
  const { type } = declared;
  if (!hasType(type, value)) {
    const isBare = type === 'string' && (typeof value === 'number' || typeof value === 'boolean');
    const hint = isBare ? `: put it in quotes, "${value}"` : '';
    return `${name} must be ${parameterTypes[type]}, not ${describeGiven(value)}${hint}`;
  }
  const texts = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  const unsafe = texts.map((text) => problemOfText(name, text)).find((wrong) => wrong !== undefined);
  return unsafe ?? problemOfSize(name, declared, value) ?? problemOfWords(name, declared, texts);
}

function hasType(type: ParameterType, value: unknown): value is ParameterValue {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'int':
      return Number.isSafeInteger(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  }
}

function describeGiven(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  const words: Readonly<Record<string, string>> = {
    string: 'text',
    boolean: 'true or false',
    object: 'a map',
  };
  return words[typeof value] ?? typeof value;
}

/**
 * Returns the problem of a text value. Values are constants: a text must not be parsed as an expression, end a line of
 * output or break an encoding.
 */
function problemOfText(name: string, text: string): string | undefined {
  if (text.length > maxTextLength) return `${name} has more than ${maxTextLength} characters`;
  if (text.includes(opening)) return `${name} contains "${opening}": the value of a parameter is a constant`;
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)) return `${name} contains control characters`;
  if (!text.isWellFormed()) return `${name} contains an unpaired surrogate`;
  return undefined;
}

function problemOfSize(
  name: string,
  { type, min, max }: ParameterForm,
  value: ParameterValue,
): string | undefined {
  if (typeof value === 'boolean') return undefined;
  const size = typeof value === 'number' ? value : value.length;
  const unit = type === 'string' ? ' characters' : type === 'list' ? ' entries' : '';
  const verb = type === 'int' ? 'be' : 'have';
  if (min !== undefined && size < min)
    return `${name} must ${verb} at least ${min}${unit}, and it is ${size}`;
  if (max !== undefined && size > max) return `${name} must ${verb} at most ${max}${unit}, and it is ${size}`;
  if (type === 'list' && size > maxEntries) return `${name} has more than ${maxEntries} entries`;
  return undefined;
}

function problemOfWords(name: string, declared: ParameterForm, texts: readonly string[]): string | undefined {
  const allowed = declared['one-of'];
  const other = allowed && texts.find((text) => !allowed.includes(text));
  if (allowed === undefined || other === undefined) return undefined;
  return `"${other.slice(0, 100)}" is not one of the values of ${name} (${allowed.join(', ')})`;
}

/** Returns the remedy for an undeclared parameter. */
export function unknownParameter(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `there is no parameter "${name}", did you mean "${meant}"?`;
  const list = known.length === 0 ? '' : `; there are ${known.join(', ')}`;
  return `there is no parameter "${name}"${list}: declare it at the top of the file, as in params: { ${name}: { type: string, default: … } }`;
}

/** Sources of parameter values, in addition to the defaults. */
export type GivenParameters = {
  /** Values given by an include or by a rule test. */
  readonly with?: Readonly<Record<string, unknown>>;
  /** Receives the problem of a given value. If the name is undefined, a value is missing. */
  readonly onProblem?: (name: string | undefined, message: string) => void;
  /** Whether parameters without a value use their example. Set if the file is only checked, and not in force. */
  readonly useExamples?: boolean;
};

/**
 * Returns the parameter values of a file: the given values, otherwise the defaults. Invalid declarations are reported
 * at their position in the file, invalid values at the place where they are given.
 */
export function readParameters(context: FileContext, given: GivenParameters = {}): ParameterValues {
  const written = isRecord(context.file.value) ? context.file.value.params : undefined;
  const values = new Map<string, ParameterValue>();
  const declared = isRecord(written) ? Object.entries(written) : [];
  if (declared.length > maxParameters) {
    const message = `a file may have at most ${maxParameters} parameters, but this file has ${declared.length}`;
    context.reportKey(['params'], 'parameter', message);
  }
  const names = declared.map(([name]) => name);
  for (const [name, form] of declared.slice(0, maxParameters)) {
    const value = readParameter(name, form, context, given);
    if (value !== undefined) values.set(name, value);
  }
  const onProblem = given.onProblem ?? reportIn(context);
  for (const name of Object.keys(given.with ?? {})) {
    if (!names.includes(name)) onProblem(name, unknownToPack(name, names));
  }
  return values;
}

function readParameter(
  name: string,
  written: unknown,
  context: FileContext,
  { with: given = {}, onProblem = reportIn(context), useExamples = false }: GivenParameters,
): ParameterValue | undefined {
  const at: YamlPath = ['params', name];
  const parsed = ParameterForm.safeParse(written);
  // The grammar reports missing members of the declaration.
  if (!parsed.success) return undefined;
  const form = parsed.data;
  const wrong = problemOfName(name) ?? problemOfDeclaration(name, form);
  if (wrong !== undefined) {
    context.reportKey(at, 'parameter', wrong);
    return undefined;
  }
  if (Object.hasOwn(given, name)) {
    const misfit = problemOfValue(name, form, given[name]);
    if (misfit === undefined) return given[name] as ParameterValue;
    onProblem(name, misfit);
    return undefined;
  }
  const value = form.default ?? (useExamples ? form.example : undefined);
  if (value !== undefined) return value;
  if (useExamples) {
    const message = `${name} needs a default, or an example that reeve check and reeve test use when they read the pack: write example: … next to its type`;
    context.reportKey(at, 'parameter', message);
    return undefined;
  }
  onProblem(undefined, `the parameter ${name} needs a value: write with: { ${name}: … }`);
  return undefined;
}

/** Returns a function that reports invalid values in the file itself, for a file that is not included. */
function reportIn(context: FileContext): NonNullable<GivenParameters['onProblem']> {
  return (name, message) => {
    const hint = name === undefined ? '; a file that is not included needs a default' : '';
    context.reportKey(['params', ...(name === undefined ? [] : [name])], 'parameter', `${message}${hint}`);
  };
}

function unknownToPack(name: string, known: readonly string[]): string {
  if (known.length === 0) return `there is no parameter "${name}": the pack has none`;
  return unknownParameter(name, known).replace(/: declare it .*$/s, '');
}
