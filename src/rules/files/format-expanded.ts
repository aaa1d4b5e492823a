import { stringify } from 'yaml';
import { isRecord } from '../../contract/events/payload-members.ts';
import type { LoadedRule, Pattern } from '../rule.ts';

/**
 * Returns the rules of a file as YAML, as they are in force: with the values of parameters, the rules of packs, and the
 * modes, limits and scopes that come from the file and its includes. Control characters are escaped.
 */
export function formatExpanded(file: {
  readonly path: string;
  readonly rules: readonly LoadedRule[];
  readonly expanded?: ReadonlyMap<string, unknown>;
}): string {
  const rules = file.rules.map((rule) => [rule.name, expandedRule(rule, file.expanded?.get(rule.name))]);
  const text = stringify(
    { version: 1, rules: Object.fromEntries(rules) },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
  // YAML writes most control characters as they are in plain and block texts.
  const safe = text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `# ${file.path}\n${safe}`;
}

function expandedRule(rule: LoadedRule, written: unknown): unknown {
  const { in: _scope, mode: _mode, limits: _limits, ...rest } = isRecord(written) ? written : {};
  const { description, ...others } = rest;
  return {
    ...(description === undefined ? {} : { description }),
    ...scopesOf(rule.scopes),
    mode: rule.mode,
    ...(Object.keys(rule.limits).length === 0 ? {} : { limits: rule.limits }),
    ...others,
  };
}

/** A rule reaches what all of its scopes take: several are written as a list of lists. */
function scopesOf(scopes: readonly Pattern[]): { readonly in?: unknown } {
  const lists = scopes.map(({ written }) => written);
  if (lists.length === 0) return {};
  return { in: lists.length === 1 ? lists[0] : lists };
}
