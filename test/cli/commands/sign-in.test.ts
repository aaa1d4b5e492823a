import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLog } from '../../../src/platform/log.ts';
import { type Server, startServer } from '../../../src/server/server.ts';
import { loadSettings } from '../../../src/server/settings/config.ts';
import { mergeEnvironments, readEnvFile } from '../../../src/server/settings/env-file.ts';
import { type CommandSetup, makeCommandSetup } from '../../support/command-setup.ts';
import { startEmbedded } from '../../support/contract-forge.ts';
import { openMiniBrowser } from '../../support/mini-browser.ts';

let forge: Awaited<ReturnType<typeof startEmbedded>>;
let connection: CommandSetup;
let server: Server | undefined;
beforeAll(async () => {
  forge = await startEmbedded();
  connection = await makeCommandSetup(forge);
});
afterAll(async () => {
  await server?.stop();
  await connection.close();
  await forge.close();
});

it('people sign in to a dashboard that setup registered, and see their repository', async () => {
  const { port, envFile, owner, repository } = connection;
  const dashboard = `http://localhost:${port}`;
  expect(await connection.setup({ dashboard })).toMatchObject({ status: 0 });
  const settings = await loadSettings(mergeEnvironments(readEnvFile(envFile), {}));
  expect(settings).toMatchObject({ dashboard, signIn: { clientId: expect.any(String) } });
  server = await startServer({
    ...settings,
    forge: settings.forge ?? { url: '', credentials: { token: '' } },
    log: silentLog,
  });

  const browser = openMiniBrowser();
  const page = await browser.go(`${dashboard}/deliveries`);
  const link = /href="([^"]*\/sign-in\/forge[^"]*)"/.exec(page.text)?.[1] ?? '';
  const form = await browser.go(link.replaceAll('&amp;', '&'));
  const consent = await browser.submit(form, '/login/oauth/sign-in', {
    user_name: owner.name,
    password: owner.password,
  });
  const back = await browser.submit(consent, '/login/oauth/grant', { granted: 'true' });

  expect(back).toMatchObject({ status: 200 });
  expect(back.text).toContain('url=../deliveries"');
  const { text } = await browser.go(`${dashboard}/deliveries?own=shown&show=all`);
  expect(text).toContain(`@${owner.name} (`);
  // Shown because of the delivery with which setup tested the hook.
  expect(text).toContain(repository);
});
