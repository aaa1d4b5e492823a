import { type Occurrence, shorten } from '../../engine/incidents/incident.ts';
import type { ReceiverTestOptions, SendMessage } from '../../platform/http/message-sender.ts';
import type { Store } from '../../store/store.ts';
import type { ForgeState } from '../deliveries/breaker.ts';
import type { Reeve } from '../reeve.ts';
import { readServed } from '../served.ts';
import type { MaintenanceJob } from '../sweeps/schedule/maintenance.ts';
import { type BlindSpot, findBlindSpots } from './blind-spots.ts';
import { Heartbeat, type HeartbeatSettings, noteLook, readLook } from './heartbeat.ts';
import { type SecretUse, secretUses, testSecrets } from './secret-tests.ts';
import { deliverReport, type ReportSettings } from './weekly-report.ts';

/** What the alarms need in addition to the bot. */
export type AlarmOptions = ReceiverTestOptions & {
  /** Values of the named secrets. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Secrets that settings name. */
  readonly uses: readonly SecretUse[];
  readonly heartbeat?: HeartbeatSettings | undefined;
  readonly report?: ReportSettings | undefined;
  readonly send: SendMessage;
  readonly forge: () => ForgeState;
};

/** Maximum number of repositories in which the rules are examined. */
const maxRepositories = 1_000;
/** Incidents about what rules cannot see or do. */
const blindKinds: readonly Occurrence['kind'][] = ['rule-blind', 'rule-hindered'];
/** Up to this number of repositories, the rules are examined every ten minutes; beyond it, every hour. */
const fewRepositories = 20;
/** Interval of a look at many repositories while no incident about them is open. */
const fullLookMs = 55 * 60_000;
/** Maximum number of blind spots that one incident names. */
const named = 5;

/**
 * Returns the maintenance jobs that notice what Reeve cannot see, and tell it: `secrets` tests the named secrets,
 * `blind-spots` what the operator's rules can see and do, and `report` makes the regular report. What they find are
 * incidents.
 */
export function alarmJobs(reeve: Reeve, options: AlarmOptions): Readonly<Record<string, MaintenanceJob>> {
  const { store, rules } = reeve;
  const { secrets, uses, report, send, forge } = options;
  const reportUrl = secrets.get(report?.to ?? '');
  return {
    secrets: {
      cron: '*/10 * * * *',
      atStart: true,
      isLocal: true,
      async run(now) {
        const faults = await testSecrets([...secretUses(rules.operator()), ...uses], secrets, options);
        await noteIncidents(
          store,
          ['secret-unusable'],
          faults.map(({ name, text, at }) => ({
            kind: 'secret-unusable',
            key: name,
            at: now,
            reason: shorten(text),
            level: 'operator',
            ...(at === undefined ? {} : { source: at.source }),
          })),
        );
      },
    },
    'blind-spots': {
      cron: '*/10 * * * *',
      atStart: true,
      async run(now, slot) {
        const { client, served } = reeve;
        const open = await store.listIncidents();
        const hasOpen = open.some(({ kind }) => blindKinds.includes(kind));
        const last = await readLook(store);
        const isFresh = last !== undefined && now.getTime() - Date.parse(last.at) < fullLookMs;
        if (isFresh && last.repositories > fewRepositories && !hasOpen && !slot.startsWith('start@')) return;
        const found = await readServed(client, served.listed, { max: maxRepositories, login: served.login });
        const spots = await findBlindSpots(rules.operator(), { client, ...found, served });
        await noteIncidents(store, blindKinds, occurrencesOf(spots, now));
        await noteLook(store, { at: now.toISOString(), repositories: found.repositories.length });
      },
    },
    ...(report && {
      report: {
        ...report.schedule,
        // A message needs no forge, and is most needed when the forge refuses the issue. Without one, the job waits: it
        // would fail and run again and again.
        isLocal: reportUrl !== undefined,
        run: (_now, slot) =>
          deliverReport(reeve, report, {
            slot,
            url: reportUrl,
            send,
            forge: forge(),
          }),
      } satisfies MaintenanceJob,
    }),
  };
}

/** Returns the heartbeat that the settings ask for, which is not started; undefined if they ask for none. */
export function createHeartbeat(
  reeve: Reeve,
  { heartbeat, secrets, send, forge }: AlarmOptions,
): Heartbeat | undefined {
  const url = secrets.get(heartbeat?.to ?? '');
  return heartbeat && url !== undefined ? new Heartbeat(reeve, heartbeat, { url, send, forge }) : undefined;
}

/** Returns one occurrence for each rule and kind. */
function occurrencesOf(spots: readonly BlindSpot[], at: Date): readonly Occurrence[] {
  const grouped = Map.groupBy(
    spots,
    ({ rule, isBlind }) => `${isBlind ? 'rule-blind' : 'rule-hindered'} ${rule.id}`,
  );
  return [...grouped.values()].flatMap(([first, ...others]): readonly Occurrence[] => {
    if (first === undefined) return [];
    const { id, source, revision, level } = first.rule;
    const texts = [first, ...others].slice(0, named).map(({ text }) => text);
    const rest = others.length + 1 - texts.length;
    const reason = shorten(`${texts.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`);
    const kind = first.isBlind ? 'rule-blind' : 'rule-hindered';
    return [{ kind, key: id, at, reason, level, source, revision }];
  });
}

/** Raises what was found, and ends the other incidents of these kinds. */
export async function noteIncidents(
  store: Store,
  kinds: readonly Occurrence['kind'][],
  found: readonly Occurrence[],
): Promise<void> {
  await store.raise(found);
  const open = await store.listIncidents();
  for (const kind of kinds) {
    const over = open.filter(
      (one) => one.kind === kind && !found.some((other) => other.kind === kind && other.key === one.key),
    );
    await store.clear(
      kind,
      over.map(({ key }) => key),
    );
  }
}
