import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

type Inputs = Readonly<Record<string, string>>;
type Step = { readonly uses?: string; readonly with?: Inputs; readonly run?: string; readonly env?: Inputs };
type Workflow = {
  readonly on: unknown;
  readonly jobs: Readonly<Record<string, { readonly 'runs-on': string; readonly steps: readonly Step[] }>>;
};

const page = readFileSync('docs/ci.md', 'utf8');
const action: { inputs: Record<string, unknown>; outputs: Record<string, unknown> } = parse(
  readFileSync('action.yml', 'utf8'),
);
const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
const { name, files }: { name: string; files: readonly string[] } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);
/** Commands that run the action where a runner takes no action of another server. */
const commands = [`npm install --no-save ${name}`, `node node_modules/${name}/dist/action.mjs`];
const variableOf = (input: string): string => `INPUT_${input.toUpperCase().replaceAll('-', '_')}`;
/** Returns the inputs that variables give, by name; a variable of no input under its own name. */
const inputsOf = (env: Inputs): Inputs =>
  Object.fromEntries(
    Object.entries(env).map(([variable, value]) => [
      Object.keys(action.inputs).find((input) => variableOf(input) === variable) ?? variable,
      value,
    ]),
  );
/** The others are a rule file, and a workflow of Woodpecker. */
const workflows = blocks.filter((text) => /^jobs:$/m.test(text));
/** Returns the names in the first column of the table below this heading. */
const namesIn = (heading: string): readonly string[] => {
  const table = new RegExp(`^\\| ${heading} \\|.*\\n\\|.*\\n((?:\\|.*\\n)+)`, 'm').exec(page)?.[1] ?? '';
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name);
};

describe('docs/ci.md', () => {
  it('contains the promised workflows', () => {
    expect(workflows).toHaveLength(8);
  });

  it.each(workflows)('has a workflow with only valid action inputs: %s', (text) => {
    const { on, jobs }: Workflow = parse(text);
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const isOurs = ({ uses = '' }: Step) => uses === './' || /\/reeve\/reeve@v\d+\.\d+\.\d+$/.test(uses);
    const given = [
      ...steps.filter(isOurs).map((step) => step.with ?? {}),
      ...steps.flatMap(({ env }) => (env === undefined ? [] : [inputsOf(env)])),
    ];

    expect(on).toBeDefined();
    expect(given.length).toBeGreaterThan(0);
    const others = steps.filter((step) => !isOurs(step) && step.uses !== 'actions/checkout@v4');
    expect(others.filter(({ run }) => run === undefined || !commands.includes(run))).toEqual([]);
    for (const inputs of given) {
      expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(inputs)));
      expect(['check', 'test', 'plan', 'apply', 'sweep']).toContain(inputs.command);
      for (const value of Object.values(inputs)) expect(value).toBeTypeOf('string');
    }
  });

  it('has a workflow of Woodpecker with valid inputs, commands that exist, and files of the package', () => {
    const [text = ''] = blocks.filter((block) => /^steps:$/m.test(block) && !workflows.includes(block));
    type WoodpeckerStep = { readonly environment?: object; readonly commands: readonly string[] };
    const { steps }: { steps: Record<string, WoodpeckerStep> } = parse(text);
    const given = Object.values(steps).flatMap(({ environment = {} }) => Object.keys(environment));
    const inputs = Object.keys(action.inputs).map(variableOf);

    expect(given.length).toBeGreaterThan(0);
    expect(given.filter((one) => !inputs.includes(one))).toEqual([]);
    expect(Object.values(steps).flatMap(({ commands }) => commands)).toEqual([
      `npx --yes ${name} check`,
      ...commands,
    ]);
    expect(files).toContain('dist/action.mjs');
  });

  it('lists all inputs and outputs of the action', () => {
    expect(namesIn('input')).toEqual(Object.keys(action.inputs));
    expect(namesIn('output')).toEqual(Object.keys(action.outputs));
  });
});
