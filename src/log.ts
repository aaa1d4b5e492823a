import { type DestinationStream, pino } from 'pino';
import { createRedactor } from './redactor.ts';

/** What a part of Reeve may say to the operator. A record is one line of JSON on stderr. */
export interface Log {
  debug(members: object, message: string): void;
  info(members: object, message: string): void;
  warn(members: object, message: string): void;
  error(members: object, message: string): void;
}

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Creates the log. Every value in `secrets` is replaced by `[secret]` wherever it stands in a line, also inside an
 * error's text or a nested member: a list of paths to hide covers only the foreseen places.
 */
export function createLog(options: {
  level?: LogLevel;
  secrets?: readonly string[];
  destination?: DestinationStream;
}): Log {
  const redact = createRedactor(options.secrets ?? []);
  const target = options.destination ?? pino.destination({ fd: 2, sync: true });
  const destination: DestinationStream = { write: (line) => target.write(redact(line)) };
  return pino(
    { level: options.level ?? 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
