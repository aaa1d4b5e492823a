import { logLevels } from '../../platform/log.ts';

type SettingRow = {
  readonly name: string;
  readonly meaning: string;
  /** Default as text; absent: unset. */
  readonly default?: string;
  /** A secret can also be read from a file: `NAME_FILE`. */
  readonly secret?: true;
};

/** Every environment variable that Reeve reads. The reference page is generated from this table. */
export const settingsTable: readonly SettingRow[] = [
  {
    name: 'FORGE_URL',
    meaning: 'URL of the forge, with or without /api/v1. Unset: serve starts the embedded forge.',
  },
  { name: 'FORGE_TOKEN', meaning: 'Access token of the bot’s account.', secret: true },
  { name: 'FORGE_USER', meaning: 'Name of the bot’s account, instead of a token.' },
  { name: 'FORGE_PASSWORD', meaning: 'Password of the bot’s account, instead of a token.', secret: true },
  {
    name: 'WEBHOOK_AUTHORIZATION',
    meaning: 'Required value of the Authorization header of deliveries; one accepted value per line.',
    secret: true,
  },
  {
    name: 'WEBHOOK_SECRET',
    meaning: 'Secret of the delivery signatures; one accepted value per line.',
    secret: true,
  },
  {
    name: 'SETUP_TOKEN',
    meaning:
      'Access token of an account that can create and read hooks, only for reeve setup and reeve doctor. It is not stored. Unset: FORGE_TOKEN.',
    secret: true,
  },
  {
    name: 'OAUTH2_CLIENT_ID',
    meaning:
      'Client id of the OAuth2 application on the forge for dashboard sign-in; reeve setup creates it.',
  },
  { name: 'OAUTH2_CLIENT_SECRET', meaning: 'Client secret of this application.', secret: true },
  { name: 'REEVE_RULES', meaning: 'Folder of the operator’s rule files.' },
  { name: 'REEVE_DATA', meaning: 'Folder for all data that survives a restart.', default: './data' },
  {
    name: 'DATABASE_URL',
    meaning:
      'Connection string of a PostgreSQL database for the store (postgres://USER:PASSWORD@HOST/DATABASE), instead of a file in REEVE_DATA. The parameter schema names the schema of its tables; default: reeve.',
    secret: true,
  },
  {
    name: 'REEVE_ROLE',
    meaning:
      'What this process does: web accepts deliveries and shows the dashboard, worker handles deliveries and looks at schedules, all does both. web and worker need DATABASE_URL.',
    default: 'all',
  },
  {
    name: 'REEVE_CONFIG',
    meaning: 'The operator file: secrets with a scope, grants, served repositories, organizations, limits.',
  },
  {
    name: 'REEVE_SECRET_NAME',
    meaning:
      'Value of the secret NAME, which operator rules refer to as { secret: NAME }; any number of variables.',
    secret: true,
  },
  { name: 'HOST', meaning: 'Address to listen on; also that of the demo’s forge.', default: '127.0.0.1' },
  { name: 'PORT', meaning: 'Port to listen on; 0 selects a free one.', default: '8080' },
  { name: 'FORGE_PORT', meaning: 'Port of the embedded forge; 0 selects a free one.', default: '3000' },
  { name: 'LOG_LEVEL', meaning: `Lowest logged level: ${logLevels.join(', ')}.`, default: 'info' },
];
