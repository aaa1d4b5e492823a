import { type Finding, ok, skipped, wrong } from '../finding.ts';
import { type HookLocation, locationName } from './places.ts';
import { allowAdvice, reachOf } from './target.ts';
import type { HookTestResult } from './test-hook.ts';

/** Returns what the try of a hook says about it, and what to do where it did not come. */
export async function findingOfTest(
  tried: HookTestResult,
  place: HookLocation,
  url: string,
): Promise<Finding> {
  const title = locationName(place);
  if (tried.came === 'untried') return skipped(tried.why);
  if (tried.came === 'arrived')
    return ok(`a delivery by the hook of ${title} came and was verified after ${tried.ms} ms`);
  if (tried.came === 'refused') {
    return wrong(
      `a delivery by the hook of ${title} came, and its header or signature is not what the settings say`,
      'run reeve setup again, which makes the hook anew; or give the secrets it was made with',
    );
  }
  const reach = await reachOf(url);
  const advice =
    reach === 'loopback' || reach === 'private'
      ? allowAdvice(reach)
      : `see whether the forge’s machine reaches ${url}: name, proxy, firewall, certificate; the page of the hook on the forge shows what was answered`;
  return wrong(`no delivery by the hook of ${title} came within ${tried.seconds} s`, advice);
}
