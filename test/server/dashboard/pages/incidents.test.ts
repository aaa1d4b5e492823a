import { expect, it } from 'vitest';
import { html } from '../../../../src/platform/http/html.ts';
import { incidentTable } from '../../../../src/server/dashboard/pages/incidents.ts';

it('the table shows only the first line of the problem of a broken file, because the code excerpt spans several lines', () => {
  const at = new Date('2030-01-01T00:00:00Z');
  const incident = {
    kind: 'file-broken',
    level: 'operator',
    key: 'label.yml',
    count: 1,
    firstAt: at,
    lastAt: at,
    reason: 'label.yml:6:17: unknown-action\n    6 | - { uses: set-label }\n      |           ^^^^^^^^^',
  } as const;

  const shown = JSON.stringify(
    incidentTable([incident], { root: './', time: () => html`now`, forgeUrl: 'http://forge.example' }),
  );

  expect(shown).toContain('unknown-action');
  expect(shown).not.toContain('^^^');
});
