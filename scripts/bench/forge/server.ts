import { createForgeInstance } from '../../../src/forge/forge.ts';

/** One embedded forge under load; the parent learns where it is, and then its memory as often as it asks. */
const [data = ''] = process.argv.slice(2);
const forge = await createForgeInstance({ clock: () => new Date(), data, control: true });
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
process.send?.({ url, controlToken: forge.controlToken });
