import { isRecord } from '../../contract/events/payload-members.ts';
import type { FileContext } from '../files/context.ts';
import type { YamlPath } from '../files/yaml-source.ts';
import {
  maxParameters,
  ParameterForm,
  type ParameterValue,
  type ParameterValues,
  problemOfDeclaration,
  problemOfName,
  problemOfValue,
} from './declaration.ts';
import { unknownParameter } from './expand-text.ts';

/** Where the values of parameters come from beside their defaults. */
export type GivenParameters = {
  /** Values of an include, or of a rule test. */
  readonly with?: Readonly<Record<string, unknown>>;
  /** Reports what is wrong with a given value; with undefined, that one is missing. */
  readonly onProblem?: (name: string | undefined, message: string) => void;
  /** Whether a parameter without a value has that of its example: the file is only read, and not in force. */
  readonly useExamples?: boolean;
};

/**
 * Returns the values of the parameters that a file declares: those given, else the defaults. Reports wrong declarations at
 * their place in the file, and what is wrong with given values where they are given.
 */
export function readParameters(context: FileContext, given: GivenParameters = {}): ParameterValues {
  const written = isRecord(context.file.value) ? context.file.value.params : undefined;
  const values = new Map<string, ParameterValue>();
  const declared = isRecord(written) ? Object.entries(written) : [];
  if (declared.length > maxParameters) {
    const message = `a file has at most ${maxParameters} parameters, this one has ${declared.length}`;
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
  // What the form lacks is reported with the rest of the grammar.
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
    const message = `${name} needs a default, or an example for reeve check and reeve test to read the pack with: write example: … beside its type`;
    context.reportKey(at, 'parameter', message);
    return undefined;
  }
  onProblem(undefined, `the parameter ${name} needs a value: write with: { ${name}: … }`);
  return undefined;
}

/** Reports in the file itself what a file that is in force by itself lacks. */
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
