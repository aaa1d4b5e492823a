import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts';
import { type Installation, type InstallationOptions, startInstallation } from './installation.ts';

/** An installation whose requests to the forge pass a fault proxy. */
export type ProxiedInstallation = Installation & { readonly proxy: FaultProxy };

/** Starts it, with hooks: the forge sends what happens to Reeve directly. */
export async function startProxiedInstallation(
  options: Omit<InstallationOptions, 'between' | 'isHooked'>,
): Promise<ProxiedInstallation> {
  const proxies: FaultProxy[] = [];
  const closeProxy = async (): Promise<void> => {
    for (const proxy of proxies) await proxy.close();
  };
  try {
    const installation = await startInstallation({
      ...options,
      isHooked: true,
      async between(forgeUrl) {
        const proxy = await startFaultProxy(forgeUrl);
        proxies.push(proxy);
        return proxy.url;
      },
    });
    const [proxy] = proxies;
    if (proxy === undefined) throw new Error('no proxy was started');
    return {
      ...installation,
      proxy,
      async close() {
        await installation.close();
        await closeProxy();
      },
    };
  } catch (error) {
    await closeProxy();
    throw error;
  }
}
