import { parseArgs } from 'node:util';
import { crash } from './crash/harness.ts';

/**
 * `npm run crash -- --kills N [--twin ack-first]`: kills the receiving server N times and prints what was acknowledged
 * and what of it was lost. Exit 1 when anything was lost, or the file was damaged.
 */
const { values } = parseArgs({
  options: { kills: { type: 'string', default: '100' }, twin: { type: 'string', default: '' } },
});
const kills = Number(values.kills);
if (!Number.isSafeInteger(kills) || kills < 1 || !['', 'ack-first'].includes(values.twin)) {
  console.error('usage: crash --kills N [--twin ack-first]');
  process.exit(2);
}
const report = await crash({
  kills,
  twin: values.twin,
  onKill: (done, acked, lost) => {
    if (done % 50 === 0) console.error(`${done} of ${kills} kills: acked ${acked}, lost ${lost}`);
  },
});
console.log(`acked ${report.acked}, lost ${report.lost}`);
if (!report.isIntact) console.error('integrity_check failed');
process.exit(report.lost > 0 || !report.isIntact ? 1 : 0);
