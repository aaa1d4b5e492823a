import type { LoadedRule } from '../../src/rules/rule.ts';

/** Returns an operator rule without steps and events, with these members. */
export const plainRule = (more: Partial<LoadedRule> = {}): LoadedRule => ({
  id: 'rules.yml#tidy',
  name: 'tidy',
  source: 'rules.yml',
  level: 'operator',
  commit: '',
  revision: '',
  line: 1,
  mode: 'enforce',
  limits: {},
  scopes: [],
  on: [],
  schedules: [],
  steps: [],
  ...more,
});
