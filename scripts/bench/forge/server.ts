import { createForgeInstance } from '../../../src/forge/forge.ts';

/** One embedded forge under load; the parent learns its port, and then its memory as often as it asks. */
const [data = ''] = process.argv.slice(2);
const forge = await createForgeInstance({ clock: () => new Date(), data });
const url = await forge.listen();
await forge.createAdministrator({ name: 'owner', password: 'password' });
let peakBytes = 0;
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 50).unref();
process.on('message', (question) => {
  if (question === 'memory') process.send?.(Math.max(peakBytes, process.memoryUsage.rss()));
});
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', async () => {
  await forge.close();
  process.exit(0);
});
process.send?.(Number(new URL(url).port));
