import { createForgeInstance } from '../../../src/forge/forge.ts';

/** The embedded forge of the sweeps, in a process of its own; the parent learns where it is, then sets its latency. */
const [data = ''] = process.argv.slice(2);
const forge = await createForgeInstance({ clock: () => new Date(), data, control: true });
const url = await forge.listen();
process.on('message', async (latencyMs: number) => {
  const answer = await fetch(`${url}/-/control/faults`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${forge.controlToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ latency_ms: latencyMs, count: latencyMs === 0 ? 0 : 1_000_000 }),
  });
  process.send?.(answer.status);
});
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', async () => {
  await forge.close();
  process.exit(0);
});
process.send?.(url);
