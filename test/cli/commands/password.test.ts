import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reeve } from '../../support/command.ts';
import { startPostgres } from '../../support/postgres-server.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-password-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('reeve password', () => {
  it('shows and renews the password in the data folder', async () => {
    const environment = { REEVE_DATA: folder };
    const path = join(folder, 'dashboard.password');
    await writeFile(path, 'a password of this installation\n');

    const shown = await reeve(['password'], { environment });
    const renewed = await reeve(['password', '--renew', '--json'], { environment });

    expect(shown).toEqual({ status: 0, out: 'a password of this installation\n', error: '' });
    const { password } = JSON.parse(renewed.out);
    expect((await readFile(path, 'utf8')).trim()).toBe(password);
    expect(renewed.error).toContain('when reeve serve starts again');
    expect(renewed.error).not.toContain(password);
  });

  it("creates no password in a folder that is not the server's data folder", async () => {
    const data = join(folder, 'elsewhere');

    for (const flags of [[], ['--renew']]) {
      const answer = await reeve(['password', ...flags], { environment: { REEVE_DATA: data } });

      expect([answer.status, answer.out]).toEqual([2, '']);
      expect(answer.error).toContain('set REEVE_DATA to the folder of reeve serve');
    }
  });

  it('shows and renews the password of processes that share a database', async () => {
    // Uses a separate server that syncs, because Reeve refuses a server that does not.
    const database = await startPostgres();
    try {
      const environment = { DATABASE_URL: database.url, REEVE_DATA: join(folder, 'none') };

      const first = await reeve(['password'], { environment });
      const again = await reeve(['password'], { environment });
      const renewed = await reeve(['password', '--renew'], { environment });
      const last = await reeve(['password'], { environment });

      expect(first.out).toMatch(/^[\w-]{32}\n$/);
      expect(again.out).toBe(first.out);
      expect([renewed.status, last.out]).toEqual([0, renewed.out]);
      expect(renewed.out).not.toBe(first.out);
    } finally {
      await database.stop();
    }
  });
});
