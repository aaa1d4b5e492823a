import { describe, expect, it } from 'vitest';
import { setStatus } from '../../src/actions/set-status.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const head = { sha: 'a'.repeat(40) };
const status = (context: string, state: string, description = '', target_url = '') => ({
  id: 1,
  context,
  status: state,
  description,
  target_url,
});
const plan = (written: object, statuses: unknown, context = makeContext()) =>
  setStatus.plan(setStatus.arguments.parse(written), makeFacts({ head, statuses }), context);

describe('what is planned', () => {
  it.each([
    ['a status that is missing', {}, [], false, ['success', '']],
    ['a status that says something else', {}, [status('reeve/tidy', 'failure')], false, ['success', '']],
    [
      'another description',
      { description: 'new' },
      [status('reeve/tidy', 'success', 'old')],
      false,
      ['success', 'new'],
    ],
    [
      'nothing where it says so',
      { description: 'a' },
      [status('reeve/tidy', 'success', 'a')],
      true,
      ['success', 'a'],
    ],
    ['its own context alone', {}, [status('ci', 'success')], false, ['success', '']],
    ['failure while success does not hold', { when: false }, [], false, ['failure', '']],
    ['success while failure does not hold', { state: 'failure', when: false }, [], false, ['success', '']],
    [
      'what is said otherwise',
      { when: false, description: 'yes', otherwise: { state: 'pending', description: 'no' } },
      [],
      false,
      ['pending', 'no'],
    ],
    [
      'what is said while it holds',
      { when: true, description: 'yes', otherwise: { state: 'pending' } },
      [],
      false,
      ['success', 'yes'],
    ],
  ])('is %s', async (_title, written, statuses, already, [state, description]) => {
    const [change, ...more] = await plan(written, statuses);

    expect(more).toEqual([]);
    expect(change?.already ?? false).toBe(already);
    expect(change?.value).toEqual({ state, description, target_url: '' });
    expect(change?.input).toEqual({
      params: { owner: 'acme', repo: 'site', sha: head.sha },
      body: { context: 'reeve/tidy', state, description, target_url: '' },
    });
  });
});

it.each([
  ['operator', 'ci/build', 'ci/build'],
  ['organization', 'ci/build', 'reeve/tidy'],
  ['repository', 'ci/build', 'reeve/tidy'],
] as const)('of a file of the %s has the context that file may write', async (level, context, expected) => {
  const [change] = await plan({ context }, [], makeContext({ level }));

  expect(change?.target).toBe(`status:${expected}`);
});

it('never links to anything but a web page', async () => {
  const given = { ...setStatus.arguments.parse({}), target_url: 'javascript:alert(1)' };

  await expect(setStatus.plan(given, makeFacts({ head, statuses: [] }), makeContext())).rejects.toThrow(
    'http',
  );
});

it('is read again before it is written, on the commit that was judged', async () => {
  const [change] = await plan({}, []);

  expect(change?.reads).toMatchObject([{ name: 'statuses' }]);
});
