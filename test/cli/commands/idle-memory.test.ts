import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../../src/platform/package.ts';

/** Fills the young generation, then is idle; ends once the young generation is small. */
const program = `
import { getHeapSpaceStatistics } from 'node:v8';
import { returnIdleMemory } from ${JSON.stringify(join(packageRoot, 'src/cli/commands/process.ts'))};
const youngMiB = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
let kept = [];
for (let round = 0; round < 40; round += 1) {
  kept = [];
  for (let at = 0; at < 100_000; at += 1) kept.push({ at });
}
const before = youngMiB();
kept = [];
returnIdleMemory();
const look = setInterval(() => {
  if (youngMiB() >= 6) return;
  clearInterval(look);
  console.log(JSON.stringify({ before }));
}, 100);
`;

it('an idle process gives up the large young generation that work has left', async () => {
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=8', '--input-type=module-typescript', '--eval', program],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });

  const [status] = await once(child, 'exit');

  expect(status).toBe(0);
  expect(JSON.parse(out).before).toBeGreaterThanOrEqual(6);
});
