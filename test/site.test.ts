import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
// Installs the generator and renders hundreds of pages: half a minute.
const isDue = Boolean(process.env.CHECK ?? process.env.LONG);

it.skipIf(!isDue)(
  'the documentation builds as a site: no dead link, no request to another host',
  async () => {
    const { stdout } = await promisify(execFile)('npm', ['run', 'site'], {
      cwd: root,
      maxBuffer: 64 * 2 ** 20,
    });

    expect(Number(/^(\d+) pages in site\/dist$/m.exec(stdout)?.[1])).toBeGreaterThan(100);
  },
);
