import { expect, it } from 'vitest';
import { createRunnerMemory, type SeenRunner } from '../../../../src/work/sweeps/targets/runner-memory.ts';

const runner: SeenRunner = { id: 7, name: 'one', status: 'online', busy: false, disabled: false, labels: [] };
const now = new Date('2030-01-01T00:00:00Z');

function makeMemory() {
  const kept = new Map<string, unknown>();
  const writes: string[] = [];
  const memory = createRunnerMemory({
    recall: async (key) => kept.get(key),
    async revise(key, edit) {
      const after = edit(kept.get(key));
      if (after !== kept.get(key)) writes.push(key);
      kept.set(key, after);
      return after;
    },
  });
  return { memory, writes };
}

it('writes nothing for a level that has never had a runner', async () => {
  const { memory, writes } = makeMemory();
  for (let at = 0; at < 100; at += 1) await memory.observe(`repository acme/r${at}`, [], now);

  expect(writes).toEqual([]);
  expect(await memory.levels()).toEqual({});
});

it('remembers that the last runner of a level is gone', async () => {
  const { memory } = makeMemory();
  await memory.observe('organization acme', [runner], now);
  await memory.observe('organization acme', [], now);

  expect(await memory.levels()).toMatchObject({ 'organization acme': { 7: { status: 'gone' } } });
});
