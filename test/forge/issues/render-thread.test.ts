import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { start, waitForExit, waitForOutput } from '../../support/command.ts';
import { basic, startEmbedded } from '../../support/contract-forge.ts';

/** Markdown that takes many times as long to render as plain text of the same length. */
const heavy = '# a\n|a|b|\n|-|-|\n'.repeat(8_000);

it('Markdown is not rendered in the thread that handles requests', async () => {
  const forge = await startEmbedded();
  try {
    const render = (Text: string) =>
      forge.ask('POST', '/markdown', { as: forge.adminToken, body: { Text, Mode: 'gfm' } });
    // Loads the rendering libraries.
    await render('x');
    const [own, all] = [process.threadCpuUsage(), process.cpuUsage()];

    const [one, other] = await Promise.all([render(heavy), render(`${heavy}\n\nend`)]);

    const [ownAfter, allAfter] = [process.threadCpuUsage(own), process.cpuUsage(all)];
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(other.text).toContain('end');
    // Uses processor time, which does not depend on other load on this machine.
    expect((ownAfter.user + ownAfter.system) * 2).toBeLessThan(allAfter.user + allAfter.system);
  } finally {
    await forge.close();
  }
});

it('Markdown is rendered by the built program', async () => {
  const data = mkdtempSync(join(tmpdir(), 'render-'));
  const child = start(['forge', '--port', '0', '--data', data, '--admin', 'root:password', '--json']);
  try {
    const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /"url":"[^"]+"/))?.[1];
    const answer = await fetch(`${url}/api/v1/markdown/raw`, {
      method: 'POST',
      headers: { ...basic('root', 'password'), 'content-type': 'text/plain' },
      body: '**x**',
    });

    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining('<strong>x</strong>'),
    ]);
  } finally {
    child.kill();
    await waitForExit(child);
    rmSync(data, { recursive: true, force: true });
  }
});
