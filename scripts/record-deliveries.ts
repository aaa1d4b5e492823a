// Records the webhooks of a forge into test/fixtures/: makes people, an organization and repositories of its own there, does
// everything that is known to bring an event, and keeps what comes. The forge must be allowed to reach loopback
// ([security] ALLOWED_HOST_LIST, before 1.27 [webhook]); FORGE_TOKEN is a site administrator's with every scope.
import { parseArgs } from 'node:util';
import { record } from '../test/support/recording/record.ts';
import { writeRecording } from '../test/support/recording/write-recording.ts';

const { values } = parseArgs({
  options: {
    /** Seconds to wait for what is known to come; a busy server needs more. */
    patience: { type: 'string', default: '30' },
    /** Milliseconds of silence after which a step is over. */
    quiet: { type: 'string', default: '1000' },
    /** Topics to leave out, separated by commas. */
    without: { type: 'string', default: '' },
  },
});
const { FORGE_URL: url, FORGE_TOKEN: token } = process.env;
if (!url || !token) {
  console.error('Set FORGE_URL and FORGE_TOKEN.');
  process.exit(2);
}
const recording = await record({
  url: url.replace(/\/+$/, '').replace(/\/api\/v1$/, ''),
  token,
  without: values.without.split(','),
  patience: Number(values.patience),
  settle: () => new Promise((resolve) => setTimeout(resolve, Number(values.quiet))),
  tell: (line) => console.log(line),
});
const folder = writeRecording(recording);
console.log(
  `\n${recording.fixtures.length} deliveries of ${recording.server} ${recording.version} in ${folder}`,
);
for (const { step, kinds, why } of recording.missing) {
  console.log(`could not be provoked: ${kinds.join(', ') || step} (${step}): ${why}`);
}
