import { expect, it } from 'vitest';
import { parseOperatorFile, readAlarms } from '../../../src/server/settings/operator-file.ts';

const parse = (text: string) => parseOperatorFile('reeve.yml', `version: 1\n${text}\n`);

it('a heartbeat and a report have defaults, and limits of their interval and schedule', () => {
  expect(readAlarms(parse('heartbeat: { to: BEAT }\nreport: { repository: acme/ops }').file)).toEqual({
    heartbeat: { to: 'BEAT', everyMs: 300_000 },
    report: {
      to: undefined,
      chat: false,
      repository: 'acme/ops',
      schedule: { cron: '0 8 * * 1', timezone: 'UTC' },
    },
  });
  for (const wrong of [
    'heartbeat: { to: BEAT, every: 2d }',
    'heartbeat: { to: "https://example.org/beat" }',
    'report: { chat: true }',
    'report: { to: CHAT, cron: "0 0 8 * * 1" }',
    'report: { to: CHAT, timezone: Europe/Nowhere }',
  ])
    expect(parse(wrong).problems, wrong).toHaveLength(1);
});
