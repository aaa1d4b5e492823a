import type { Client } from '../../client/client.ts';
import { operations } from '../../contract/operations.ts';
import { isOfRepository, type Pause, pausedWords } from '../../engine/bounds/pauses.ts';
import { kindRow } from '../../engine/incidents/incident.ts';
import { count } from '../../platform/count.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { SendMessage } from '../../platform/http/message-sender.ts';
import type { Schedule } from '../../rules/rule.ts';
import { fenced } from '../../rules/sources/report.ts';
import type { Store } from '../../store/store.ts';
import type { ForgeState } from '../deliveries/breaker.ts';
import type { Reeve } from '../reeve.ts';
import { readHeard } from './heartbeat.ts';
import { type RuleSight, readSight } from './rule-sight.ts';

/** Settings of the regular report. */
export type ReportSettings = {
  /** Name of the secret with the URL that the report is sent to. */
  readonly to?: string | undefined;
  /** Whether it is sent as JSON with the member `text`. */
  readonly chat: boolean;
  /** Repository with the issue that contains the report: `owner/name`. */
  readonly repository?: string | undefined;
  readonly schedule: Schedule;
};

/** A report as text, and the number of things that need attention. */
export type Report = { readonly text: string; readonly attention: number };

/** Maximum number of lines about incidents, and about rules. */
const maxLines = 100;

/** The parts of the store that a report reads. */
type ReportStore = Pick<
  Store,
  'listIncidents' | 'counts' | 'healthy' | 'listPauses' | 'recall' | 'remember' | 'revise' | 'listDeliveries'
>;

/**
 * Makes the report from the store: what needs attention, and when each rule of the operator could last run. Its text
 * contains no secrets, but names of rules and of private repositories.
 */
export async function makeReport(
  {
    store,
    rules,
    clock,
  }: {
    readonly store: ReportStore;
    readonly rules: Pick<Reeve['rules'], 'operator'>;
    readonly clock: Pick<Reeve['clock'], 'now'>;
  },
  forge: ForgeState,
): Promise<Report> {
  const [incidents, pauses, { dead, deferred }, health, heard, sight] = await Promise.all([
    store.listIncidents(),
    store.listPauses(),
    store.counts(),
    store.healthy(),
    readHeard(store),
    readSight(rules.operator(), store),
  ]);
  const needs = [
    ...(health.ok ? [] : [`The store is not writable: ${health.reason ?? 'see the log'}.`]),
    ...(forge.state === 'ok' ? [] : [`The forge fails since ${utc(forge.since)}: ${forge.reason}.`]),
    // A pause that someone forgot looks like a day without events.
    ...pauses.map((pause) => `Paused: ${pausedWords(pause)}.`),
    ...(dead === 0 ? [] : [`Dead deliveries and jobs: ${dead}.`]),
    ...incidents.map(
      ({ kind, key, reason, firstAt }) =>
        `${kindRow(kind).title}: ${key}: ${firstLine(reason)} (since ${utc(firstAt)})`,
    ),
  ];
  const { delivery, poll } = heard;
  const text = [
    needs.length === 0 ? 'Nothing needs attention.' : `${numberOf(needs.length)} attention:`,
    ...limited(needs.map((line) => `- ${line}`)),
    '',
    `Latest delivery: ${delivery === undefined ? 'none' : utc(delivery)}. Latest look for missed events: ${poll === undefined ? 'none' : utc(poll)}.`,
    ...(deferred === 0 ? [] : [`Deferred deliveries and jobs, which run by themselves: ${deferred}.`]),
    '',
    'When each rule could last run:',
    ...limited(sight.map((one) => `- ${describeSight(one)}`)),
    ...(sight.length === 0 ? ['- no rule of the operator is in force'] : []),
    '',
    `Made ${utc(clock.now())}.`,
  ].join('\n');
  return { text, attention: needs.length };
}

/** Returns the sight of a rule as one line: `stale: 2026-05-04 10:00 UTC; sees no runner (since …)`. */
export function describeSight({ name, lastRunAt, limits }: RuleSight): string {
  const last = lastRunAt === undefined ? 'never' : utc(lastRunAt);
  return [
    `${name}: ${last}`,
    ...limits.map(({ text, since }) => `${firstLine(text)} (since ${utc(since)})`),
  ].join('; ');
}

