import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Credentials } from '../../../client/credentials.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { loadForge, readSecret, type Variables } from '../../../server/settings/config.ts';
import { mergeEnvironments, readEnvFile, resolvePaths } from '../../../server/settings/env-file.ts';
import type { Prompt } from '../../output/prompt.ts';

/** The options of `reeve setup`. */
export type SetupOptions = {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly adminTokenFile?: string;
  readonly webhook?: string;
  /** Interval of polling in seconds. */
  readonly poll?: string;
  readonly system?: boolean;
  readonly user?: boolean;
  readonly organization?: readonly string[];
  readonly repository?: readonly string[];
  readonly serve?: readonly string[];
  readonly rules?: readonly string[];
  readonly createLabels?: boolean;
  /** Asks nothing: what is not given has its default. */
  readonly yes?: boolean;
  readonly events?: string;
  readonly dashboard?: string;
  readonly allowAdmin?: boolean;
  readonly config?: string;
  readonly settings?: string;
  readonly rotate?: boolean;
  readonly plan?: boolean;
  readonly test?: boolean;
  readonly json?: boolean;
};

/** Input of setup before the first request. */
export type Answers = {
  readonly forge: { readonly url: string; readonly credentials: Credentials };
  /** Token of an account that may create hooks; used but not stored. */
  readonly setupToken: string | undefined;
  /** The environment, combined with the values of the env file and the options. Later steps add their answers. */
  readonly environment: Record<string, string | undefined>;
  readonly envFile: string;
  /** Whether there is no env file yet. */
  readonly isFirst: boolean;
  readonly config: string;
};

/** Variables that are written to the env file unchanged, in addition to those of the webhook. */
export const keptVariables = [
  ...['FORGE_URL', 'FORGE_TOKEN', 'FORGE_TOKEN_FILE', 'FORGE_USER', 'FORGE_PASSWORD', 'FORGE_PASSWORD_FILE'],
  ...['REEVE_CONFIG', 'REEVE_DATA', 'REEVE_RULES', 'DATABASE_URL', 'DATABASE_URL_FILE', 'HOST', 'PORT'],
  'REEVE_POLL',
] as const;

/**
 * Collects the input of setup from options, then the environment, then the env file of an earlier run, then prompts.
 * Throws `usage` for a missing answer.
 */
export async function gatherAnswers(
  options: SetupOptions,
  given: Variables,
  prompt: Prompt | undefined,
): Promise<Answers> {
  const envFile = resolve(options.settings ?? 'reeve.env');
  const isFirst = !existsSync(envFile);
  const environment: Record<string, string | undefined> = mergeEnvironments(
    readEnvFile(envFile, { mustExist: false }),
    resolvePaths(given, process.cwd()),
  );
  if (options.url !== undefined) environment.FORGE_URL = options.url;
  if (options.poll !== undefined) environment.REEVE_POLL = options.poll;
  if (options.tokenFile !== undefined) {
    for (const name of ['FORGE_TOKEN', 'FORGE_USER', 'FORGE_PASSWORD', 'FORGE_PASSWORD_FILE'])
      delete environment[name];
    environment.FORGE_TOKEN_FILE = resolve(options.tokenFile);
  }
  if (options.adminTokenFile !== undefined) {
    delete environment.SETUP_TOKEN;
    environment.SETUP_TOKEN_FILE = resolve(options.adminTokenFile);
  }
  environment.FORGE_URL ||= await need(prompt, 'URL of the forge', '--url or FORGE_URL');
  if (!(environment.FORGE_TOKEN || environment.FORGE_TOKEN_FILE || environment.FORGE_USER)) {
    environment.FORGE_TOKEN = await need(
      prompt,
      'Access token of the account that Reeve acts as (not shown)',
      '--token-file, FORGE_TOKEN or FORGE_TOKEN_FILE',
      { hidden: true },
    );
  }
  // Everything that setup writes is in one folder by default, which can be moved as a whole.
  const folder = dirname(envFile);
  const config = options.config
    ? resolve(options.config)
    : environment.REEVE_CONFIG || join(folder, 'reeve.yml');
  environment.REEVE_CONFIG = config;
  environment.REEVE_DATA ||= join(folder, 'data');
  const forge = loadForge(environment);
  if (forge === undefined) throw new ReeveError('usage', 'the forge and a way to sign in are needed');
  const setupToken = readSecret(environment, 'SETUP_TOKEN');
  return { forge, setupToken, environment, envFile, isFirst, config };
}

async function need(
  prompt: Prompt | undefined,
  question: string,
  where: string,
  options: { hidden?: boolean; standard?: string } = {},
): Promise<string> {
  const answer = await prompt?.ask(question, options);
  if (answer) return answer;
  throw new ReeveError('usage', `${question}: no answer; set it with ${where}`);
}
