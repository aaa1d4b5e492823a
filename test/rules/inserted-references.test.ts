import { describe, expect, it } from 'vitest';
import { actions } from '../../src/actions/actions.ts';
import { createUnlimitedMeter } from '../../src/patterns/meter.ts';
import { compileArguments } from '../../src/rules/arguments.ts';
import { createEnvironment } from '../../src/rules/files/environment.ts';
import { contextOf } from '../expressions/support/context.ts';
import { registry } from './support/registry.ts';

const environment = createEnvironment({
  registry,
  level: 'operator',
  occasions: [{ family: 'pull_request', subject: 'pull_request' }],
});
const text = 'By ${{ pull_request.title }}';

/** Returns the arguments of an action with the title of a pull request filled in. */
function filled(name: string, given: object): unknown {
  const action = actions.find((one) => one.name === name);
  if (action === undefined) throw new Error(`there is no action ${name}`);
  const place = () => ({ code: 'expression' }) as never;
  const compiled = compileArguments(given, action.arguments, contextOf(environment), place);
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  const title = 'closes other/repo#5';
  const find = () => ({ value: { title } });
  const resolved = compiled.arguments.resolve({ find }, createUnlimitedMeter(), '1 say');
  if (!resolved.ok) throw new Error(resolved.reason);
  return resolved.value;
}

describe('the title of a stranger', () => {
  it.each<[string, string, object]>([
    ['comment', 'text', {}],
    ['comment', 'otherwise', { text: 'x' }],
    ['report-issue', 'title', { key: 'k' }],
    ['report-issue', 'body', { key: 'k', title: 'x' }],
    ['open-pull-request', 'title', { head: 'a', base: 'b' }],
    ['open-pull-request', 'body', { head: 'a', base: 'b', title: 'x' }],
    ['set-issue', 'title', {}],
    ['merge', 'title', {}],
    ['merge', 'message', {}],
    ['dismiss-stale-reviews', 'message', {}],
    ['commit-files', 'message', { files: [{ path: 'a', content: 'x' }] }],
  ])('closes no issue through %s, %s', (action, member, given) => {
    expect(filled(action, { ...given, [member]: text })).toMatchObject({
      [member]: 'By closes other/repo#\u200b5',
    });
  });

  it.each<[string, object]>([
    ['notify', { to: 'hook', text }],
    ['run-workflow', { workflow: 'a.yml', inputs: { text } }],
    ['set-status', { context: 'c', description: text }],
  ])('reaches %s unchanged, which the forge does not read', (action, given) => {
    expect(JSON.stringify(filled(action, given))).toContain('By closes other/repo#5');
  });
});
