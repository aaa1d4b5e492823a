import { styleText } from 'node:util';
import { type DestinationStream, pino } from 'pino';
import { createRedactor } from './redactor.ts';

/** The log for the operator. A record is one line on stderr: text on a terminal, JSON elsewhere. */
export interface Log {
  debug(members: object, message: string): void;
  info(members: object, message: string): void;
  warn(members: object, message: string): void;
  error(members: object, message: string): void;
}

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Creates the log. Every value in `secrets` is replaced by `[secret]` anywhere in a line, including error texts and
 * nested fields. A list of paths to redact would cover only the expected places.
 */
export function createLog(options: {
  level?: LogLevel;
  secrets?: readonly string[];
  destination?: DestinationStream;
  /** Whether the lines are formatted for a terminal; default: whether stderr is a terminal. */
  isReadable?: boolean;
}): Log {
  const redact = createRedactor(options.secrets ?? []);
  const target = options.destination ?? pino.destination({ fd: 2, sync: true });
  const isReadable = options.isReadable ?? (options.destination === undefined && process.stderr.isTTY);
  const toLine = isReadable ? formatRecord : (line: string) => line;
  const destination: DestinationStream = { write: (line) => target.write(redact(toLine(redact(line)))) };
  return pino(
    { level: options.level ?? 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
}

const styles = { 20: 'dim', 30: 'green', 40: 'yellow', 50: 'red' } as const;

/**
 * Returns a record (one line of JSON) formatted for a terminal: time of day, level, message, and the fields as
 * `name=value`.
 */
function formatRecord(record: string): string {
  const { level, time, msg, ...members } = JSON.parse(record);
  const at = new Date(time);
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  );
  const name = (pino.levels.labels[level] ?? '').toUpperCase().padEnd(5);
  const style = styles[level as keyof typeof styles] ?? 'dim';
  const words = Object.entries(members).map(([key, value]) => ` ${key}=${formatValue(value)}`);
  const text = escapeControls(`${msg}${words.join('')}`);
  return `${clock.join(':')} ${styleText(style, name, { stream: process.stderr })} ${text}\n`;
}

/** Returns a single word unchanged; everything else as JSON. */
function formatValue(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"={}]+$/.test(value)) return value;
  return JSON.stringify(value) ?? '';
}

/** Escapes control characters: texts in records come from a forge, and could move the cursor or fake a line. */
function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
