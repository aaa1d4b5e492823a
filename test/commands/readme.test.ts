import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../src/package.ts';
import { reeveProcess, start, waitForExit, waitForOutput } from '../support/command.ts';
import { type CommandSetup, makeCommandSetup } from '../support/command-setup.ts';
import { type ContractForge, startEmbedded } from '../support/contract-forge.ts';

let forge: ContractForge;
let connection: CommandSetup;
beforeAll(async () => {
  forge = await startEmbedded();
  connection = await makeCommandSetup(forge);
});
afterAll(async () => {
  await connection.close();
  await forge.close();
});

it('the commands under "Connect your forge" do what stands there', async () => {
  const text = readFileSync(join(packageRoot, 'README.md'), 'utf8');
  const [, block = ''] = /## Connect your forge[\s\S]*?```sh\n([\s\S]*?)```/.exec(text) ?? [];
  const commands = block
    .trim()
    .replaceAll('https://git.example.org', forge.url)
    .replaceAll('acme/demo', connection.repository)
    .split('\n')
    .map((line) => line.split(' '));
  const options = { cwd: connection.folder, environment: { PORT: String(connection.port) } };

  const [setup = [], doctor = [], serve = []] = commands.map(([npx, program, ...args]) => {
    expect([npx, program]).toEqual(['npx', 'reeve']);
    return args;
  });
  const made = await reeveProcess(setup, options);
  const looked = await reeveProcess(doctor, { cwd: connection.folder });
  const server = start(serve, { cwd: connection.folder });
  await waitForOutput(server, /"listening"/);
  server.kill();

  expect(commands).toHaveLength(3);
  expect(made).toMatchObject({ status: 0, error: '', out: expect.stringContaining('Connected.') });
  expect(looked).toMatchObject({ status: 0, error: '', out: expect.stringContaining('Nothing is wrong.') });
  expect(await waitForExit(server)).toMatchObject({ status: 0 });
});