function numberOf(number: number): string {
  return `${count(number, 'thing')} ${number === 1 ? 'needs' : 'need'}`;
}

function limited(lines: readonly string[]): readonly string[] {
  const rest = lines.length - maxLines;
  return rest > 0 ? [...lines.slice(0, maxLines), `- and ${rest} more`] : lines;
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 400);
}

function utc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Key under which the store keeps the place of the issue. */
const issueKey = 'report issue';
type ReportIssue = { readonly repository: string; readonly number: number };

/**
 * Makes and delivers the report: first into the issue, then as a message, so that a repeated job sends the message last
 * and with the same id. A message is sent even if the forge refuses the issue, as with a token that has expired, or if a
 * pause prevents it, and says so. Rejects if the receiver fails, or the forge if there is none.
 */
export async function deliverReport(
  reeve: Reeve,
  { to, chat, repository }: ReportSettings,
  {
    slot,
    url,
    send,
    forge,
  }: {
    /** Identity of the report; the same for each try. */
    readonly slot: string;
    /** Value of the secret `to`. */
    readonly url: string | undefined;
    readonly send: SendMessage;
    readonly forge: ForgeState;
  },
): Promise<void> {
  const hasMessage = to !== undefined && url !== undefined;
  const report = await makeReport(reeve, forge);
  let unwritten = '';
  try {
    if (repository !== undefined) {
      const pause = await findReportPause(reeve.store, repository);
      if (pause === undefined) await writeIssue(reeve, repository, report);
      else {
        unwritten = `The issue in ${repository} was not written: ${pausedWords(pause)}.\n\n`;
        reeve.log.warn({ reason: pausedWords(pause) }, 'the issue of the report was not written');
      }
    }
  } catch (error) {
    if (!hasMessage) throw error;
    unwritten = `The issue in ${repository} could not be written: ${messageOf(error)}.\n\n`;
    reeve.log.error({ error: messageOf(error) }, 'the issue of the report could not be written');
  }
  if (!hasMessage) return;
  const text = `${unwritten}${report.text}`;
  const content = chat ? JSON.stringify({ text }) : text;
  const contentType = chat ? 'application/json' : 'text/plain; charset=utf-8';
  await send({ url, secret: to, id: `report.${slot}`, contentType, content });
}

/** Returns the pause that prevents the issue of the report; undefined if there is none. */
async function findReportPause(
  store: Pick<Store, 'listPauses'>,
  repository: string,
): Promise<Pause | undefined> {
  const pauses = await store.listPauses();
  return pauses.find(({ scope }) => scope.kind === 'all' || isOfRepository(scope, { name: repository }));
}

/** Creates or edits the issue of the report. It is open while something needs attention, and closed otherwise. */
async function writeIssue(
  { store, client, account }: Reeve,
  repository: string,
  { text, attention }: Report,
): Promise<void> {
  const [owner = '', repo = ''] = repository.split('/');
  const params = { owner, repo };
  const title =
    attention === 0 ? 'Reeve: nothing needs attention' : `Reeve: ${numberOf(attention)} attention`;
  const body = `<!-- reeve:report -->\n${fenced([text])}`;
  const state = attention === 0 ? 'closed' : 'open';
  // Store boundary: only this function writes the value under this key.
  const known = (await store.recall(issueKey)) as ReportIssue | undefined;
  const index = known?.repository === repository ? known.number : undefined;
  if (index !== undefined && (await isOwnIssue(client, { ...params, index }, (await account()).id))) {
    await client.call(operations.editIssue, { params: { ...params, index }, body: { title, body, state } });
    return;
  }
  const { number } = await client.call(operations.createIssue, { params, body: { title, body } });
  await store.remember(issueKey, { repository, number } satisfies ReportIssue);
  if (state === 'closed')
    await client.call(operations.editIssue, { params: { ...params, index: number }, body: { state } });
}

/** Returns whether an issue still exists and was opened by the account. */
async function isOwnIssue(
  client: Client,
  params: { readonly owner: string; readonly repo: string; readonly index: number },
  account: number,
): Promise<boolean> {
  try {
    return (await client.call(operations.getIssue, { params })).user?.id === account;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return false;
    throw error;
  }
}
