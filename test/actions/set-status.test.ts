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

describe('the plan', () => {
  it.each([
    ['a missing status', {}, [], false, ['success', '']],
    ['a status with another state', {}, [status('reeve/tidy', 'failure')], false, ['success', '']],
    [
      'another description',
      { description: 'new' },
      [status('reeve/tidy', 'success', 'old')],
      false,
      ['success', 'new'],
    ],
    [
      'nothing new if the status is already as wanted',
      { description: 'a' },
      [status('reeve/tidy', 'success', 'a')],
      true,
      ['success', 'a'],
    ],
    ['only its own context', {}, [status('ci', 'success')], false, ['success', '']],
    ['failure while success does not hold', { when: false }, [], false, ['failure', '']],
    ['success while failure does not hold', { state: 'failure', when: false }, [], false, ['success', '']],
    [
      '`otherwise` if its condition does not hold',
      { when: false, description: 'yes', otherwise: { state: 'pending', description: 'no' } },
      [],
      false,
      ['pending', 'no'],
    ],
    [
      'the main status while its condition holds',
      { when: true, description: 'yes', otherwise: { state: 'pending' } },
      [],
      false,
      ['success', 'yes'],
    ],
  ])('sets %s', async (_title, written, statuses, already, [state, description]) => {
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

const base = '${{ pull_request.base.ref }}';

describe('the name of a status', () => {
  it.each([
    ['operator', undefined, 'reeve/tidy'],
    ['operator', 'ci/build', 'ci/build'],
    ['organization', undefined, 'reeve-org/tidy'],
    ['organization', 'owners', 'reeve-org/owners'],
    ['organization', 'reeve-org/owners', 'reeve-org/owners'],
    ['repository', undefined, 'reeve-repo/tidy'],
    ['repository', 'reeve-repo/a/b', 'reeve-repo/a/b'],
    ['repository', ` owners ${base} `, 'reeve-repo/owners release/1.2'],
    ['operator', `reeve/owners ${base}`, 'reeve/owners release/1.2'],
  ] as const)('of the %s for %j is %s', async (level, context, expected) => {
    const facts = makeFacts({ head, statuses: [], pull_request: { base: { ref: 'release/1.2' } } });
    const [change] = await setStatus.plan(
      setStatus.arguments.parse({ context }),
      facts,
      makeContext({ level }),
    );

    expect(change?.target).toBe(`status:${expected}`);
    expect(
      setStatus.examineAt?.(setStatus.arguments.parse({ context }), { level, subjects: [], scopes: [] }),
    ).toEqual([]);
  });

  it.each([
    ['repository', 'reeve/security', 'write context: reeve-repo/security'],
    ['repository', 'reeve-org/security', 'write context: reeve-repo/security'],
    ['repository', 'Reeve-repo/security', 'write context: reeve-repo/security'],
    ['repository', 'reeve-repo/', 'write context: reeve-repo/NAME'],
    ['repository', 'ci/build', 'write context: reeve-repo/ci/build'],
    ['organization', 'reeve/queue', 'is the status of Reeve itself'],
    ['organization', 'reeve-repo/x', 'write context: reeve-org/x'],
    ['operator', ' reeve/queue\t', 'is the status of Reeve itself'],
    ['operator', 'Reeve/Rules', 'is the status of Reeve itself'],
    ['operator', 'reeve-repo/x', 'write context: reeve/x'],
    ['operator', 'reeve-org/x', 'write context: reeve/x'],
    ['operator', 'x ${{ pull_request.head.ref }}', 'no other expression'],
    ['repository', `a ${base} ${'$'}{{ sender.login }}`, 'no other expression'],
  ] as const)('of the %s cannot be %j', (level, context, remedy) => {
    const [problem] =
      setStatus.examineAt?.({ context } as never, { level, subjects: ['pull_request'], scopes: [] }) ?? [];

    expect(problem).toMatchObject({ path: ['context'], message: expect.stringContaining(remedy) });
  });

  it('cannot contain the base if a subject has none', () => {
    const place = { level: 'operator', subjects: ['pull_request', 'branch'], scopes: [] } as const;

    expect(setStatus.examineAt?.({ context: `a ${base}` } as never, place)).toHaveLength(1);
  });

  it.each(['queue', 'rules'])(
    "cannot become one of Reeve's own status names through a branch name: %s",
    async (ref) => {
      const facts = makeFacts({ head, statuses: [], pull_request: { base: { ref } } });
      const given = setStatus.arguments.parse({ context: `reeve/${base}` });

      await expect(setStatus.plan(given, facts, makeContext())).rejects.toThrow('Reeve itself');
    },
  );
});

describe('a status of an earlier version, in which all levels shared one name', () => {
  const old = { ...status('reeve/tidy', 'success'), creator: { id: 9 } };
  const context = (level: 'operator' | 'repository', isStatusOfOperator = () => false) =>
    makeContext({ level, isStatusOfOperator });

  it('is ended, and refers to its successor', async () => {
    const [, ended, ...more] = await plan({}, [old], context('repository'));

    expect(more).toEqual([]);
    expect(ended).toMatchObject({
      target: 'status:reeve/tidy',
      value: { state: 'error', description: 'This status is named reeve-repo/tidy now. Require that one.' },
    });
    expect(await plan({}, [{ ...old, status: 'error' }], context('repository'))).toHaveLength(1);
  });

  it.each([
    ['of another account', { ...old, creator: { id: 3 } }, context('repository')],
    ['that the operator writes', old, context('repository', () => true)],
    ['of a run that does not know what the operator writes', old, makeContext({ level: 'repository' })],
    ['of the operator', old, context('operator')],
  ])('is left alone: one %s', async (_title, live, place) => {
    expect((await plan({}, [live], place)).map(({ target }) => target)).not.toContainEqual(
      place.level === 'operator' ? 'status:reeve-repo/tidy' : 'status:reeve/tidy',
    );
  });
});

it('set-status links only to web pages', async () => {
  const given = { ...setStatus.arguments.parse({}), target_url: 'javascript:alert(1)' };

  await expect(setStatus.plan(given, makeFacts({ head, statuses: [] }), makeContext())).rejects.toThrow(
    'http',
  );
});

it('set-status reads the statuses of the evaluated commit again before the write', async () => {
  const [change] = await plan({}, []);

  expect(change?.reads).toMatchObject([{ name: 'statuses' }]);
});
