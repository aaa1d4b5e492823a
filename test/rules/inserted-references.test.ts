import { describe, expect, it } from 'vitest';
import { actions } from '../../src/actions/actions.ts';
import { createUnlimitedMeter } from '../../src/patterns/meter.ts';
import { compileArguments } from '../../src/rules/arguments.ts';
import { createEnvironment } from '../../src/rules/files/context.ts';
import { contextOf } from './expressions/support/context.ts';
import { registry } from './support/registry.ts';

const environment = createEnvironment({
  registry,
  level: 'operator',
  occasions: [{ family: 'pull_request', subject: 'pull_request' }],
});
const text = 'By ${{ pull_request.title }}';

/** Returns the arguments of an action after inserting the title of a pull request. */
function filled(name: string, given: object, title = 'closes other/repo#5'): unknown {
  const action = actions.find((one) => one.name === name);
  if (action === undefined) throw new Error(`there is no action ${name}`);
  const place = () => ({ code: 'expression' }) as never;
  const compiled = compileArguments(given, action.arguments, contextOf(environment), place);
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  const find = () => ({ value: { title } });
  const resolved = compiled.arguments.resolve({ find }, createUnlimitedMeter(), '1 say');
  if (!resolved.ok) throw new Error(resolved.reason);
  return resolved.value;
}

describe('a title written by a stranger', () => {
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
  ])('closes no issue through %s %s', (action, member, given) => {
    expect(filled(action, { ...given, [member]: text })).toMatchObject({
      [member]: 'By closes other/repo#\u200b5',
    });
  });

  it.each<[string, object]>([
    ['notify', { to: 'hook', text }],
    ['run-workflow', { workflow: 'a.yml', inputs: { text } }],
    ['set-status', { context: 'c', description: text }],
  ])('reaches %s unchanged, because the forge does not look for references there', (action, given) => {
    expect(JSON.stringify(filled(action, given))).toContain('By closes other/repo#5');
  });
});

describe('a text of several lines', () => {
  const lines = 'one\n\nSigned-off-by: @ada';
  /** Form in which an argument inserts the text: one line or several, with mentions broken or kept. */
  type Kind = 'one line' | 'lines' | 'title of a commit' | 'message of a commit';
  const made: Readonly<Record<Kind, string>> = {
    'one line': 'one Signed-off-by: @\u200bada',
    lines: 'one\n\nSigned-off-by: @\u200bada',
    'title of a commit': 'one Signed-off-by: @ada',
    'message of a commit': lines,
  };

  it.each<[string, string, Kind, object]>([
    ['comment', 'text', 'lines', {}],
    ['comment', 'otherwise', 'lines', { text: 'x' }],
    ['comment', 'key', 'one line', { text: 'x' }],
    ['report-issue', 'title', 'one line', { key: 'k' }],
    ['report-issue', 'body', 'lines', { key: 'k', title: 'x' }],
    ['open-pull-request', 'title', 'one line', { head: 'a', base: 'b' }],
    ['open-pull-request', 'body', 'lines', { head: 'a', base: 'b', title: 'x' }],
    ['set-issue', 'title', 'one line', {}],
    ['set-status', 'description', 'one line', { context: 'c' }],
    ['dismiss-stale-reviews', 'message', 'lines', {}],
    ['notify', 'text', 'lines', { to: { secret: 'CHAT' } }],
    ['merge', 'title', 'title of a commit', {}],
    ['merge', 'message', 'message of a commit', {}],
    ['queue-merge', 'title', 'title of a commit', {}],
    ['queue-merge', 'message', 'message of a commit', {}],
    ['commit-files', 'message', 'message of a commit', { files: [{ path: 'a', content: 'x' }] }],
  ])('is inserted into %s %s as %s', (action, member, kind, given) => {
    const value = filled(action, { ...given, [member]: '${{ pull_request.title }}' }, lines);

    expect(value).toMatchObject({ [member]: made[kind] });
  });

  it('adds no lines to the content of a file, which programs may read line by line, or to an input of a workflow', () => {
    const files = [{ path: 'a', content: '${{ pull_request.title }}' }];
    expect(filled('commit-files', { files }, lines)).toMatchObject({
      files: [{ content: made['title of a commit'] }],
    });
    const inputs = { text: '${{ pull_request.title }}' };
    expect(filled('run-workflow', { workflow: 'a.yml', inputs }, lines)).toMatchObject({
      inputs: { text: made['one line'] },
    });
  });
});
