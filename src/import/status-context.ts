import type { Target } from './conversion.ts';

/** Name spaces of statuses; see `set-status`. */
const spaces: Readonly<Record<Target, string>> = {
  operator: '',
  organization: 'reeve-org/',
  repository: 'reeve-repo/',
};

/** Returns the context that a status of the source has in rules for a target. `note`: what differs for its readers. */
export function statusContext(
  name: string,
  target: Target,
): { readonly context: string; readonly note?: string } {
  if (target === 'operator') return { context: name };
  // Without a slash, the context gets the prefix of its level.
  const context = name.replaceAll('/', '-');
  const written = `${spaces[target]}${context}`;
  return {
    context,
    note: `a branch that requires \`${name}\`: it waits for ever, because the status is \`${written}\` here; require that one`,
  };
}
