import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doctor } from '../../src/cli/commands/doctor.ts';
import { setup } from '../../src/cli/commands/setup.ts';
import type { ReportEntry } from '../../src/cli/connection/finding.ts';
import type { SetupOptions } from '../../src/cli/connection/steps/answers.ts';
import type { Prompt } from '../../src/cli/output/prompt.ts';
import type { Terminal } from '../../src/cli/output/terminal.ts';
import type { Variables } from '../../src/server/settings/config.ts';
import { readEnvFile } from '../../src/server/settings/env-file.ts';
import { type Account, basic, type ContractForge, freshName } from './contract-forge.ts';

export type CommandOutput = {
  readonly status: number;
  readonly out: string;
  readonly entries: readonly ReportEntry[];
};

/** Account of the bot, a repository that this account may administer, and a folder in which setup and doctor run. */
export interface CommandSetup {
  readonly forge: ContractForge;
  readonly bot: Account;
  readonly owner: Account;
  readonly organization: string;
  /** Full name of the repository, as owner/name. */
  readonly repository: string;
  readonly folder: string;
  readonly envFile: string;
  readonly port: number;
  /** Texts that no output may contain. */
  readonly canaries: string[];
  setup(options?: SetupOptions, environment?: Variables, prompt?: Prompt): Promise<CommandOutput>;
  doctor(environment?: Variables, options?: { test?: boolean; thorough?: boolean }): Promise<CommandOutput>;
  /**
   * Creates a token of the account with these scopes, and a file that contains the token. Returns the path of the file.
   */
  tokenFile(account: Account, scopes: readonly string[]): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  hooks(): Promise<readonly any[]>;
  path(name: string): string;
  close(): Promise<void>;
}

/** Returns a port that was free when it was checked. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Creates accounts, an organization and a repository under new names. */
export async function makeCommandSetup(forge: ContractForge): Promise<CommandSetup> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-connection-'));
  const path = (name: string): string => join(folder, name);
  const [bot, owner, port] = [await forge.makeUser(), await forge.makeUser(), await freePort()];
  const organization = await forge.makeOrganization(owner);
  const repository = await forge.makeRepository(owner, {
    in: organization,
    auto_init: true,
    default_branch: 'main',
  });
  await forge.share(repository, owner, { with: bot, permission: 'admin' });
  await forge.ask('PUT', `/user/starred/${repository}`, { as: bot });
  const canaries = [bot.token, owner.token, forge.adminToken];
  const envFile = path('reeve.env');
  await writeFile(path('token'), `${bot.token}\n`, { mode: 0o600 });

  const capture = async (run: (terminal: Terminal) => Promise<number>): Promise<CommandOutput> => {
    const lines: string[] = [];
    const write = (text: string): void => void lines.push(text);
    const status = await run({ out: write, error: write, style: (_style, text) => text });
    const out = lines.join('\n');
    const made = readEnvFile(envFile, { mustExist: false });
    const secrets = ['WEBHOOK_AUTHORIZATION', 'WEBHOOK_SECRET', 'OAUTH2_CLIENT_SECRET'].flatMap(
      (name) => made[name]?.split('\n') ?? [],
    );
    canaries.push(...secrets);
    const leak = canaries.find((canary) => out.includes(canary));
    if (leak !== undefined) throw new Error(`a secret was printed: ${out.replaceAll(leak, '<here>')}`);
    const json: { steps?: ReportEntry[]; checks?: ReportEntry[] } = JSON.parse(lines.at(-1) ?? '{}');
    return { status, out, entries: json.steps ?? json.checks ?? [] };
  };
  const base = { PORT: String(port), REEVE_DATA: path('data') };

  return {
    forge,
    bot,
    owner,
    organization,
    repository,
    folder,
    envFile,
    port,
    canaries,
    path,
    setup: (options = {}, environment = {}, prompt) => {
      const standard = {
        url: forge.url,
        tokenFile: path('token'),
        repository: [repository],
        config: path('reeve.yml'),
        settings: envFile,
      };
      return capture((terminal) =>
        setup({ json: true, ...standard, ...options }, { ...base, ...environment }, terminal, prompt),
      );
    },
    doctor: (environment = {}, options = {}) => {
      const read: Record<string, string | undefined> = { ...readEnvFile(envFile), ...environment };
      if (environment.FORGE_TOKEN) delete read.FORGE_TOKEN_FILE;
      return capture((terminal) => doctor({ json: true, settings: envFile, ...options }, read, terminal));
    },
    async tokenFile(account, scopes) {
      const answer = await forge.ask('POST', `/users/${account.name}/tokens`, {
        headers: basic(account.name, account.password),
        body: { name: freshName('token'), scopes },
      });
      canaries.push(answer.json.sha1);
      const file = path(freshName('token'));
      await writeFile(file, answer.json.sha1, { mode: 0o600 });
      return file;
    },
    hooks: async () => (await forge.ask('GET', `/repos/${repository}/hooks`, { as: owner })).json,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

export function entriesOf(output: CommandOutput, id: string): readonly ReportEntry[] {
  return output.entries.filter((entry) => entry.id === id);
}
