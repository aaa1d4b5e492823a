import { type Finding, ok, skipped, wrong } from '../finding.ts';
import { type HookLocation, locationName } from './places.ts';
import { allowAdvice, reachOf } from './target.ts';
import type { HookTestResult } from './test-hook.ts';

/** Returns what the try of a hook says about it, and what to do where it did not come. */
export async function findingOfTest(
  tried: HookTestResult,
  location: HookLocation,
  url: string,
): Promise<Finding> {
  const title = locationName(location);
  if (tried.came === 'untried') return skipped(tried.why);
  if (tried.came === 'arrived')
    return ok(`a delivery by the hook of ${title} arrived and was verified after ${tried.ms} ms`);
  if (tried.came === 'refused') {
    return wrong(
      `a delivery by the hook of ${title} arrived, but its header or signature does not match the settings`,
      'run reeve setup again, which replaces the hook; or set the secrets it was created with',
    );
  }
  const reach = await reachOf(url);
  const advice =
    reach === 'loopback' || reach === 'private'
      ? allowAdvice(reach)
      : `see whether the forge’s machine reaches ${url}: name, proxy, firewall, certificate; the page of the hook on the forge shows what was answered`;
  return wrong(`no delivery by the hook of ${title} arrived within ${tried.seconds} s`, advice);
}
